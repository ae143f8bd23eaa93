// test run
// set n = 30
// array s = random 0 255
#include <stdint.h>
uint64_t fnv1a(int n, const unsigned char s[n]) {
  uint64_t h = 14695981039346656037ULL;
  for (int i = 0; i < n; i++) { h ^= s[i]; h *= 1099511628211ull; }
  return h;
}
// ----
// return = 4493264118322706135
