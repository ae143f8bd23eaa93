// test run
// set n = 40
// set nc = 6
// set width = 1.5
// array p.x = random -2 12
// array p.y = zeros
// array p.z = zeros
// array p.mass = zeros
// array p.cell = zeros
// array count = random 0 5
typedef struct particle { double x, y, z; float mass; int cell; } particle;
void bin(int n, int nc, double width, particle p[n], int count[nc]) {
  for (int i = 0; i < n; i++) {
    int c = (int)(p[i].x / width);
    if (c < 0) c = 0; else if (c >= nc) c = nc - 1;
    p[i].cell = c;
    count[c]++;
  }
}
// ----
// count = 15 4 4 1 11 16
// p.cell = 0 4 4 2 4 4 0 5 2 5 4 0 5 5 1 2 … checksum 9962b8d000fb533f
