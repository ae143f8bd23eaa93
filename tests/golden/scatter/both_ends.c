// test scatter
// set m = 20
// set n = 9
// array a = random 0 9
// array b = 4 5 8 0 7 3 0 2 1 5 7 3 6 8 1 3 0 3 6 4
// array w = random -4 4
// array sum = zeros
// array degree = zeros
#include <stdint.h>
#include <stddef.h>
void both_ends(int m, int n, const int a[m], const int b[m], const double w[m], double sum[n], int degree[n]) {
  for (int e = 0; e < m; e++) {
    if (a[e] == b[e])
      continue;
    sum[a[e]] += w[e];
    sum[b[e]] -= w[e];
    degree[a[e]]++;
    degree[b[e]]++;
  }
}
// ----
// parallel, sum by add, degree by add
// degree = 5 5 1 6 3 3 3 4 2
// sum = -9.895833333333334 -7.979166666666667 -3.9583333333333335 13.104166666666666 6.854166666666666 0.7916666666666665 -5.020833333333333 3.1458333333333335 2.9583333333333335
