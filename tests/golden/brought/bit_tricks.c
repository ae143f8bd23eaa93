// test run
// set n = 12
// array x = 0 1 2 3 128 255 65536 2147483648 4294967295 305419896 4096 77
// array count = zeros
// array rev = zeros
// array lead = zeros
// array pow2 = zeros
#include <stdint.h>
#include <stdbool.h>
static int popcount(uint32_t x) {
  x = x - ((x >> 1) & 0x55555555u);
  x = (x & 0x33333333u) + ((x >> 2) & 0x33333333u);
  return (((x + (x >> 4)) & 0x0F0F0F0Fu) * 0x01010101u) >> 24;
}
void bits(int n, const uint32_t x[n], int count[n], uint32_t rev[n], int8_t lead[n], bool pow2[n]) {
  for (int i = 0; i < n; i++) {
    uint32_t v = x[i], r = 0;
    count[i] = popcount(v);
    for (int b = 0; b < 32; b++) { r = r << 1 | (v & 1); v >>= 1; }
    rev[i] = r;
    lead[i] = 0;
    for (uint32_t m = 1u << 31; m && !(x[i] & m); m >>= 1) lead[i]++;
    pow2[i] = x[i] && !(x[i] & (x[i] - 1));
  }
}
// ----
// count = 0 1 1 2 1 8 1 1 32 13 1 4
// lead = 32 31 30 30 24 24 15 0 0 3 19 25
// pow2 = 0 1 1 0 1 0 1 1 0 0 1 0
// rev = 0 2147483648 1073741824 3221225472 16777216 4278190080 32768 1 4294967295 510274632 524288 2986344448
