// test run
// set m = 4
// set n = 5
// set nz = 9
// array Ap = 0 2 4 6 8 9
// array Ai = 0 2 1 3 2 1 3 0 1
// array Ax = 2 1 3 1 4 2 5 1 2
// array Cp = zeros
// array Ci = zeros
// array Cx = zeros
// array w = zeros
static double cs_cumsum(int *p, int *c, int n) {
  int i, nz = 0;
  double nz2 = 0;
  for (i = 0; i < n; i++) {
    p[i] = nz;
    nz += c[i];
    nz2 += c[i];
    c[i] = p[i];
  }
  p[n] = nz;
  return (nz2);
}
void cs_transpose(int m, int n, int nz, const int Ap[n + 1], const int Ai[nz], const double Ax[nz], int Cp[m + 1], int Ci[nz], double Cx[nz], int w[m]) {
  int p, q, j;
  for (p = 0; p < Ap[n]; p++) w[Ai[p]]++;
  cs_cumsum(Cp, w, m);
  for (j = 0; j < n; j++) {
    for (p = Ap[j]; p < Ap[j + 1]; p++) {
      Ci[q = w[Ai[p]]++] = j;
      if (Cx) Cx[q] = Ax[p];
    }
  }
}
// ----
// Ci = 0 3 1 2 4 0 2 1 3
// Cp = 0 2 5 7 9
// Cx = 2 1 3 2 2 1 4 1 5
// w = 2 5 7 9
