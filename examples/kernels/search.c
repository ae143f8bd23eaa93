// One step of a search through a graph, breadth first: who is next to the frontier and was not found before is found now.
#include <stdint.h>

void search(int32_t n, int64_t edges, int32_t nodes, int32_t level, const int64_t row[n + 1], const int32_t next[edges],
            const int32_t frontier[nodes], int32_t depth[n]) {
  for (int32_t i = 0; i < nodes; i++)
    for (int64_t k = row[frontier[i]]; k < row[frontier[i] + 1]; k++)
      if (depth[next[k]] == -1)
        depth[next[k]] = level + 1;
}
