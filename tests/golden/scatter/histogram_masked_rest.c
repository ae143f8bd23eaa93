// test scatter
// set n = 27
// array s = random 0 9
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void histogram(int n, const uint8_t s[n], uint32_t h[10]) {
  int whole = n & ~1, i;
  for (i = 0; i < whole; i += 2) {
    ++h[s[i]];
    ++h[s[i + 1]];
  }
  for (; i < n; i++)
    ++h[s[i]];
}
// ----
// parallel, h by add
// parallel
// h = 3 3 1 6 3 5 2 3 1 0
