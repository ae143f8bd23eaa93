/* B = L⁻¹ B for a lower triangle L */
#include <stdint.h>

void trsm(int64_t n, int64_t m, const double l[n][n], double b[n][m]) {
    for (int64_t i = 0; i < n; i++) {
        for (int64_t k = 0; k < i; k++)
            for (int64_t j = 0; j < m; j++)
                b[i][j] -= l[i][k] * b[k][j];
        for (int64_t j = 0; j < m; j++)
            b[i][j] /= l[i][i];
    }
}
