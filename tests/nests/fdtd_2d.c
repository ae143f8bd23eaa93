/* an electric and a magnetic field in the plane */
#include <stdint.h>

void fdtd_2d(int64_t steps, int64_t n, int64_t m, const double source[steps], double ex[n][m], double ey[n][m], double hz[n][m]) {
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t j = 0; j < m; j++)
            ey[0][j] = source[t];
        for (int64_t i = 1; i < n; i++)
            for (int64_t j = 0; j < m; j++)
                ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 1; j < m; j++)
                ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
        for (int64_t i = 0; i < n - 1; i++)
            for (int64_t j = 0; j < m - 1; j++)
                hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}
