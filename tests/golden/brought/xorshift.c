// test run
// set n = 12
// set seed = 0
// array out = zeros
#include <stdint.h>
void xorshift(int n, uint64_t seed, uint32_t out[n]) {
  uint64_t s = seed ? seed : 88172645463325252ull;
  for (int i = 0; i < n; i++) { s ^= s << 13, s ^= s >> 7, s ^= s << 17; out[i] = (uint32_t)(s >> 32); }
}
// ----
// out = 2036926837 708014935 804196474 3825810936 1910311187 4144675636 1639545805 3896840286 3883606190 3386755312 4267569129 1861306777
