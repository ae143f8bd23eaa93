/* q = A p and s = Aᵀ r, the two products of the biconjugate gradient method */
#include <stdint.h>

void bicg(int64_t n, int64_t m, const double a[n][m], const double p[m], const double r[n], double q[n], double s[m]) {
    for (int64_t j = 0; j < m; j++)
        s[j] = 0;
    for (int64_t i = 0; i < n; i++) {
        q[i] = 0;
        for (int64_t j = 0; j < m; j++) {
            s[j] += r[i] * a[i][j];
            q[i] += a[i][j] * p[j];
        }
    }
}
