// test run
// set n = 6
// array v = 3 0 -4 12 0.5 1e3
#include <math.h>
double norm(int n, const double v[]) {
  double scale = 0.0, ssq = 1.0;
  for (int i = 0; i < n; i++) {
    if (v[i] != 0.0) {
      double a = fabs(v[i]);
      if (scale < a) { ssq = 1 + ssq * (scale / a) * (scale / a); scale = a; }
      else ssq += (a / scale) * (a / scale);
    }
  }
  return scale * sqrt(ssq);
}
// ----
// return = 1000.0846214196075
