// test scatter
// set n = 20
// array base = random 0 3
// array quality = random 0 40
// array sum = zeros
// array best = zeros
#include <stdint.h>
#include <stddef.h>
void qualities(unsigned n, const uint8_t base[n], const uint8_t quality[n], uint32_t sum[4], uint8_t best[4]) {
  for (unsigned i = 0; i < n; ++i)
    switch (base[i]) {
    case 0: case 1: case 2: case 3:
      sum[base[i]] += quality[i];
      if (best[base[i]] < quality[i])
        best[base[i]] = quality[i];
      break;
    default:
      break;
    }
}
// ----
// parallel, sum by add, best by max
// best = 12 26 33 0
// sum = 48 105 150 0
