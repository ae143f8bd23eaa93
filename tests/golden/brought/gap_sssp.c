// test run
// set n = 6
// set m = 10
// set source = 0
// array row = 0 2 4 6 8 9 10
// array col = 1 2 2 3 3 4 4 5 5 3
// array weight = 7 3 1 2 8 2 4 5 1 6
// array dist = zeros
#include <stdbool.h>
#include <limits.h>
#define kDistInf (INT_MAX / 2)
static bool relax(int *best, int candidate) {
  if (candidate < *best) {
    *best = candidate;
    return true;
  }
  return false;
}
int sssp(int n, int m, const int row[n + 1], const int col[m], const int weight[m], int source, int dist[n]) {
  for (int i = 0; i < n; i++)
    dist[i] = kDistInf;
  dist[source] = 0;
  bool changed = true;
  int rounds = 0;
  while (changed) {
    changed = false;
    for (int u = 0; u < n; u++)
      for (int e = row[u]; e < row[u + 1]; e++)
        changed |= relax(&dist[col[e]], dist[u] + weight[e]);
    rounds++;
  }
  return rounds;
}
// ----
// dist = 0 7 3 9 5 6
// return = 2
