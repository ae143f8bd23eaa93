// test scatter
// set n = 20
// set m = 6
// set l = 4
// array a = random 0 5
// array b = random 0 3
// array x = random -9 9
// array h = zeros
#include <stdint.h>
#include <stddef.h>
void through(int n, int m, int l, const int a[n], const int b[m], const double x[n], double h[l]) {
  for (int i = 0; i < n; i++)
    h[b[a[i]]] += x[i] > 0 ? x[i] : 0;
}
// ----
// parallel, h by add
// h = 14.666666666666666 19.708333333333332 0 0
