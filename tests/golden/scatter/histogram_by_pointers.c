// test scatter
// set n = 16
// array s = 3 1 4 1 5 9 2 6 5 3 5 8 9 7 9 3
// array h = 0 0 0 0 0 0 0 0 0 0
#include <stdint.h>
#include <stddef.h>
void histogram(size_t n, const unsigned char *s, unsigned *h) {
  const unsigned char *end = s + n;
  while (s < end)
    h[*s++]++;
}
// ----
// parallel, h by add
// assumes (n <= 9223372036854775807)
// h = 0 2 1 3 1 3 1 1 1 3
