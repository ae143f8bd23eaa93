// test run
// set n = 50
// set m = 6
// array k = random -4 40
// array x = random -100 100
// array grid = zeros
// array out = zeros
// array sums = zeros
static int clamp(int v, int low, int high);
static inline double square(double x) { return x * x; }
static int sign(int v) {
  if (v < 0) return -1;
  if (v > 0) return 1;
  return 0;
}
static int find(int n, const int k[n], int wanted) {
  for (int i = 0; i < n; i++) {
    if (k[i] == wanted) return i;
    if (k[i] == 40 && wanted == 7) break;
  }
  return -1;
}
static void add_row(int m, double grid[][m], int row, const double x) {
  for (int j = 0; j < m; j++) grid[row][j] += square(x) + j;
}
static void shift(int n, int out[n], int at) {
  if (at < 0) return;
  while (at < n) {
    out[at]++;
    if (out[at] > 3) return;
    at += 5;
  }
  out[0] += 100;
}
static unsigned char narrow(signed char v) { return v; }
static long digits(unsigned long v) {
  long count = 0;
  while (v) { v /= 10; count++; }
  return count;
}
void calls(int n, int m, const int k[n], const double x[n], double grid[n][m], int out[n], long sums[4]) {
  int at = 0;
  for (int i = 0; i < n; i++) {
    add_row(m, grid, clamp(k[i], 0, n - 1), x[i]);
    out[i] = find(n, k, i) + 10 * sign(k[i]) * clamp(i + (at += 2), 5, 3 * i);
    shift(n, out, find(i, k, k[i] - 1));
    sums[i % 4] += narrow(k[i] * 7) + digits(k[i] * 1000) * (at++ ? sign(at % 3 - 1) : find(n, k, at));
    if (find(n, k, i) >= 0 && square(x[i]) > 400) sums[3]++;
  }
  while (clamp(at, 0, 60) > sign(at) + 20) at -= digits(at);
  sums[0] += at;
}
static int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
// ----
// grid = 25235.90972222222 25243.90972222222 25251.90972222222 25259.90972222222 25267.90972222222 25275.90972222222 7241.70529513889 7243.70529513889 7245.70529513889 7247.70529513889 7249.70529513889 7251.70529513889 0 0 0 0 … checksum 342ade21ab7b1b32
// out = 149 38 59 89 135 175 212 -210 249 287 314 378 378 412 419 462 … checksum 0511af88544686e8
// sums = 1530 1661 1463 2046
