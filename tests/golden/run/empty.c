// test run
// set n = 0
// set m = 2
// array seg = 
// array x = 
// array out = 1 2
void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}
