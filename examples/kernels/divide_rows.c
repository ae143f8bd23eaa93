#include <stdint.h>

/* Each row of a matrix that lies flat in memory divided by a weight. */
void divide_rows(int64_t n, int64_t m, const double w[n], double x[n * m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      double factor = 1.0 / w[i];
      x[i * m + j] *= factor;
    }
}
