// test scatter
// set n = 30
// set m = 8
// array pixel = random 0 7
// array depth = random 1 9
// array colour = random 0 99
// array near = random 5 9
// array image = zeros
#include <stdint.h>
#include <stddef.h>
void splat(int n, int m, const int pixel[n], const float depth[n], const uint32_t colour[n], float near[m], uint32_t image[m]) {
  for (int i = 0; i < n; i++) {
    int p = pixel[i];
    if (depth[i] < near[p]) {
      near[p] = depth[i];
      image[p] = colour[i];
    }
  }
}
// ----
// parallel, near with image by argmin
// image = 0 15 28 47 61 72 88 0
// near = 7.1875 3.3125 2.3125 3.0416667 4.3125 4.0625 1.1875 7.1875
