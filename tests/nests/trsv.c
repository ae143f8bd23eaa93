/* x = L⁻¹ b for a lower triangle L */
#include <stdint.h>

void trsv(int64_t n, const double l[n][n], const double b[n], double x[n]) {
    for (int64_t i = 0; i < n; i++) {
        double s = b[i];
        for (int64_t j = 0; j < i; j++)
            s -= l[i][j] * x[j];
        x[i] = s / l[i][i];
    }
}
