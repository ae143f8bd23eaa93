// test scatter
// set n = 20
// set w = 8
// set h = 6
// array x = random 0 6
// array y = random 0 4
// array q = random 1 3
// array grid = zeros
#include <stdint.h>
#include <stddef.h>
void charge(int n, int w, int h, const float x[n], const float y[n], const float q[n], float grid[h][w]) {
  for (int p = 0; p < n; p++) {
    int i = (int)x[p], j = (int)y[p];
    float fx = x[p] - i, fy = y[p] - j;
    grid[j][i] += q[p] * (1 - fx) * (1 - fy);
    grid[j][i + 1] += q[p] * fx * (1 - fy);
    grid[j + 1][i] += q[p] * (1 - fx) * fy;
    grid[j + 1][i + 1] += q[p] * fx * fy;
  }
}
// ----
// parallel, grid by add
// grid = 4.3157463 2.4199944 0.14273189 0 0 0 0 0 0.58399343 2.0831163 1.9101473 0.24479167 0 0 0 0 … checksum f64bad7abe28c9e8
