// test run
// set n = 6
// set m = 10
// set rounds = 4
// set d = 0.85
// array row = 0 2 4 6 8 9 10
// array col = 1 2 0 3 0 3 1 4 3 5
// array degree = 2 2 1 3 1 1
// array rank = zeros
// array next = zeros
void pagerank_pull(int n, int m, int rounds, double d, const int row[n+1], const int col[m], const int degree[n], double rank[n], double next[n]) {
  for (int v = 0; v < n; v++) rank[v] = 1.0 / n;
  for (int r = 0; r < rounds; r++) {
    for (int v = 0; v < n; v++) {
      double sum = 0;
      for (int e = row[v]; e < row[v+1]; e++) {
        int u = col[e];
        if (degree[u]) sum += rank[u] / degree[u];
      }
      next[v] = (1 - d) / n + d * sum;
    }
    for (int v = 0; v < n; v++) rank[v] = next[v];
  }
}
// ----
// next = 0.22242910156249995 0.1929093098958333 0.1929093098958333 0.14750735677083332 0.07757825520833334 0.16666666666666666
// rank = 0.22242910156249995 0.1929093098958333 0.1929093098958333 0.14750735677083332 0.07757825520833334 0.16666666666666666
