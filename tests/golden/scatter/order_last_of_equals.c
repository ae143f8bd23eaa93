// test scatter
// set n = 20
// array k = random 0 3
// array x = random 0 4
// array best = zeros
// array at = zeros
#include <stdint.h>
#include <stddef.h>
void last(int n, const int k[n], const int x[n], int best[4], int at[4]) {
  for (int i = 0; i < n; i++)
    if (x[i] >= best[k[i]]) {
      best[k[i]] = x[i];
      at[k[i]] = i;
    }
}
// ----
// parallel, best with at by argmax_last
// at = 7 14 19 0
// best = 1 2 3 0
