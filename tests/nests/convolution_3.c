/* an image under a filter of 3 × 3 */
#include <stdint.h>

void convolution_3(int64_t n, int64_t m, const double w[3][3], const double image[n + 2][m + 2], double out[n][m]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double s = 0;
            for (int64_t p = 0; p < 3; p++)
                for (int64_t q = 0; q < 3; q++)
                    s += w[p][q] * image[i + p][j + q];
            out[i][j] = s;
        }
}
