// test scatter
// set n = 40
// set k = 2
// array base = random 0 3
// array count = zeros
#include <stdint.h>
#include <stddef.h>
void kmers(size_t n, size_t k, const uint8_t base[n], uint32_t count[16]) {
  for (size_t i = 0; i + 2 <= n; i++) {
    unsigned code = base[i] << 2 | base[i + 1];
    count[code]++;
  }
}
// ----
// parallel, count by add
// count = 2 3 6 0 3 8 5 0 5 5 2 0 0 0 0 0
