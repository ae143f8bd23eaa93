/* diffusion in a cube, two steps at a time */
#include <stdint.h>

void heat_3d(int64_t steps, int64_t n, double a[n][n][n], double b[n][n][n]) {
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                for (int64_t k = 1; k < n - 1; k++)
                    b[i][j][k] = a[i][j][k] + 0.125 * (a[i + 1][j][k] - 2 * a[i][j][k] + a[i - 1][j][k])
                               + 0.125 * (a[i][j + 1][k] - 2 * a[i][j][k] + a[i][j - 1][k])
                               + 0.125 * (a[i][j][k + 1] - 2 * a[i][j][k] + a[i][j][k - 1]);
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                for (int64_t k = 1; k < n - 1; k++)
                    a[i][j][k] = b[i][j][k] + 0.125 * (b[i + 1][j][k] - 2 * b[i][j][k] + b[i - 1][j][k])
                               + 0.125 * (b[i][j + 1][k] - 2 * b[i][j][k] + b[i][j - 1][k])
                               + 0.125 * (b[i][j][k + 1] - 2 * b[i][j][k] + b[i][j][k - 1]);
    }
}
