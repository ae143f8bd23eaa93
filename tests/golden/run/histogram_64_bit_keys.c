// test run
// set n = 1000
// set m = 37
// array key = random 0 37
// array h = zeros
void histogram(int64_t n, int32_t m, const uint64_t key[n], int32_t h[m]) {
  for (int64_t i = 0; i < n; i++)
    h[key[i]]++;
}
// ----
// h = 24 22 20 32 26 26 23 24 23 29 35 28 29 21 23 27 … checksum 54dc4d6695ec8604
