// test run
// set n = 4
// array x = 1 2 3 4
// array out = zeros
static int32_t twice(int32_t x) {
  int32_t t[2] = {x, x};
  return t[0] + t[1];
}
void local_arrays_of_one_name(int64_t n, const int32_t x[n], int32_t out[n]) {
  for (int64_t i = 0; i < n; i++) {
    int32_t t[1] = {5};
    {
      int32_t t[3] = {x[i], 7};
      out[i] = t[0] + t[1] + t[2] + twice(x[i]);
    }
    out[i] += 100 * t[0] + 1000 * twice(t[0]);
  }
}
// ----
// out = 10510 10513 10516 10519
