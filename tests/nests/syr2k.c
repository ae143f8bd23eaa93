/* the lower triangle of C += α (A Bᵀ + B Aᵀ) */
#include <stdint.h>

void syr2k(int64_t n, int64_t k, double alpha, const double a[n][k], const double b[n][k], double c[n][n]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j <= i; j++)
            for (int64_t l = 0; l < k; l++)
                c[i][j] += alpha * (a[i][l] * b[j][l] + b[i][l] * a[j][l]);
}
