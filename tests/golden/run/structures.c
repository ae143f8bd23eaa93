// test run
// set n = 17
// array x = random -50 50
// array y = random -50 50
// array out = zeros
typedef struct { double x, y; int id; } point;
struct box { float low; float high; };
static double dot(double ax, double ay, double bx, double by) { return ax * bx + ay * by; }
void structures(int n, const double x[n], const double y[n], double out[n]) {
  point best = {0}, trail[n];
  const struct box limits = {.high = 20.5f, .low = -3};
  for (int i = 0; i < n; i++) {
    point p = {x[i], y[i], i};
    point q = p;
    q.x += 1;
    q.id--;
    if (q.x > best.x)
      best = q;
    trail[i] = p;
    point *t = trail + i;
    t->y *= 2;
    (*t).id += best.id;
    trail[i].x = dot(p.x, p.y, q.x, t->y);
  }
  for (int i = n - 1; i > 0; i--) {
    point swap = trail[i];
    trail[i] = trail[i / 2];
    trail[i / 2] = swap;
  }
  for (int i = 0; i < n; i++)
    out[i] = trail[i].x + trail[i].y * 3 + trail[i].id + (trail[i].y > limits.low && trail[i].y < limits.high);
  out[0] += best.x + best.y + best.id + sizeof best;
}
// ----
// out = 1824.54296875 0.921875 241.33463541666663 839.69921875 1489.7721354166665 6855.022135416666 3802.10546875 6242.838541666666 3246 6514.76171875 648.2968750000001 1701.022135416667 17.490885416666668 226.25000000000006 914.921875 2923 … checksum f0221af57484fc18
