// test run
// set m = 50
// set n = 9
// array dst = random 0 8
// array deg = random 0 5
#include <stdint.h>
#include <stddef.h>
void in_degrees(size_t m, size_t n, const uint32_t dst[m], uint32_t deg[n]) {
  for (size_t e = 0; e < m; ++e) ++deg[dst[e]];
}
// ----
// deg = 13 8 6 11 4 3 12 11 1
