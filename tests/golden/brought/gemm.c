// test run
// set ni = 5
// set nj = 7
// set nk = 6
// set alpha = 1.5
// set beta = 1.2
// array C = random -5 5
// array A = random -5 5
// array B = random -5 5
void gemm(int ni, int nj, int nk, double alpha, double beta, double C[ni][nj], const double A[ni][nk], const double B[nk][nj]) {
  int i, j, k;
  for (i = 0; i < ni; i++) {
    for (j = 0; j < nj; j++)
      C[i][j] *= beta;
    for (k = 0; k < nk; k++) {
      for (j = 0; j < nj; j++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
  }
}
// ----
// C = 2.584114583333335 -11.970963541666666 -10.73138020833333 18.971223958333333 -6.7433593750000025 -35.08776041666666 -11.484635416666666 6.965885416666666 36.328125 39.49375 -5.891406249999999 -14.363671875000005 40.67981770833334 -14.567708333333332 9.451692708333333 -53.64075520833333 … checksum 7dcbe3768d2c6d68
