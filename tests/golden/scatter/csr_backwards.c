// test scatter
// set n = 6
// set nnz = 16
// array row = 0 3 3 7 9 14 16
// array col = random 0 5
// array x = random -9 9
// array y = random -3 3
#include <stdint.h>
#include <stddef.h>
void push(int n, int nnz, const int row[n + 1], const int col[nnz], const float x[n], float y[n]) {
  for (int v = n - 1; v >= 0; v--)
    for (int e = row[v + 1] - 1; e >= row[v]; e--)
      y[col[e]] += x[v];
}
// ----
// parallel, y by add
// y = -7.3541665 -5.1458335 -5.395833 -21.9375 -11.979166 -2.8541667
