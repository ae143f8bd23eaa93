// test scatter
// set n = 40
// set m = 5
// array key = random 0 5
// array x = -84 8 -24 -63 17 59 -56 34 17 25 77 87 -18 23 -29 -25 21 4 -62 -71 -3 37 -54 61 28 -13 -53 -77 26 -30 32 41 29 -7 -83 -8 78 51 70 -91
// array valid = random 0 2
// array high = 47 -11 -4 21 40
#include <stdint.h>
#include <stddef.h>
void group_by(int n, int m, const int key[n], const double x[n], const uint8_t valid[n], double high[m]) {
  for (int i = 0; i < n; i++)
    if (x[i] > high[key[i]] && valid[i])
      high[key[i]] = x[i];
}
// ----
// parallel, high by max
// high = 47 -11 78 77 40
