// test scatter
// set n = 5
// set nnz = 12
// array slot = random 0 11
// array k = random -5 5
// array value = zeros
#include <stdint.h>
#include <stddef.h>
void stiffness(int n, int nnz, const int slot[n * 16], const double k[16], double value[nnz]) {
  for (int e = 0; e < n; e++) {
    const int *at = slot + 16 * e;
    for (int a = 0; a < 4; a++)
      for (int b = 0; b < 4; b++)
        value[*at++] += k[4 * a + b];
  }
}
// ----
// parallel, value by add
// value = -9.750000000000004 0.06249999999999972 -3.020833333333333 -12.125 -18.208333333333336 -2.041666666666666 -1.5625000000000009 -8.9375 1.6874999999999996 10.083333333333332 0.47916666666666685 0
