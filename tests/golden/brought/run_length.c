// test run
// set n = 14
// array in = 7 7 7 1 2 2 9 9 9 9 9 0 0 3
// array out = zeros
#include <stdint.h>
#include <limits.h>
int run_length(int n, const uint8_t in[n], uint8_t out[2 * n]) {
  int o = 0;
  for (int i = 0; i < n; ) {
    uint8_t c = in[i];
    int k = 1;
    while (i + k < n && in[i + k] == c && k < UCHAR_MAX) k++;
    out[o++] = (uint8_t)k;
    out[o++] = c;
    i += k;
  }
  return o;
}
// ----
// out = 3 7 1 1 2 2 5 9 2 0 1 3 0 0 0 0 … checksum e09b9b12824858ed
// return = 12
