// test run
// set n = 5
// array A = random 1 9
// array b = random 1 9
// array x = zeros
// array y = zeros
#define _PB_N n
#define DATA_TYPE double
#define POLYBENCH_1D_F(x, n) x[n]
void kernel_ludcmp(int n, DATA_TYPE A[n][n], DATA_TYPE b[n], DATA_TYPE x[n], DATA_TYPE y[n]) {
  int i, j, k;
  DATA_TYPE w;
  for (int i = 0; i < n; i++) A[i][i] += 20;
  for (i = 0; i < _PB_N; i++) {
    for (j = 0; j < i; j++) {
      w = A[i][j];
      for (k = 0; k < j; k++) w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (j = i; j < _PB_N; j++) {
      w = A[i][j];
      for (k = 0; k < i; k++) w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }
  for (i = 0; i < _PB_N; i++) {
    w = b[i];
    for (j = 0; j < i; j++) w -= A[i][j] * y[j];
    y[i] = w;
  }
  for (i = _PB_N - 1; i >= 0; i--) {
    w = y[i];
    for (j = i + 1; j < _PB_N; j++) w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
}
// ----
// A = 26.041666666666668 8.145833333333334 2 4.25 2.2291666666666665 0.1616 21.766966666666665 7.822633333333334 6.334033333333333 3.8480999999999996 0.15919999999999998 0.31943740438493196 22.24525831254495 2.341739499379029 0.47838959085301025 0.1272 … checksum 5615d7d1462a2e38
// x = 0.1181452784546452 -0.05186873585006756 0.009404746214203749 0.3319761924583451 0.07451475468228004
// y = 4.25 1.3340333333333336 1.0222598546370212 7.392310993166679 1.9665182645913388
