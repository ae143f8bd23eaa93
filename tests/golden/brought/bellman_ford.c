// test run
// set n = 5
// set m = 8
// array src = 0 0 1 2 1 3 4 2
// array dst = 1 2 3 1 4 4 3 3
// array w = 4 1 1 2 7 3 -1 5
// array d = 0 1000 1000 1000 1000
void bellman_ford(int n, int m, const int src[m], const int dst[m], const float w[m], float d[n]) {
  for (int r = 0; r < n - 1; r++)
    for (int e = 0; e < m; e++)
      if (d[src[e]] + w[e] < d[dst[e]]) d[dst[e]] = d[src[e]] + w[e];
}
// ----
// d = 0 3 1 4 7
