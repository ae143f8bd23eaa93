// test scatter
// set n = 40
// set shift = 3
// array key = random 0 1000
// array count = zeros
#include <stdint.h>
#include <stddef.h>
void digits(int n, int shift, const uint32_t key[n], uint32_t count[8]) {
  for (int i = 0; i < n; i++)
    count[(key[i] >> shift) & 7]++;
}
// ----
// parallel, count by add
// count = 2 7 7 7 4 4 3 6
