#include <stdint.h>

void product(int64_t n, int64_t m, int64_t p, const double a[n][p], const double b[p][m], double c[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++)
      for (int64_t k = 0; k < p; k++)
        c[i][j] += a[i][k] * b[k][j];
}
