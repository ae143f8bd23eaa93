// test scatter
// set n = 8
// set m = 6
// set width = 3
// array col = random -1 5
// array value = random -4 4
// array x = random -9 9
// array y = zeros
#include <stdint.h>
#include <stddef.h>
void ell_product(int n, int m, int width, const int col[n * width], const double value[n * width], const double x[n], double y[m]) {
  for (int i = 0; i < n; i++)
    for (int s = 0; s < width; s++) {
      int c = col[i * width + s];
      if (c < 0)
        break;
      y[c] += value[i * width + s] * x[i];
    }
}
// ----
// parallel, y by add
// y = -49.94704861111111 8.71484375 46.03211805555555 -9.05078125 27.133680555555554 0
