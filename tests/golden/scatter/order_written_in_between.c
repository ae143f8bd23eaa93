// test scatter
// set n = 20
// array k = random 0 3
// array j = random 0 3
// array h = random 1 9
#include <stdint.h>
#include <stddef.h>
void between(int n, const int k[n], const int j[n], int h[4]) {
  for (int i = 0; i < n; i++) {
    int now = h[k[i]];
    h[j[i]] = 1;
    h[k[i]] = now + 1;
  }
}
// ----
// in order
// h = 13 14 12 4
