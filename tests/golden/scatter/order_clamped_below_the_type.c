// test scatter
// set n = 20
// array k = random 0 3
// array x = random 0 9
// array h = random 90 120
#include <stdint.h>
#include <stddef.h>
void clamped(int n, const int k[n], const uint8_t x[n], uint8_t h[4]) {
  for (int i = 0; i < n; i++)
    h[k[i]] = h[k[i]] + x[i] < 100 ? h[k[i]] + x[i] : 100;
}
// ----
// in order
// h = 100 100 100 104
