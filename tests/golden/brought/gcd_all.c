// test run
// set n = 6
// array x = 84 -126 210 42 0 168
int gcd_all(int n, const int x[n]) {
  int g = 0;
  for (int i = 0; i < n; i++) {
    int a = g, b = x[i] < 0 ? -x[i] : x[i];
    while (b) { int t = a % b; a = b; b = t; }
    g = a;
  }
  return g;
}
// ----
// return = 42
