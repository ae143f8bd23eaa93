// test run
// set n = 9
// array a = random -9 9
// array out = zeros
struct v { double x; int w[2]; };
void array_literals(int n, const double a[n], double out[n]) {
  for (int i = 0; i < n; i++) {
    out[i] = (double[]){1.5, a[i], 3}[i % 3] + ((const int[4]){4, 5, [3] = 6})[i & 3];
    const double *w = (double[3]){a[i], 2};
    out[i] += w[i % 3] * 10;
    out[i] += (struct v[]){{1, {2, 3}}, {.x = a[i]}}[i & 1].x + (struct v[2]){[1] = {0, {7}}}[i & 1].w[0];
    out[i] += sizeof(double[3]) + sizeof (int[]){1, 2};
    double *p;
    double t[4];
    p = t;
    p[1] = i;
    out[i] += t[1];
  }
}
// ----
// out = 71 55.5 38 74.9375 55.25 53.0625 121.125 80.58333333333334 48
