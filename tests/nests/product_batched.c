/* C += A B for many matrices of 8 × 8 */
#include <stdint.h>

void product_batched(int64_t n, const double a[n][8][8], const double b[n][8][8], double c[n][8][8]) {
    for (int64_t p = 0; p < n; p++)
        for (int64_t i = 0; i < 8; i++)
            for (int64_t j = 0; j < 8; j++)
                for (int64_t l = 0; l < 8; l++)
                    c[p][i][j] += a[p][i][l] * b[p][l][j];
}
