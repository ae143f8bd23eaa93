// test run
// set n = 9
// array p.x = zeros
// array p.y = zeros
// array p.z = zeros
// array p.mass = random 1 5
// array p.cell = zeros
// array v.x = random -5 5
// array v.y = random -5 5
// array v.z = random -5 5
typedef struct { double x, y, z; } vec;
typedef struct particle { double x, y, z; float mass; int cell; } particle;
static double dot(vec a, vec b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
double kinetic(int n, const particle p[n], const vec v[n]) {
  double e = 0;
  for (int i = 0; i < n; ++i) e += 0.5 * p[i].mass * dot(v[i], v[i]);
  return e;
}
// ----
// return = 217.19803642683348
