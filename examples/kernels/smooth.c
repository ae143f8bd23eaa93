#include <stdint.h>

/* One sweep of Gauss and Seidel: each element sees its neighbours above and to the left as they are now. */
void smooth(int64_t n, double x[n][n]) {
  for (int64_t i = 1; i < n - 1; i++)
    for (int64_t j = 1; j < n - 1; j++)
      x[i][j] = (x[i - 1][j] + x[i][j - 1] + x[i][j + 1] + x[i + 1][j]) * 0.25;
}
