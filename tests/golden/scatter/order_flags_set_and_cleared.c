// test scatter
// set n = 20
// array k = random 0 4
// array x = 1 1 1 1 1 0 0 1 1 1 1 1 1 1 1 1 1 1 1 0
// array h = zeros
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
void toggled(int n, const int k[n], const bool x[n], bool h[4]) {
  for (int i = 0; i < n; i++)
    if (x[i])
      h[k[i]] = true;
    else
      h[k[i]] = false;
}
// ----
// parallel, h by last
// h = 1 1 1 0
