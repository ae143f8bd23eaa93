// test scatter
// set n = 20
// array k = random 0 3
// array x = random -9 9
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void rounded(int n, const int k[n], const double x[n], float h[4]) {
  for (int i = 0; i < n; i++)
    h[k[i]] = h[k[i]] + x[i] - 0.25;
}
// ----
// in order
// h = -54.250004 29.270834 -12.479167 0
