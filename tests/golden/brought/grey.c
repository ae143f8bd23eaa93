// test run
// set n = 20
// array rgb = random 0 255
// array out = zeros
#include <stdint.h>
typedef uint8_t u8;
enum { RED, GREEN, BLUE, CHANNELS };
void grey(int n, const u8 rgb[n][CHANNELS], u8 out[n]) {
  for (int i = 0; i < n; i++)
    out[i] = (77 * rgb[i][RED] + 150 * rgb[i][GREEN] + 29 * rgb[i][BLUE] + 128) >> 8;
}
// ----
// out = 83 66 228 83 162 226 21 91 199 162 208 186 75 131 185 185 … checksum 4cc7c6e7bb80f7e6
