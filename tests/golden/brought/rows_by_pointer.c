// test run
// set n = 4
// set m = 5
// array a = -4 2 4 -1 5 5 -1 -2 -2 1 5 -2 4 2 5 -1 0 3 -1 2
// array sums = 0 0 0 0
#include <stddef.h>
void rows(int n, int m, double *a, double *sums) {
  for (int i = 0; i < n; i++) {
    double *row = a + (size_t)i * m;
    double s = 0;
    for (int j = 0; j < m; j++) s += row[j];
    if (s == 0) continue;
    for (int j = 0; j < m; j++) row[j] /= s;
    sums[i] = s;
  }
}
// ----
// a = -0.6666666666666666 0.3333333333333333 0.6666666666666666 -0.16666666666666666 0.8333333333333334 5 -1 -2 -2 1 0.35714285714285715 -0.14285714285714285 0.2857142857142857 0.14285714285714285 0.35714285714285715 -0.3333333333333333 … checksum 2cc72597ab266711
// sums = 6 1 14 3
