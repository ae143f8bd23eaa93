// test run
// set n = 6
// set m = 18
// array index = 0 3 6 9 12 15 18
// array neighs = 1 2 3 0 2 4 0 1 5 0 4 5 1 3 5 2 3 4
#include <stdint.h>
#include <stddef.h>
typedef int32_t NodeID;
size_t ordered_count(int n, int m, const int64_t index[n + 1], const NodeID neighs[m]) {
  size_t total = 0;
  for (NodeID u = 0; u < n; u++) {
    for (const NodeID *v = neighs + index[u], *ve = neighs + index[u + 1]; v != ve; v++) {
      if (*v > u) break;
      const NodeID *it = neighs + index[u];
      for (int64_t k = index[*v]; k < index[*v + 1]; k++) {
        NodeID w = neighs[k];
        if (w > *v) break;
        while (*it < w) it++;
        if (w == *it) total++;
      }
    }
  }
  return total;
}
// ----
// return = 2
