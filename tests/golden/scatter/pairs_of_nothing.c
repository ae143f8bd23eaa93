// test scatter
// set n = 0
// array k = 3
// array x = 1
// array h = 0 0 0 0
#include <stdint.h>
#include <stddef.h>
void jumps(size_t n, const uint32_t *k, const double *x, double *h) {
  for (size_t i = 0; i + 1 < n; i++)
    h[k[i]] += x[i + 1] - x[i];
}
// ----
// parallel, h by add
// assumes (n <= 9223372036854775807)
