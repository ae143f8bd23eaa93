// test run
// set n = 40
// array k = random 0 40
// array x = random -100 100
// array out = zeros
// array count = zeros
#include <math.h>
static int next(int n, const int k[n], int at) { return k[at] % n; }
static int half(int n) { return n / 2; }
static double step(double x[], int n, int i) {
  if (i >= n) return -1;
  x[i] = x[i] / 2 + 1;
  return x[i];
}
static void bump(int h[8], int v) { h[v & 7]++; }
static int collatz(unsigned v) {
  int turns = 0;
  for (;;) {
    if (v == 1) return turns;
    if (turns++ > 30) break;
    v = v % 2 ? 3 * v + 1 : v / 2;
  }
  return -turns;
}
static int gcd(int a, int b) { while (b) { int t = a % b; a = b; b = t; } return a; }
void calls_in_conditions(int n, const int k[n], double x[n], int out[n], int count[8]) {
  int i, j = 0;
  for (i = half(n); i < next(n, k, i % n) + half(2 * n) && j++ < 50; i += gcd(i, 6)) {
    if (next(n, k, j % n) > 20 || step(x, n, j % n) > 3) bump(count, i);
    else continue;
    out[next(n, k, i % n)] += j;
  }
  while ((j = next(n, k, j % n)) > 3 && count[0] < 100) {
    bump(count, 0);
    do { count[1] += step(x, n, count[0] % n) > 0; } while (gcd(count[1], 4) == 1 && count[1]++ < 20);
  }
  for (int a = 0, b = n; a < b; a++, b -= collatz(a + 1) > 3 ? 1 : gcd(a, b) > 1)
    switch (gcd(a + 2, b)) {
      case 1: out[a] ^= collatz(b); break;
      case 2: if (collatz(a + 1) > 10) break;
      case 3: { int t = half(b); bump(count, t); if (t == 7) continue; }
      default: out[b - 1]--;
    }
  out[n - 1] = (int)sqrt(fabs(x[0])) + (step(x, n, n) < 0 ? collatz(27) : collatz(1));
  for (i = 0; i < (int)floor(sqrt(n)); i++) out[i] += i;
  out[next(n, k, 3)] += step(x, n, 2) > 0 && (bump(count, 5), count[5] > 2);
}
// ----
// count = 100 136 1 0 4 1 3 0
// out = 0 11 -30 24 25 26 13 13 26 5 -32 18 18 18 -32 10 … checksum fb53a5bc24a6880d
// x = -12.921875 9.25 2.0011062622070313 1.3255208333333335 6.8984375 3.569010416666667 -4.18359375 7.5078125 0.7708333333333334 11.015625 3.9010416666666665 -9.7421875 13.760416666666666 10.0390625 -3.348958333333333 -0.7473958333333335 … checksum d9abf2f525082494
