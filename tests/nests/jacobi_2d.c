/* diffusion on a square, two steps at a time */
#include <stdint.h>

void jacobi_2d(int64_t steps, int64_t n, double a[n][n], double b[n][n]) {
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i - 1][j] + a[i + 1][j]);
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][j + 1] + b[i - 1][j] + b[i + 1][j]);
    }
}
