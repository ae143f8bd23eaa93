// test scatter
// set n = 12
// set m = 4
// array p.v = random -4 4
// array p.m = random 1 3
// array p.cell = random 0 3
// array sum = zeros
#include <stdint.h>
#include <stddef.h>
struct particle { double v[2], m; int cell; };
void momentum(int n, int m, const struct particle p[n], double sum[m][2]) {
  for (int i = 0; i < n; i++)
    for (int a = 0; a < 2; a++)
      sum[p[i].cell][a] += p[i].m * p[i].v[a];
}
// ----
// parallel, sum by add
// sum = 8.401909722222223 -5.335069444444445 2.794270833333333 -8.81640625 -4.8888888888888875 -7.23046875 0 0
