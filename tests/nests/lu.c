/* A = L U in the place of A, without pivots */
#include <stdint.h>

void lu(int64_t n, double a[n][n]) {
    for (int64_t k = 0; k < n; k++)
        for (int64_t i = k + 1; i < n; i++) {
            a[i][k] /= a[k][k];
            for (int64_t j = k + 1; j < n; j++)
                a[i][j] -= a[i][k] * a[k][j];
        }
}
