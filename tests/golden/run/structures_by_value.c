// test run
// set n = 30
// array x = random -50 50
// array out = zeros
// array k = zeros
#include <math.h>
struct pair { double x; int k; };
static double norm(struct pair a) { a.k += 1; return hypot(a.x, a.k); }
static double nearest(const struct pair a, struct pair b) { return norm(a) < norm(b) ? a.x : b.k; }
double structures_by_value(int n, const double x[n], double out[n], int k[n]) {
  struct pair p = {1, 2}, q;
  for (int i = 0; i < n; i++) {
    q = p;
    q.k -= i;
    p.x = x[i];
    p.k += out[i] > 0;
    out[i] = nearest(p, q) + norm(q);
    k[i] = p.k * 100 + q.k;
  }
  return norm(p) + q.x;
}
// ----
// k = 202 201 200 199 198 197 196 195 194 193 192 191 190 189 188 187 … checksum 57eb2331762bd63d
// out = 5.16227766016838 16.35993220561572 21.127845386940063 51.22916666666667 10.124642033662044 22.901971924153745 28.444228371512562 5.077822185373186 29.04600770772614 43.87210416076309 0.4245270638772354 3.38880376070583 12.560422342013016 14.17543479984231 49.94651599619136 4.044378859156012 … checksum d0bb14fa0ada5a97
// return = 59.612301767799835
