/* PageRank, push direction, fixed iteration count (same index array every iteration: plan reuse) */
#include <stdint.h>

void k06_pagerank_push(int32_t n, int64_t e, int32_t iters, float damp, const int64_t row[n + 1],
                       const int32_t dst[e], float rank[n], float next[n]) {
    for (int32_t t = 0; t < iters; t++) {
        for (int32_t v = 0; v < n; v++) next[v] = (1.0f - damp) / (float)n;
        for (int32_t v = 0; v < n; v++) {
            int64_t deg = row[v + 1] - row[v];
            float c = deg > 0 ? damp * rank[v] / (float)deg : 0.0f;
            for (int64_t k = row[v]; k < row[v + 1]; k++)
                next[dst[k]] += c;
        }
        for (int32_t v = 0; v < n; v++) rank[v] = next[v];
    }
}
