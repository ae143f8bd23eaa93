/* B = L B for a lower triangle L with ones on its diagonal, from the last row up */
#include <stdint.h>

void trmm(int64_t n, int64_t m, const double l[n][n], double b[n][m]) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t k = 0; k < n - 1 - r; k++)
            for (int64_t j = 0; j < m; j++)
                b[n - 1 - r][j] += l[n - 1 - r][k] * b[k][j];
}
