// test run
// set n = 4
// array ptr = 0 2 3 3 6
// array col = 0 3 1 0 1 2
// array val = 1.5 2 -3 0.5 4 8
// array x = 1 2 3 4
// array y = 0 0 0 0
void spmv(int n, const int *ptr, const int *col, const double *val, const double *x, double *y) {
  for (int i = 0; i < n; i++) {
    double s = 0;
    for (int k = ptr[i]; k < ptr[i + 1]; k++) s += val[k] * x[col[k]];
    y[i] = s;
  }
}
// ----
// y = 9.5 -6 0 32.5
