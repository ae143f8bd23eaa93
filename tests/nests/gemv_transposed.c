/* y += Aᵀ x */
#include <stdint.h>

void gemv_transposed(int64_t n, int64_t m, const double a[n][m], const double x[n], double y[m]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            y[j] += a[i][j] * x[i];
}
