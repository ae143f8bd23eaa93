/* B = Aᵀ */
#include <stdint.h>

void transpose(int64_t n, int64_t m, const double a[n][m], double b[m][n]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            b[j][i] = a[i][j];
}
