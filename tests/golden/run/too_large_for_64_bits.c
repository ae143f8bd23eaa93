// test run
// set n = 3
// set m = 4
// array key = 0 18446744073709551615 9
// array h = zeros
void histogram(int64_t n, int32_t m, const uint64_t key[n], int32_t h[m]) {
  for (int64_t i = 0; i < n; i++)
    h[key[i]]++;
}
// ----
// fault out_of_range h index 18446744073709551615 extent 4 [("i", 1)]
