// test scatter
// set n = 40
// set m = 5
// array key = random 0 4
// array x = random -99 99
// array high = random 0 50
// array sum = zeros
#include <stdint.h>
#include <stddef.h>
void group_by(int n, int m, const int key[n], const float x[n], float high[m], float sum[m]) {
  float old;
  for (int i = 0; i < n; i++) {
    float v = x[i];
    old = high[key[i]];
    if (v > old)
      high[key[i]] = v;
    old = sum[key[i]];
    old += v;
    sum[key[i]] = old;
  }
}
// ----
// in order
// high = 95.083336 34.104168 98.3125 79.125 21.1875
// sum = 133.89584 -442.9375 266.49997 127.37501 0
