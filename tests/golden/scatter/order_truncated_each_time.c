// test scatter
// set n = 20
// array k = random 0 3
// array x = random -9 9
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void truncated(int n, const int k[n], const double x[n], int h[4]) {
  for (int i = 0; i < n; i++) {
    int now = h[k[i]];
    h[k[i]] = now + 0.5 * x[i];
  }
}
// ----
// in order
// h = -21 14 -3 0
