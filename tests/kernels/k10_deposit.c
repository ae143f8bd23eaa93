/* particle-in-cell charge deposit, 2-D cloud-in-cell: 4 scatters per particle at computed addresses */
#include <stdint.h>

void k10_deposit(int64_t np, int32_t ny, int32_t nx, const double px[np], const double py[np], const double q[np],
                 double rho[ny][nx]) {
    for (int64_t p = 0; p < np; p++) {
        int32_t i = (int32_t)px[p], j = (int32_t)py[p];
        double fx = px[p] - i, fy = py[p] - j;
        rho[j][i]         += q[p] * (1 - fx) * (1 - fy);
        rho[j][i + 1]     += q[p] * fx * (1 - fy);
        rho[j + 1][i]     += q[p] * (1 - fx) * fy;
        rho[j + 1][i + 1] += q[p] * fx * fy;
    }
}
