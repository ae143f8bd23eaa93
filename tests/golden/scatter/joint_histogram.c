// test scatter
// set n = 40
// array a = random 0 4
// array b = 3 2 3 0 3 0 1 1 0 1 3 2 2 2 3 0 2 2 0 3 0 1 2 2 1 2 2 0 2 2 2 1 0 1 2 3 1 0 0 3
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void joint(int n, const uint8_t a[n], const uint8_t b[n], uint32_t h[4][4]) {
  for (int i = 0; i < n; i++)
    h[a[i]][b[i]] += 1;
}
// ----
// parallel, h by add
// h = 3 1 4 1 1 2 5 1 3 4 2 4 3 1 3 2
