// test scatter
// set n = 6
// array row = 0 3 3 7 9 14 16
// array col = 1 2 5 0 0 3 4 5 5 1 2 3 4 0 2 1
// array x = 1 2 3 4 5 6
// array y = 0 0 1 0 0 0
#include <stdint.h>
#include <stddef.h>
void push(size_t n, const uint64_t *row, const uint32_t *col, const double *x, double *y) {
  for (size_t v = 0; v < n; v++)
    for (uint64_t e = row[v]; e < row[v + 1]; e++)
      y[col[e]] += x[v];
}
// ----
// parallel, y by add
// assumes (n <= 9223372036854775807)
// y = 11 12 13 8 8 9
