// test run
// set h = 6
// set w = 8
// array in = random 0 255
// array out = zeros
#include <stdint.h>
#include <stdlib.h>
typedef uint8_t u8;
void sobel(int h, int w, const u8 in[h][w], u8 out[h][w]) {
  for (int y = 1; y < h - 1; ++y)
    for (int x = 1; x < w - 1; ++x) {
      int gx = -in[y-1][x-1] - 2*in[y][x-1] - in[y+1][x-1] + in[y-1][x+1] + 2*in[y][x+1] + in[y+1][x+1];
      int gy = -in[y-1][x-1] - 2*in[y-1][x] - in[y-1][x+1] + in[y+1][x-1] + 2*in[y+1][x] + in[y+1][x+1];
      int g = abs(gx) + abs(gy);
      out[y][x] = g > 255 ? 255 : g;
    }
}
// ----
// out = 0 0 0 0 0 0 0 0 0 100 236 86 196 255 34 0 … checksum b6cd8baf3fb64480
