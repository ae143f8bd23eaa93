// test scatter
// set n = 40
// array key = random 0 5
// array x = random -3 9
// array out = random -3 0
#include <math.h>
#include <stdint.h>
static double lae(double a, double b) {
  if (a == -INFINITY)
    return b;
  if (b == -INFINITY)
    return a;
  double larger = a > b ? a : b;
  return larger + log1p(exp(-fabs(a - b)));
}
#pragma strew declare reduction(lae : double : lae(a, b)) identity(-INFINITY)
void soft_maxima(int n, const int32_t key[n], const double x[n], double out[5]) {
  for (int i = 0; i < n; i++)
    if (x[i] > -2)
      out[key[i]] = lae(out[key[i]], x[i]);
}
// ----
// parallel, out by lae
// out = 8.442226151124412 7.009898916062369 8.136503996945937 8.559337247780142 7.341801510986571
