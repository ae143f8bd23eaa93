/* y += A x */
#include <stdint.h>

void gemv(int64_t n, int64_t m, const double a[n][m], const double x[m], double y[n]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            y[i] += a[i][j] * x[j];
}
