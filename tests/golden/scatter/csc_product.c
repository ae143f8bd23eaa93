// test scatter
// set n = 6
// set m = 5
// set nnz = 16
// array start = 0 3 3 7 9 14 16
// array index = random 0 4
// array value = random -4 4
// array x = random -9 9
// array y = zeros
#include <stdint.h>
#include <stddef.h>
void csc_product(int n, int m, int nnz, const int start[n + 1], const int index[nnz], const double value[nnz], const double x[n], double y[m]) {
  for (int j = 0; j < n; ++j) {
    const double xj = x[j];
    for (int p = start[j]; p < start[j + 1]; ++p)
      y[index[p]] = y[index[p]] + value[p] * xj;
  }
}
// ----
// parallel, y by add
// y = 44.11892361111111 -9.215277777777779 -4.724392361111113 10.833767361111109 0
