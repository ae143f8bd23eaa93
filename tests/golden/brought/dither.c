// test run
// set h = 6
// set w = 7
// array img = random 0 255
// array out = zeros
#include <stdint.h>
typedef uint8_t u8;
void dither(int h, int w, float img[h][w], u8 out[h][w]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      float old = img[y][x];
      u8 new = old < 128.f ? 0 : 255;
      float err = old - new;
      out[y][x] = new;
      if (x + 1 < w) img[y][x+1] += err * 7 / 16;
      if (y + 1 < h) {
        if (x > 0) img[y+1][x-1] += err * 3 / 16;
        img[y+1][x] += err * 5 / 16;
        if (x + 1 < w) img[y+1][x+1] += err / 16;
      }
    }
}
// ----
// img = 189.04167 42.247395 27.754066 67.3924 115.67168 102.75219 175.12076 156.37192 -2.7201538 45.98878 308.6241 235.27351 33.815174 185.50389 208.89787 182.70973 … checksum 8df93d785d5750ad
// out = 255 0 0 0 0 0 255 255 0 0 255 255 0 255 255 255 … checksum b9a550cae10a397d
