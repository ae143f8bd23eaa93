// test run
// set n = 11
// set p.dx = 0.5
// set p.steps = 3
// set p.on = 1
// array p.lo = random -3 3
// set q.k = 7
// array q.v = random -5 5
// array q.at.x = zeros
// array x = random -9 9
// array out = zeros
#include <stdbool.h>
struct inner { double x[2][2]; };
struct params { double dx; int steps; double lo[3]; bool on; };
typedef struct { float v[2]; int k; struct inner at; } state;
static double scaled(const struct params *p, double x) { return p->dx * x + p->lo[1]; }
static double moved(struct params p, double by) { p.dx += by; return p.dx; }
void by_value(int n, struct params p, const double x[n][p.steps], state q, double out[n]) {
  for (int i = 0; i < n; i++) {
    for (int t = 0; t < p.steps; t++)
      out[i] += p.dx * x[i][t] + p.lo[t % 3];
    if (p.on)
      out[i] += scaled(&p, 2) + moved(p, i);
    q.v[i & 1] += 1.5f;
    q.k--;
    q.at.x[1][i & 1] = i;
    out[i] += q.k + q.v[0] + q.v[1] + q.at.x[1][0];
  }
}
// ----
// out = 1.4999998410542803 3.802082697550455 13.708332697550455 4.208332697550454 21.59374936421712 13.749999364217121 14.083332697550453 20.687499364217125 15.802082697550455 27.083332697550457 26.156249364217125
