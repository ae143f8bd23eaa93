// A sparse matrix, entry by entry, times a vector.
#include <stdint.h>

void sparse_product(int64_t n, int32_t m, const int32_t row[n], const int32_t col[n], const double val[n],
                    const double x[m], double y[m]) {
  for (int64_t i = 0; i < n; i++)
    y[row[i]] += val[i] * x[col[i]];
}
