// test run
// set n = 9
// array path = random 1 99
void floyd_warshall(int n, int path[n][n]) {
  for (int k = 0; k < n; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++)
        path[i][j] = path[i][j] < path[i][k] + path[k][j] ? path[i][j] : path[i][k] + path[k][j];
}
// ----
// path = 29 10 49 38 20 20 31 35 16 19 28 39 30 10 39 21 … checksum 99656495d74d82ab
