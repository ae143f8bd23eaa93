/* Moves points by a matrix, and keeps them inside of a box. */
#include <math.h>
#include <stdint.h>

void points(int64_t n, const float by[3][4], const float low[3], const float high[3], const float p[n][3], float q[n][3]) {
    for (int64_t i = 0; i < n; i++) {
        float moved[3];
        for (int r = 0; r < 3; r++) {
            moved[r] = by[r][3];
            for (int c = 0; c < 3; c++)
                moved[r] += by[r][c] * p[i][c];
        }
        for (int r = 0; r < 3; r++)
            q[i][r] = fminf(fmaxf(moved[r], low[r]), high[r]);
    }
}
