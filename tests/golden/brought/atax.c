// test run
// set m = 6
// set n = 9
// array A = random -5 5
// array x = random -5 5
// array y = random 0 9
// array tmp = zeros
void atax(int m, int n, const double A[m][n], const double x[n], double y[n], double tmp[m]) {
  int i, j;
  for (i = 0; i < n; i++) y[i] = 0;
  for (i = 0; i < m; i++) {
    tmp[i] = 0.0;
    for (j = 0; j < n; j++) tmp[i] = tmp[i] + A[i][j] * x[j];
    for (j = 0; j < n; j++) y[j] = y[j] + A[i][j] * tmp[i];
  }
}
// ----
// tmp = -2.662326388888889 -21.960069444444446 -3.2547743055555585 -0.26953125000000033 8.352864583333337 -3.6432291666666705
// y = 127.8312807436343 16.68235496238424 -1.1921477141203725 -74.86802842881943 -73.76600477430556 -79.06873914930557 62.45115379050925 47.99820059317133 35.58320674189815
