// test run
// set m = 6
// set n = 9
// array A = random -5 5
// array s = random 0 9
// array q = zeros
// array p = random -5 5
// array r = random -5 5
void bicg(int m, int n, const double A[n][m], double s[m], double q[n], const double p[m], const double r[n]) {
  int i, j;
  for (i = 0; i < m; i++) s[i] = 0;
  for (i = 0; i < n; i++) {
    q[i] = 0.0;
    for (j = 0; j < m; j++) {
      s[j] = s[j] + r[i] * A[i][j];
      q[i] = q[i] + A[i][j] * p[j];
    }
  }
}
// ----
// q = -3.8945312499999982 18.703993055555554 21.416666666666664 -2.569444444444448 42.76605902777778 3.660156249999999 46.54383680555556 5.456597222222221 -10.49609375
// s = -31.38845486111111 -15.599826388888884 -28.539496527777775 9.114583333333334 14.906249999999998 -12.622829861111109
