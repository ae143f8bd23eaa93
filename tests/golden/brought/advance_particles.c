// test run
// set n = 9
// set dt = 0.125
// array p.x = random -5 5
// array p.y = random -5 5
// array p.z = random -5 5
// array v.x = random -5 5
// array v.y = random -5 5
// array v.z = random -5 5
typedef struct { double x, y, z; } vec;
void advance(int n, double dt, vec p[n], const vec v[n]) {
  for (int i = 0; i < n; i++) {
    p[i].x += dt * v[i].x;
    p[i].y += dt * v[i].y;
    p[i].z += dt * v[i].z;
  }
}
// ----
// p.x = 1.40625 -3.09375 -3.3515625 1.4765625 -3.09375 0.0703125 4.5703125 2.578125 0.0703125
// p.y = 1.40625 -3.09375 -3.3515625 1.4765625 -3.09375 0.0703125 4.5703125 2.578125 0.0703125
// p.z = 1.40625 -3.09375 -3.3515625 1.4765625 -3.09375 0.0703125 4.5703125 2.578125 0.0703125
