// test scatter
// set n = 6
// set nnz = 16
// array row = 0 3 3 7 9 14 16
// array col = random 0 5
// array x = random -9 9
// array y = random -3 3
#include <stdint.h>
#include <stddef.h>
void push(size_t n, size_t nnz, const size_t row[n + 1], const uint32_t col[nnz], const double x[n], double y[n]) {
  for (size_t v = 0; v < n; v++)
    for (size_t e = row[v]; e < row[v + 1]; e++)
      y[col[e]] += x[v];
}
// ----
// parallel, y by add
// y = -7.354166666666667 -5.145833333333334 -5.395833333333333 -21.9375 -11.979166666666668 -2.8541666666666665
