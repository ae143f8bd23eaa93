// test scatter
// set n = 16
// array k = 3 1 2 1 0 3 2 1 0 3 1 2 3 0 1 2
// array x = 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
// array h = 0 0 0 0
#include <stdint.h>
#include <stddef.h>
void jumps(size_t n, const uint32_t *k, const double *x, double *h) {
  for (size_t i = 0; i < n - 1; i++)
    h[k[i]] += x[i + 1] - x[i];
}
// ----
// parallel, h by add
// assumes (1 <= n, n <= 9223372036854775807)
// h = 3 5 3 4
