// test run
// set n = 6
// array a = -3 3 -1 3 0 0 -1 4 1 -3 -3 0 0 4 0 -1 -3 -5 -4 4 -3 -4 -1 3 -3 -4 -5 -5 3 2 -3 -4 1 -3 0 4
// array b = -1 -3 4 -3 0 -5 2 0 1 -2 -4 1 5 2 -1 -2 -5 -2 -3 -4 2 -1 -3 3 3 1 4 2 1 -4 -1 0 -3 2 1 -1
// array c = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
#define IDX(i, j) ((i) * n + (j))
void matmul(int n, const double *a, const double *b, double *restrict c) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double s = 0;
      for (int k = 0; k < n; k++) s += a[IDX(i, k)] * b[IDX(k, j)];
      c[IDX(i, j)] = s;
    }
}
// ----
// c = -5 -5 -2 2 -16 29 14 14 -19 -10 -15 10 7 1 5 -23 … checksum 9e406204c29225d5
