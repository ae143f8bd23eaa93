/* the lower triangle of C = β C + α A Aᵀ */
#include <stdint.h>

void syrk(int64_t n, int64_t k, double alpha, double beta, const double a[n][k], double c[n][n]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++) {
            c[i][j] *= beta;
            for (int64_t l = 0; l < k; l++)
                c[i][j] += alpha * a[i][l] * a[j][l];
        }
}
