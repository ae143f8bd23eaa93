// test scatter
// set n = 20
// array k = random 0 3
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void count(int n, const int k[n], int h[4]) {
  int i = 0;
  do {
    h[k[i]]++;
  } while (++i < n);
}
// ----
// parallel, h by add
// assumes (1 <= n)
// h = 9 6 5 0
