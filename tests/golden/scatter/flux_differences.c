// test scatter
// set m = 20
// set n = 9
// array left = random 0 9
// array right = 2 6 2 1 2 7 2 2 0 0 3 3 2 2 4 5 3 8 3 2
// array u = random -9 9
// array r = zeros
#include <stdint.h>
#include <stddef.h>
void flux(int m, int n, const int left[m], const int right[m], const double u[n], double r[n]) {
  for (int f = 0; f < m; f++) {
    int a = left[f], b = right[f];
    double flux = 0.5 * (u[a] + u[b]), jump = u[b] - u[a];
    r[a] = r[a] + flux - jump;
    r[b] = r[b] - flux + jump;
  }
}
// ----
// parallel, r by add
// r = 10.083333333333334 -28.03125 -20.40625 -0.7291666666666661 -10.604166666666668 -7.09375 32.59375 27.125 -2.9375
