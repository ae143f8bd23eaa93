// test scatter
// set n = 8
// array pixel = 0 1 2 0 1 2 0 1
// array depth = 3 4 5 2 4 6 2 1
// array near = 9 9 9
// array id = -1 -1 -1
#include <stdint.h>
#include <stddef.h>
void splat(int n, const int *pixel, const float *depth, float *near, int *id) {
  for (int i = 0; i < n; i++)
    if (depth[i] < near[pixel[i]]) {
      near[pixel[i]] = depth[i];
      id[pixel[i]] = i;
    }
}
// ----
// parallel, near with id by argmin
// assumes (id_length == near_length)
// id = 3 7 2
// near = 2 1 5
