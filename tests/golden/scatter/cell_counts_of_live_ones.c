// test scatter
// set n = 30
// set m = 8
// array cell = random -1 8
// array alive = 0 1 1 0 1 1 0 0 1 0 1 1 0 1 0 1 1 1 1 1 0 1 1 0 0 1 0 1 1 0
// array count = zeros
#include <stdint.h>
#include <stddef.h>
void cell_counts(size_t n, size_t m, const int32_t cell[n], const uint8_t alive[n], uint16_t count[m]) {
  for (size_t i = 0; i < n; i++) {
    if (!alive[i] || cell[i] < 0)
      continue;
    count[cell[i]]++;
  }
}
// ----
// parallel, count by add
// count = 1 2 1 2 3 3 0 5
