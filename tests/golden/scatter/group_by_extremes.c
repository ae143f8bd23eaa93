// test scatter
// set n = 40
// set m = 5
// array key = random 0 4
// array x = random -99 99
// array low = random 0 50
// array high = random 0 50
#include <stdint.h>
#include <stddef.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
void group_by(int n, int m, const int key[n], const int x[n], int low[m], int64_t high[m]) {
  for (int i = 0; i < n; i++) {
    low[key[i]] = MIN(low[key[i]], x[i]);
    high[key[i]] = MAX(x[i], high[key[i]]);
  }
}
// ----
// parallel, low by min, high by max
// high = 19 37 45 95 9
// low = -96 -41 1 4 9
