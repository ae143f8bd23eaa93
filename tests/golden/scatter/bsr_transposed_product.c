// test scatter
// set n = 6
// set m = 4
// set nnz = 16
// array row = 0 3 3 7 9 14 16
// array col = random 0 3
// array block = random -4 4
// array x = random -9 9
// array y = zeros
#include <stdint.h>
#include <stddef.h>
void bsr_product(int n, int m, int nnz, const int row[n + 1], const int col[nnz], const double block[nnz][2][2], const double x[n][2], double y[m][2]) {
  for (int i = 0; i < n; i++)
    for (int e = row[i]; e < row[i + 1]; e++)
      for (int a = 0; a < 2; a++)
        for (int b = 0; b < 2; b++)
          y[col[e]][b] += block[e][a][b] * x[i][a];
}
// ----
// parallel, y by add
// y = 13.577256944444441 -7.352430555555557 3.285156249999994 -28.03819444444445 -12.598958333333332 -7.793402777777776 0 0
