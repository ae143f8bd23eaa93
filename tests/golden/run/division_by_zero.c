// test run
// set n = 4
// array a = 12 12 12 12
// array b = 3 -4 0 0
// array out = 7 7 7 7
void quotients(int n, const int a[n], const int b[n], int out[n]) {
  for (int i = 0; i < n; i++)
    out[i] = a[i] / b[i];
}
// ----
// fault division_by_zero [("i", 2)]
