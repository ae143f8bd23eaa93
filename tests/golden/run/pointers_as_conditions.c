// test run
// set n = 6
// array x = random -9 9
// array out = zeros
#include <stddef.h>
static double total(int n, const double *x, const double *w) {
  double s = 0;
  if (!x || n <= 0) return -1;
  for (int i = 0; i < n; i++) s += w != NULL ? x[i] * w[i] : x[i];
  return s;
}
static void put(double *to, double value) { if (to) *to = value; if (NULL == to || 0 == to) return; to[0] += 1; }
void tested_pointers(int n, const double x[n], double out[n]) {
  for (int i = 0; i < n; i++) {
    double t = 0;
    put(&t, x[i]);
    out[i] = t + total(n, x, x + 0) + (x && out[i] == 0) + (x + 1 ? 2 : 3) + (out == 0);
    while (out && t > 100) t--;
  }
}
// ----
// out = 216.30946180555557 204.18446180555557 212.43446180555557 206.22612847222223 205.45529513888889 205.30946180555557
