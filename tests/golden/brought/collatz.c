// test run
// set n = 27
int collatz(unsigned n) {
  int steps = 0;
  while (n > 1) { n = n & 1 ? 3 * n + 1 : n / 2; if (++steps == 1000) break; }
  return steps;
}
// ----
// return = 111
