// test run
// set n = 5
// set m = 4
// set d = 3
// array key = 3 0 3 1 0
// array x = random -10 10
// array out = zeros
void rows(int64_t n, int32_t m, int32_t d, const int16_t key[n], const float x[n][d], float out[m][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int32_t j = 0; j < d; j++)
      out[key[i]][j] += 2 * x[i][j];
}
// ----
// out = 12.75 -13.416666 -33.541664 6.125 -3.5833333 -13.666667 0 0 0 -13.458333 -3.5 -18.916668
