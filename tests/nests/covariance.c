/* the covariances of the columns of X */
#include <stdint.h>

void covariance(int64_t n, int64_t m, const double x[n][m], double mean[m], double c[m][m]) {
    for (int64_t j = 0; j < m; j++) {
        mean[j] = 0;
        for (int64_t i = 0; i < n; i++)
            mean[j] += x[i][j];
        mean[j] /= n;
    }
    for (int64_t j = 0; j < m; j++)
        for (int64_t k = j; k < m; k++) {
            c[j][k] = 0;
            for (int64_t i = 0; i < n; i++)
                c[j][k] += (x[i][j] - mean[j]) * (x[i][k] - mean[k]);
            c[j][k] /= n - 1;
            c[k][j] = c[j][k];
        }
}
