// test scatter
// set n = 7
// set m = 9
// array node = random 0 8
// array area = random 1 5
// array load = zeros
#include <stdint.h>
#include <stddef.h>
void assemble(int n, int m, const int node[n][3], const double area[n], double load[m]) {
  for (int e = 0; e < n; e++) {
    double local[3];
    for (int a = 0; a < 3; a++)
      local[a] = area[e] / 3 * (a + 1);
    for (int a = 0; a < 3; a++)
      load[node[e][a]] += local[a];
  }
}
// ----
// parallel, load by add
// load = 4.833333333333333 0 7.458333333333333 5.5 7.7013888888888875 2.4722222222222223 4.826388888888888 1.3333333333333333 0
