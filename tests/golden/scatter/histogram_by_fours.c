// test scatter
// set n = 27
// array s = random 0 9
// array h = 0 0 0 0 0 0 0 0 0 0
#include <stdint.h>
#include <stddef.h>
void histogram(size_t n, const uint8_t s[n], uint32_t h[10]) {
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    h[s[i]]++; h[s[i + 1]]++; h[s[i + 2]]++; h[s[i + 3]]++;
  }
  for (; i < n; i++)
    h[s[i]]++;
}
// ----
// parallel, h by add
// parallel, h by add
// h = 3 3 1 6 3 5 2 3 1 0
