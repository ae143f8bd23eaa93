// test run
// set n = 6
// set m = 10
// array row = 0 2 4 6 8 9 10
// array col = 1 2 0 3 0 3 1 4 3 5
// array trow = zeros
// array tcol = zeros
void transpose_csr(int n, int m, const int row[n+1], const int col[m], int trow[n+1], int tcol[m]) {
  for (int i = 0; i <= n; i++) trow[i] = 0;
  for (int e = 0; e < m; e++) trow[col[e] + 1]++;
  for (int i = 0; i < n; i++) trow[i+1] += trow[i];
  int next[n];
  for (int i = 0; i < n; i++) next[i] = trow[i];
  for (int v = 0; v < n; v++)
    for (int e = row[v]; e < row[v+1]; e++)
      tcol[next[col[e]]++] = v;
}
// ----
// tcol = 1 2 0 3 0 1 2 4 3 5
// trow = 0 2 4 5 8 9 10
