/* A = L Lᵀ, L in the place of the lower triangle, column by column */
#include <math.h>
#include <stdint.h>

void cholesky(int64_t n, double a[n][n]) {
    for (int64_t k = 0; k < n; k++) {
        a[k][k] = sqrt(a[k][k]);
        for (int64_t i = k + 1; i < n; i++)
            a[i][k] /= a[k][k];
        for (int64_t i = k + 1; i < n; i++)
            for (int64_t j = k + 1; j <= i; j++)
                a[i][j] -= a[i][k] * a[j][k];
    }
}
