// test run
// set n = 100
// array x = random -2000000000 2000000000
// array ones = zeros
// array low = zeros
// array high = zeros
// array odd = zeros
// array first = zeros
#include <stdint.h>
#define likely(condition) __builtin_expect(!!(condition), 1)
void bits(int n, const int x[n], int ones[33], int low[33], int high[65], int odd[2], int first[66]) {
  for (int i = 0; i < n; i++) {
    const uint64_t wide = (uint64_t)x[i] * 0x9e3779b97f4a7c15;
    ones[__builtin_popcount(x[i])] += 1;
    ones[__builtin_popcountll(wide) / 2] += 3;
    if (likely(x[i] != 0)) low[__builtin_ctz(x[i])]++;
    if (x[i]) high[__builtin_clz(x[i]) + (wide ? __builtin_clzl(wide) : 0)] += __builtin_ctzll(wide) + 1;
    odd[__builtin_parity(x[i])] += 1 + __builtin_parityll(wide);
    first[__builtin_ffs(x[i] & ~255)] += __builtin_ffsll(wide) + 1;
  }
}
// ----
// first = 0 0 0 0 0 0 0 0 0 147 85 36 20 4 10 3 … checksum 248a1c57fd6bf359
// high = 37 46 56 19 20 9 13 1 0 5 2 0 0 0 0 0 … checksum d2f37c6248914bfb
// low = 47 28 11 8 3 1 1 0 0 0 0 1 0 0 0 0 … checksum db5729609533bb2e
// odd = 83 60
// ones = 0 0 0 0 0 0 0 0 0 0 5 1 22 22 50 50 … checksum 2c68726fd9fb5c5d
