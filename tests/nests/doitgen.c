/* A[r, q, :] = A[r, q, :] C, the contraction of multiresolution analysis */
#include <stdint.h>

void doitgen(int64_t n, int64_t m, int64_t k, const double c[k][k], double a[n][m][k], double sum[k]) {
    for (int64_t r = 0; r < n; r++)
        for (int64_t q = 0; q < m; q++) {
            for (int64_t p = 0; p < k; p++) {
                sum[p] = 0;
                for (int64_t s = 0; s < k; s++)
                    sum[p] += a[r][q][s] * c[s][p];
            }
            for (int64_t p = 0; p < k; p++)
                a[r][q][p] = sum[p];
        }
}
