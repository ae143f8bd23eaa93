// test run
// set n = 9
// array p.x = random -5 5
// array p.y = random -5 5
// array p.id = random -3 9
// array q.x = random -5 8
// array q.y = random -5 8
// array q.id = random -3 9
// array out = zeros
typedef struct { double x, y; int id; } point;
static double dot(point a, const point b) { return a.x * b.x + a.y * b.y; }
static int clamped(point a, int most) {
  a.id += 2;
  if (a.id > most) a.id = most;
  return a.id;
}
static int twice(point a, int most) { return clamped(a, most) + clamped(a, most + 1) + a.id; }
static double moved(point a, int n, point p[n], int i) {
  p[i].x += 1;
  return a.x - p[i].x;
}
void structure_arguments(int n, point p[n], const point q[n], double out[n]) {
  for (int i = 0; i < n; i++) {
    point s = q[n - 1 - i];
    s.x *= 2;
    out[i] = dot(p[i], q[i]) + dot(s, p[i]);
    p[i].id = twice(s, 4) - clamped(p[i], 3);
    out[i] += moved(p[i], n, p, i);
    out[i] += dot(s, *(q + i)) * s.id;
  }
}
// ----
// out = -5.25 -207.03125 -220.06293402777777 -25.17578125 36.8125 122.85546875 32.26171875 -128.54861111111111 100.4140625
// p.id = -2 14 11 -5 2 15 1 12 13
// p.x = 2.25 -1.75 -1.9791666666666665 2.3125 -1.75 1.0625 5.0625 3.2916666666666665 1.0625
