// test run
// set n = 6
// set m = 3
// array seg = 0 2 2 1 0 2
// array x = 1 2 3 0.5 -1 0.25
// array out = 10 0 0
void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}
// ----
// out = 10 0.5 5.25
