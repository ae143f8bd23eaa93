// test run
// set n = 40
// array in = random 0 255
// array out = zeros
#include <stdint.h>
typedef uint8_t u8;
void median3(int n, const u8 in[n], u8 out[n]) {
  for (int i = 1; i + 1 < n; i++) {
    u8 a = in[i-1], b = in[i], c = in[i+1];
    out[i] = a < b ? (b < c ? b : a < c ? c : a) : (a < c ? a : b < c ? c : b);
  }
}
// ----
// out = 0 167 167 153 104 116 116 168 168 161 146 94 56 56 56 118 … checksum 773443a70d4bfc00
