// A sparse matrix, entry by entry, times rows of `d` columns.
#include <stdint.h>

void sparse_times_rows(int64_t n, int32_t m, int32_t d, const int32_t row[n], const int32_t col[n], const float val[n],
                       const float x[m][d], float y[m][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int32_t j = 0; j < d; j++)
      y[row[i]][j] += val[i] * x[col[i]][j];
}
