// test run
// set m = 5
// set n = 9
// set float_n = 9
// array data = random -5 5
// array corr = zeros
// array mean = zeros
// array stddev = zeros
#include <math.h>
void correlation(int m, int n, double float_n, double data[n][m], double corr[m][m], double mean[m], double stddev[m]) {
  int i, j, k;
  double eps = 0.1;
  for (j = 0; j < m; j++) {
    mean[j] = 0.0;
    for (i = 0; i < n; i++) mean[j] += data[i][j];
    mean[j] /= float_n;
  }
  for (j = 0; j < m; j++) {
    stddev[j] = 0.0;
    for (i = 0; i < n; i++) stddev[j] += (data[i][j] - mean[j]) * (data[i][j] - mean[j]);
    stddev[j] /= float_n;
    stddev[j] = sqrt(stddev[j]);
    stddev[j] = stddev[j] <= eps ? 1.0 : stddev[j];
  }
  for (i = 0; i < n; i++)
    for (j = 0; j < m; j++) {
      data[i][j] -= mean[j];
      data[i][j] /= sqrt(float_n) * stddev[j];
    }
  for (i = 0; i < m - 1; i++) {
    corr[i][i] = 1.0;
    for (j = i + 1; j < m; j++) {
      corr[i][j] = 0.0;
      for (k = 0; k < n; k++) corr[i][j] += (data[k][i] * data[k][j]);
      corr[j][i] = corr[i][j];
    }
  }
  corr[m - 1][m - 1] = 1.0;
}
// ----
// corr = 1 -0.6605086493262194 0.0239363997003655 -0.4391648376905832 0.03902669777649628 -0.6605086493262194 1 -0.3429356459352775 0.5674552277927443 -0.73145156235824 0.0239363997003655 -0.3429356459352775 1 -0.503536307717431 0.435169521059359 -0.4391648376905832 … checksum 620f6b89bd09585a
// data = 0.5826134079610961 0.13118140391142177 -0.3992914541121406 0.0787308682033105 -0.6284019813493913 -0.09798155631945987 0.1002600729894438 -0.1351721626392993 0.07363318608942711 -0.18758268099981829 0.12360750181839554 -0.29609516882863773 -0.13250429100826047 -0.2704603565977033 0.1477213612873569 -0.09119821780503573 … checksum 6e6f7ecd691ddfc8
// mean = -1.0555555555555556 -0.7013888888888891 -1.7569444444444442 1.460648148148148 0.7916666666666665
// stddev = 3.071250725440455 2.470426938660453 2.6029904751228434 2.724549820606279 2.9616569749106727
