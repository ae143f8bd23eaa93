// test scatter
// set n = 20
// array k = random 0 3
// array x = random -9 9
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void kept(int n, const int k[n], const float x[n], float h[4]) {
  for (int i = 0; i < n; i++) {
    if (x[i] <= h[k[i]])
      continue;
    h[k[i]] = x[i];
  }
}
// ----
// parallel, h by max_kept_first
// h = 2.2083333 8.166667 1.3125 0
