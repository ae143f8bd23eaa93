// test run
// set n = 75
// set m = 6
// array word = random 0 100
// array x = random -3 4
// array pair = zeros
// array bits = zeros
// array table = zeros
#include <stdint.h>

void divided_lengths(int n, unsigned m, const int word[n], const float x[(n + 1) / 2 * 2], float pair[n / 2], uint32_t bits[(n + 31) / 32], int table[1 << 2][m >> 1]) {
  int seen[n / 5 + 1];
  for (int i = 0; i <= n / 5; i++)
    seen[i] = 0;
  for (int i = 0; i < n / 2; i++)
    pair[i] = x[2 * i] + x[2 * i + 1];
  for (int i = 0; i < n; i++) {
    if (word[i] < n)
      bits[word[i] / 32] |= UINT32_C(1) << (word[i] % 32);
    seen[i / 5] += word[i];
    table[i & 3][word[i] % (m / 2)]++;
  }
  for (int i = 0; i <= n / 5; i++)
    table[0][0] += seen[i];
}
// ----
// bits = 3028981740 1909963208 976
// pair = 5.416667 -1.4166666 -1.7916666 1.3958334 -0.6458334 -1.625 3.4375 -1.7916666 0.4375 -5.75 3.4166667 -1.75 -0.41666666 4.2291665 -3.5208333 1.2291667 … checksum 37f603f771837926
// table = 3585 5 8 4 5 10 8 4 7 3 7 8
