/* M[i, f] += Σ T[i, j, k] B[j, f] C[k, f], the matricized tensor times Khatri–Rao product */
#include <stdint.h>

void mttkrp(int64_t n, int64_t m, int64_t k, int64_t r, const double t[n][m][k], const double b[m][r], const double c[k][r], double out[n][r]) {
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++)
            for (int64_t l = 0; l < k; l++)
                for (int64_t f = 0; f < r; f++)
                    out[i][f] += t[i][j][l] * b[j][f] * c[l][f];
}
