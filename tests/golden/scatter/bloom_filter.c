// test scatter
// set n = 20
// set words = 8
// array x = random 0 100000
// array filter = zeros
#include <stdint.h>
#include <stddef.h>
static uint32_t mixed(uint32_t x) {
  x ^= x >> 16;
  x *= 0x85ebca6bu;
  x ^= x >> 13;
  return x;
}
void insert(int n, int words, const uint32_t x[n], uint32_t filter[words]) {
  for (int i = 0; i < n; i++) {
    uint32_t h = mixed(x[i]);
    filter[(h >> 5) % words] |= 1u << (h & 31);
  }
}
// ----
// parallel, filter by or
// filter = 1073742087 16384 2147483908 17309698 2097152 4198400 0 2147516420
