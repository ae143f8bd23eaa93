/* C += A B, a dot product for each element */
#include <stdint.h>

void product_ijk(int64_t n, int64_t m, int64_t k, const double a[n][k], const double b[k][m], double c[n][m]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t l = 0; l < k; l++)
                c[i][j] += a[i][l] * b[l][j];
}
