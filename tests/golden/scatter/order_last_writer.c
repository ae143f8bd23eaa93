// test scatter
// set n = 20
// array k = random 0 3
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void owner(int n, const int k[n], int h[4]) {
  for (int i = 0; i < n; i++)
    h[k[i]] = i;
}
// ----
// parallel, h by last
// h = 16 17 19 0
