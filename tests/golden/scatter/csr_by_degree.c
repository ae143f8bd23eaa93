// test scatter
// set n = 6
// set nnz = 16
// array row = 0 3 3 7 9 14 16
// array col = random 0 5
// array rank = random 1 9
// array next = zeros
#include <stdint.h>
#include <stddef.h>
void pagerank_push(uint32_t n, uint32_t nnz, const uint32_t row[n + 1], const uint32_t col[nnz], const double rank[n], double next[n]) {
  for (uint32_t v = 0; v < n; v++) {
    uint32_t begin = row[v], degree = row[v + 1] - begin;
    const uint32_t *neighbour = col + begin;
    double share = degree ? 0.85 * rank[v] / degree : 0;
    for (uint32_t e = 0; e < degree; e++)
      next[neighbour[e]] += share;
  }
}
// ----
// parallel, next by add
// next = 2.837465277777778 4.4684027777777775 1.9966145833333333 2.0461979166666664 2.180486111111111 0
