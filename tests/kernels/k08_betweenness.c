/* Brandes betweenness, one source, level by level: forward sigma scatter, backward delta scatter */
#include <stdint.h>

void k08_bc_level_fwd(int32_t n, int64_t e, int32_t nf, int32_t lvl, const int64_t row[n + 1], const int32_t adj[e],
                      const int32_t front[nf], const int32_t depth[n], double sigma[n]) {
    for (int32_t q = 0; q < nf; q++) {
        int32_t v = front[q];
        for (int64_t k = row[v]; k < row[v + 1]; k++)
            if (depth[adj[k]] == lvl + 1)
                sigma[adj[k]] += sigma[v];
    }
}
void k08_bc_level_bwd(int32_t n, int64_t e, int32_t nf, int32_t lvl, const int64_t row[n + 1], const int32_t adj[e],
                      const int32_t front[nf], const int32_t depth[n], const double sigma[n], double delta[n]) {
    for (int32_t q = 0; q < nf; q++) {
        int32_t w = front[q];                       /* front holds the vertices of level lvl + 1 */
        double c = (1.0 + delta[w]) / sigma[w];
        for (int64_t k = row[w]; k < row[w + 1]; k++)
            if (depth[adj[k]] == lvl)
                delta[adj[k]] += sigma[adj[k]] * c;
    }
}
