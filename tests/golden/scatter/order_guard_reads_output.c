// test scatter
// set n = 20
// array k = random 0 3
// array x = random 1 9
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void capped(int n, const int k[n], const int x[n], int h[4]) {
  for (int i = 0; i < n; i++)
    if (h[k[i]] < 20)
      h[k[i]] += x[i];
}
// ----
// in order
// h = 15 20 20 0
