// test scatter
// set n = 20
// set m = 30
// array start = random 0 20
// array length = random 1 8
// array change = zeros
#include <stdint.h>
#include <stddef.h>
void coverage(int n, int m, const int start[n], const int length[n], int change[m]) {
  for (int i = 0; i < n; i++) {
    change[start[i]] += 1;
    change[start[i] + length[i]] -= 1;
  }
}
// ----
// parallel, change by add
// change = 2 -1 1 -1 1 0 1 1 1 -2 -1 0 -1 2 -1 3 … checksum fbc7e5bca57e7a10
