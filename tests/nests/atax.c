/* y = Aᵀ (A x) */
#include <stdint.h>

void atax(int64_t n, int64_t m, const double a[n][m], const double x[m], double t[n], double y[m]) {
    for (int64_t j = 0; j < m; j++)
        y[j] = 0;
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        for (int64_t j = 0; j < m; j++)
            s += a[i][j] * x[j];
        t[i] = s;
        for (int64_t j = 0; j < m; j++)
            y[j] += a[i][j] * s;
    }
}
