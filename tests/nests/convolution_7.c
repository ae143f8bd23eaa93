/* an image under a filter of 7 × 7 */
#include <stdint.h>

void convolution_7(int64_t n, int64_t m, const double w[7][7], const double image[n + 6][m + 6], double out[n][m]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            double s = 0;
            for (int64_t p = 0; p < 7; p++)
                for (int64_t q = 0; q < 7; q++)
                    s += w[p][q] * image[i + p][j + q];
            out[i][j] = s;
        }
}
