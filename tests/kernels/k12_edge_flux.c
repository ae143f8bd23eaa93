/* edge-based flux / half-neighbour-list force: +f at one end, -f at the other (Newton's third law) */
#include <stdint.h>

void k12_edge_flux(int64_t ne, int32_t nv, const int32_t ei[ne], const int32_t ej[ne], const double u[nv],
                   const double g[ne], double res[nv]) {
    for (int64_t e = 0; e < ne; e++) {
        double f = g[e] * (u[ei[e]] - u[ej[e]]);
        res[ei[e]] -= f;
        res[ej[e]] += f;
    }
}
