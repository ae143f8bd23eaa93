// test scatter
// set n = 20
// set step = 3
// array k = random 0 3
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void count(int n, int step, const int k[n], int h[4]) {
  for (int i = 0; i < n; i += step)
    h[k[i]]++;
}
// ----
// parallel, h by add
// assumes (1 <= `step`, n + `step` <= 2147483648)
// h = 1 3 3 0
