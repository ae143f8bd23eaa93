// A sparse matrix in compressed rows times rows of `d` columns, as a layer of a graph network takes them.
#include <stdint.h>

void compressed_times_rows(int64_t n, int64_t m, int64_t d, int64_t entries, const int32_t row[n + 1],
                           const int32_t col[entries], const float val[entries], const float x[m][d], float y[n][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int32_t k = row[i]; k < row[i + 1]; k++)
      for (int64_t j = 0; j < d; j++)
        y[i][j] += val[k] * x[col[k]][j];
}
