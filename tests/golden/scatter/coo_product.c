// test scatter
// set m = 7
// set n = 5
// set nnz = 30
// array row = random 0 6
// array col = random 0 4
// array value = random -4 4
// array x = random -9 9
// array y = zeros
#include <stdint.h>
#include <stddef.h>
void coo_product(int m, int n, int64_t nnz, const int row[nnz], const int col[nnz], const float value[nnz], const float x[n], float y[m]) {
  for (int64_t e = 0; e < nnz; e++)
    y[row[e]] += value[e] * x[col[e]];
}
// ----
// parallel, y by add
// y = -4.4114585 15.041233 23.132378 -56.179684 -1.4262142 -32.83681 0
