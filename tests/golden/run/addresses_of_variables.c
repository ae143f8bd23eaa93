// test run
// set n = 17
// array x = random -9 9
// array y = random -9 9
// array r = zeros
// array lo = zeros
// array c = random 0 7
struct vec { double x, y; float w[2]; };
struct pair { int a; long b; };
static void minmax(int n, const double *v, double *lo, double *hi) {
  *lo = v[0]; *hi = v[0];
  for (int i = 1; i < n; i++) { if (v[i] < *lo) *lo = v[i]; if (v[i] > hi[0]) hi[0] = v[i]; }
}
static void swap(double *a, double *b) { double t = *a; *a = *b; *b = t; }
static void add(const struct vec *a, const struct vec *b, struct vec *out) {
  out->x = a->x + b->x; (*out).y = a->y + (*b).y; out[0].w[1] = a->w[0] + 1;
}
static int divmod(int a, int b, int *rem) { *rem = a % b; return a / b; }
static void forward(double *p) { swap(p, &p[0]); *p += 0.5; }
static void bump(int *k, long *l) { ++*k; (*l) += 2; k[0]--; (*k)++; }
void out1(int n, double x[n], const double y[n], double r[n], double lo[4], int c[n]) {
  double mn, mx = 7;
  minmax(n, y, &mn, &mx);
  lo[0] = mn; lo[1] = mx;
  minmax(n, x, lo + 2, &lo[3]);
  struct vec s = {0}, t = {1, 2, {3, 4}};
  struct pair q = {3, 4};
  for (int i = 0; i < n; i++) {
    int rem;
    c[i] = divmod(c[i] + 20, 7, &rem) * 10 + rem;
    double u = x[i], v = y[i];
    if (u > v) swap(&u, &v);
    forward(&u);
    r[i] = u * 100 + v;
    add(&s, &t, &s);
    bump(&q.a, &q.b);
    struct pair *pq = &q;
    pq->b += rem;
    const double *best = u > 2 ? x + i : &x[n - 1 - i];
    r[i] += *best + best[0];
    const double *w = i & 1 ? x : x + 2;
    r[i] += w[1];
    double *pu = &u;
    *pu = 3; r[i] += u;
  }
  r[0] += s.x + s.y * 1000 + s.w[1] + q.a * 7 + q.b;
  swap(&x[1], &x[3]);
}
// ----
// c = 32 31 31 30 26 26 26 33 26 33 30 26 31 32 34 26 … checksum c76027d956204ca3
// lo = -8.979166666666666 8.125 -8.979166666666666 8.125
// r = 34301.208333333336 -344.375 -876.0624999999999 -840.3541666666666 -845.3541666666667 -459.25000000000006 -134.91666666666666 564.0625 881.0833333333334 -647.9375 355.3541666666667 -234.43750000000003 -160.60416666666666 -42.16666666666667 -649.1875 267.9375 … checksum 9dc54d3c1ebd1796
// x = 0.125 -8.791666666666666 -8.979166666666666 -3.9375 -8.770833333333334 -4.979166666666667 -1.8333333333333333 5 8.125 -7 3.0208333333333335 -2.7083333333333335 -1.8541666666666667 -0.7291666666666667 -6.6875 2.125 … checksum 3c71ea3c2626d431
