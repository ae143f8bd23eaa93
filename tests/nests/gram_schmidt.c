/* A = Q R by the modified Gram–Schmidt process, Q in the place of A */
#include <math.h>
#include <stdint.h>

void gram_schmidt(int64_t n, int64_t m, double a[n][m], double r[m][m]) {
    for (int64_t k = 0; k < m; k++) {
        double norm = 0;
        for (int64_t i = 0; i < n; i++)
            norm += a[i][k] * a[i][k];
        r[k][k] = sqrt(norm);
        for (int64_t i = 0; i < n; i++)
            a[i][k] /= r[k][k];
        for (int64_t j = k + 1; j < m; j++) {
            r[k][j] = 0;
            for (int64_t i = 0; i < n; i++)
                r[k][j] += a[i][k] * a[i][j];
            for (int64_t i = 0; i < n; i++)
                a[i][j] -= a[i][k] * r[k][j];
        }
    }
}
