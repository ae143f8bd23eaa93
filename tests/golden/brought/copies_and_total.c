// test run
// set n = 11
// array x = random -5 5
// array c = zeros
// array o = zeros
void copies_and_total(int n, const double x[n], double c[n][n], double o[2]) {
  for (int t = 0; t < 2; t++) {
    double s = 0;
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) { c[i][j] = x[j]; s += x[j] * x[i] / (t + 3); }
    o[t] = s;
  }
}
// ----
// c = -1.9166666666666667 1.1666666666666667 -3.8333333333333335 -3.75 -1.6875 -3.9166666666666665 4.3125 4.0625 1.2916666666666667 2.25 -3.7291666666666665 -1.9166666666666667 1.1666666666666667 -3.8333333333333335 -3.75 -1.6875 … checksum 53e46ee697e7e556
// o = 11.020833333333336 8.265624999999996
