// test scatter
// set n = 40
// array key = random 0 5
// array x = random -3 9
// array out = random -3 0
#include <stdint.h>
static double decayed(double a, double b) { return b == 0 ? a : 0.5 * a + b; }
#pragma strew declare reduction(decayed : double : decayed(a, b)) identity(0)
void averages(int n, const int32_t key[n], const double x[n], double out[5]) {
  for (int i = 0; i < n; i++)
    out[key[i]] = decayed(out[key[i]], x[i]);
}
// ----
// parallel, out by decayed
// out = 4.390625000000001 -1.9502766927083335 5.924967447916667 9.942220052083334 8.1904296875
