/* x = L⁻¹ x for a lower triangle L, row by row */
#include <stdint.h>

void solve(int64_t n, const double l[n][n], double x[n]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < i; j++)
      x[i] -= l[i][j] * x[j];
    x[i] /= l[i][i];
  }
}
