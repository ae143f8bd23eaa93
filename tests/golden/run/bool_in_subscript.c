// test run
// set n = 4
// set p = 1
// array out = zeros
void bool_in_subscript(int n, _Bool p, int out[n]) {
  for (int i = 0; i < n / 2; i++)
    out[2 * i + p] = i + p / 2 + (p << 3);
}
// ----
// out = 0 8 0 9
