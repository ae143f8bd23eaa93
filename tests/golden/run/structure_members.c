// test run
// set n = 9
// array p.id = random 0 9
// array p.pos.x = random -5 5
// array p.pos.m = random 1 4
// array p.v = random -5 5
// array p.jacobian = random -9 9
// array q.id = random 0 9
// array q.pos.x = random -5 5
// array q.pos.m = random 1 4
// array q.v = random -5 5
// array q.jacobian = random -9 9
// array out = zeros
typedef struct { double x[3]; float m; } place;
enum { DIM = 3 };
struct site {
  char id;
  place pos;
  struct { int on; } flags[2];
};
typedef struct {
  short id;
  place pos;
  float v[DIM];
  int jacobian[DIM - 1][DIM];
} particle;
static double norm(const double x[3]) { return x[0] * x[0] + x[1] * x[1] + x[2] * x[2]; }
static double along(place at, const float *v) {
  at.x[0] += 1;
  return at.x[0] * v[0] + at.x[1] * v[1] + at.x[at.m > 2 ? 1 : 2] * v[2];
}
void structure_members(int n, particle p[n], const particle q[n], double out[n]) {
  for (int i = 0; i < n; i++) {
    for (int d = 0; d < 3; d++) {
      p[i].pos.x[d] += 0.5 * q[n - 1 - i].v[d];
      p[i].jacobian[1][d] = p[i].jacobian[0][2 - d] - q[i].jacobian[d % 2][d] + p[i].id++;
    }
    particle *here = &p[i];
    here->v[here->id % 3] -= 2;
    double *x = here->pos.x;
    *++x = norm(q[i].pos.x);
    out[i] = norm(here->pos.x) + along(p[i].pos, q[i].v);
  }
  particle most = p[0], row[2] = {[1] = {.pos = {{1, 2}, 3}, .v[1] = 4, 5, .jacobian[1] = {6, 7}}}, one = {1, q[2].pos, 2, 3, 4, {{5}, 6}};
  row[0] = one;
  for (int i = 1; i < n; i++)
    if (p[i].pos.m >= most.pos.m) {
      most = p[i];
      p[i].pos = q[i].pos;
      p[i].pos.m = most.pos.x[1];
    }
  p[n / 2] = row[n % 2];
  p[n / 3] = row[(n + 1) % 2];
  most.jacobian[0][1] = 3;
  struct site s = {3}, t;
  s.pos = most.pos;
  s.flags[s.id % 2].on = 2;
  t = s;
  t.flags[0] = s.flags[1];
  for (int d = 0; d < DIM; d++)
    out[d] += most.v[d] + most.jacobian[0][d] + t.pos.x[d] + t.flags[d % 2].on * 100;
  out[3] += sizeof s + sizeof p[0] * 100 + sizeof most.jacobian * 10000 + sizeof(place) + most.id;
}
// ----
// out = 631.1628482040583 932.3307003696668 307.0145466838116 248457.77025375236 207.80605064115173 15.979432018985399 1013.085385707352 1298.1444262387342 1011.3641338428183
// p.id = 9 9 5 1 0 4 8 11 4
// p.jacobian = 4 -4 -1 1 -1 13 3 -6 8 11 6 3 0 -3 5 7 … checksum eabf9c5a2e4930e3
// p.pos.m = 3.25 1.25 1.0208334 1.0208334 3 2.0625 3.0625 37.052517 2.0625
// p.pos.x = 2.322916587193807 24.003472222222225 0.53125 -0.42708333333333326 28.560763888888893 3.25 3.6666667064030967 8.5234375 -1.8333333383003871 2.1458333333333335 0.041666666666666664 -1.9791666666666667 1 2 0 -0.34375 … checksum 54f0bfdf0a426295
// p.v = -1.7916666 -4.7916665 -1 -0.9583334 -4.7916665 2.125 2.1458333 0.041666668 -3.9791665 2 3 4 0 4 5 0 … checksum 81cf86e5859e4525
