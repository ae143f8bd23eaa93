// test scatter
// set n = 40
// set m = 4
// array bin = random 0 3
// array acc = random 240 255
#include <stdint.h>
#include <stddef.h>
void votes(int n, int m, const int bin[n], uint8_t acc[m]) {
  for (int i = 0; i < n; i++) {
    int b = bin[i];
    uint8_t now = acc[b];
    if (now < 255)
      acc[b] = now + 1;
  }
}
// ----
// parallel, acc by add_sat(255)
// acc = 255 255 255 247
