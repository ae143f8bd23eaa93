// test run
// set n = 5
// array a = -2 -2 -3 -1 -2 5 -3 -5 4 -4 -4 -3 -1 -5 -4 2 2 2 4 -1 2 -2 -4 -2 3
#define IDX(i, j) ((i) * n + (j))
void transpose(int n, double *a) {
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < n; j++) {
      double t = a[IDX(i, j)];
      a[IDX(i, j)] = a[IDX(j, i)];
      a[IDX(j, i)] = t;
    }
}
// ----
// a = -2 5 -4 2 2 -2 -3 -3 2 -2 -3 -5 -1 2 -4 -1 … checksum e3d57a0a5060d2e7
