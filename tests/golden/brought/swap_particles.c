// test run
// set n = 9
// array p.x = random -2 12
// array p.y = random -5 5
// array p.z = random -3 5
// array p.mass = random 1 3
// array p.cell = random 0 6
typedef struct particle { double x, y, z; float mass; int cell; } particle;
void swap_particles(int n, particle p[n]) {
  for (int i = 0, j = n - 1; i < j; i++, j--) { particle t = p[i]; p[i] = p[j]; p[j] = t; }
}
// ----
// p.cell = 1 5 3 0 1 4 1 4 4
// p.mass = 2.0625 2.2916667 2.0625 2.0625 1.25 2.3125 1.0208334 1.25 2.25
// p.x = 5.0625 8.291666666666666 11.0625 6.0625 1.25 7.3125 1.0208333333333333 1.25 7.25
// p.y = 0.0625 2.2916666666666665 4.0625 0.0625 -2.75 1.3125 -2.9791666666666665 -2.75 1.25
// p.z = 1.0625 3.2916666666666665 4.0625 1.0625 -1.75 2.3125 -0.9791666666666666 -0.75 2.25
