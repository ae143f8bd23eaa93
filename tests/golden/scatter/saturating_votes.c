// test scatter
// set n = 40
// set m = 4
// array bin = random 0 3
// array weight = random 0 60
// array acc = zeros
#include <stdint.h>
#include <stddef.h>
void votes(int n, int m, const int bin[n], const uint8_t weight[n], uint8_t acc[m]) {
  for (int i = 0; i < n; i++) {
    int sum = acc[bin[i]] + weight[i];
    acc[bin[i]] = sum > 255 ? 255 : sum;
  }
}
// ----
// parallel, acc by add_sat(255)
// acc = 98 255 255 0
