/* y = α A x + β B x */
#include <stdint.h>

void gesummv(int64_t n, int64_t m, double alpha, double beta, const double a[n][m], const double b[n][m], const double x[m], double y[n]) {
    for (int64_t i = 0; i < n; i++) {
        double s = 0;
        double t = 0;
        for (int64_t j = 0; j < m; j++) {
            s += a[i][j] * x[j];
            t += b[i][j] * x[j];
        }
        y[i] = alpha * s + beta * t;
    }
}
