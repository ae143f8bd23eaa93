// test run
// set h = 5
// set w = 9
// set amount = -40
// array img = random 0 255
#include <stdint.h>
typedef uint8_t u8;
static u8 clamp_u8(int v) { if (v < 0) return 0; if (v > 255) return 255; return (u8)v; }
void brighten(int h, int w, int amount, u8 img[h][w]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++)
      img[y][x] = clamp_u8(img[y][x] + amount);
}
// ----
// img = 206 210 95 177 0 56 143 47 0 124 49 3 87 0 11 109 … checksum 6b613cb392633275
