// test scatter
// set n = 40
// set m = 8
// array key = random 0 7
// array row = random 0 63
// array bits = zeros
#include <stdint.h>
#include <stddef.h>
void bitmap(int n, int m, const int key[n], const uint8_t row[n], uint64_t bits[m]) {
  for (int i = n; i-- > 0;)
    bits[key[i]] |= 1ull << row[i];
}
// ----
// parallel, bits by or
// bits = 150 12288 42205184 5100273664 34840774705152 5101733952880640 7512004178453987328 0
