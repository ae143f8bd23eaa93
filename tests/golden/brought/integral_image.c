// test run
// set h = 6
// set w = 5
// array in = random 0 255
// array out = random 0 99
#include <stdint.h>
typedef uint8_t u8;
void integral_image(int h, int w, const u8 in[h][w], uint64_t out[h + 1][w + 1]) {
  for (int x = 0; x <= w; x++) out[0][x] = 0;
  for (int y = 0; y < h; y++) {
    uint64_t row = 0;
    out[y + 1][0] = 0;
    for (int x = 0; x < w; x++) { row += in[y][x]; out[y + 1][x + 1] = out[y][x + 1] + row; }
  }
}
// ----
// out = 0 0 0 0 0 0 0 168 351 533 613 841 0 290 631 886 … checksum 22fae1617e7fdcec
