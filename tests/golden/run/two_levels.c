// test run
// set n = 300
// set k = 20
// set m = 9
// array key = random 0 20
// array map = random 0 9
// array w = random -4 5
// array out = zeros
void two_levels(int64_t n, int64_t k, int64_t m, const uint8_t key[n], const int64_t map[k], const double w[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    if (w[i] > 0 && key[i] != 3)
      out[map[key[i]]] += w[i] * w[i];
}
// ----
// out = 186.4631076388889 127.7204861111111 93.21875 174.30729166666666 41.79340277777777 40.77083333333333 186.07638888888889 27.99826388888889 0
