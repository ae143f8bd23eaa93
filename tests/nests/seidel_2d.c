/* relaxation in place, each point from its eight neighbours */
#include <stdint.h>

void seidel_2d(int64_t steps, int64_t n, double a[n][n]) {
    for (int64_t t = 0; t < steps; t++)
        for (int64_t i = 1; i < n - 1; i++)
            for (int64_t j = 1; j < n - 1; j++)
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1]
                           + a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9;
}
