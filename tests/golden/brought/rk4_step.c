// test run
// set n = 10
// set s.sigma = 10
// set s.rho = 28
// set s.beta = 2.5
// set dt = 0.01
// array state = random -1 1
#include <string.h>
typedef struct { double x, y, z; } vec;
struct lorenz { double sigma, rho, beta; };
static vec field(struct lorenz s, vec v) {
  return (vec){s.sigma * (v.y - v.x), v.x * (s.rho - v.z) - v.y, v.x * v.y - s.beta * v.z};
}
static inline vec axpy(double a, vec x, vec y) { vec r; r.x = a * x.x + y.x; r.y = a * x.y + y.y; r.z = a * x.z + y.z; return r; }
static void step(const struct lorenz *s, double dt, vec *v) {
  vec k1 = field(*s, *v), k2 = field(*s, axpy(dt / 2, k1, *v)), k3 = field(*s, axpy(dt / 2, k2, *v)), k4 = field(*s, axpy(dt, k3, *v));
  v->x += dt / 6 * (k1.x + 2 * k2.x + 2 * k3.x + k4.x);
  v->y += dt / 6 * (k1.y + 2 * k2.y + 2 * k3.y + k4.y);
  v->z += dt / 6 * (k1.z + 2 * k2.z + 2 * k3.z + k4.z);
}
void integrate(int n, struct lorenz s, double dt, double state[3]) {
  vec v = {state[0], state[1], state[2]};
  for (int i = 0; i < n; i++)
    step(&s, dt, &v);
  state[0] = v.x, state[1] = v.y, state[2] = v.z;
}
// ----
// state = -0.9836244028776026 -1.9927429037483466 -0.5481975369702363
