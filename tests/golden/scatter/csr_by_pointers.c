// test scatter
// set n = 6
// set nnz = 16
// array row = 0 3 3 7 9 14 16
// array col = random 0 5
// array x = random -9 9
// array y = random -3 3
#include <stdint.h>
#include <stddef.h>
void push(int n, int nnz, const int row[n + 1], const int col[nnz], const double x[n], double y[n]) {
  for (int v = 0; v < n; v++) {
    const int *end = &col[row[v + 1]];
    for (const int *p = &col[row[v]]; p != end; ++p)
      y[*p] += x[v];
  }
}
// ----
// parallel, y by add
// y = -7.354166666666667 -5.145833333333334 -5.395833333333333 -21.9375 -11.979166666666668 -2.8541666666666665
