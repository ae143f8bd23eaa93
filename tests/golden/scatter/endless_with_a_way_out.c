// test scatter
// set n = 20
// array k = random 0 3
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void count(int n, const int k[n], int h[4]) {
  int i = 0;
  for (;;) {
    if (i >= n)
      break;
    h[k[i]]++;
    i++;
  }
}
// ----
// parallel, h by add
// h = 9 6 5 0
