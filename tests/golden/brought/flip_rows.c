// test run
// set h = 5
// set w = 9
// array img = random 0 255
#include <stdint.h>
typedef uint8_t u8;
void flip(int h, int w, u8 img[h][w]) {
  for (int y = 0; y < h; y++)
    for (int l = 0, r = w - 1; l < r; l++, r--) {
      u8 t = img[y][l]; img[y][l] = img[y][r]; img[y][r] = t;
    }
}
// ----
// img = 5 87 183 96 4 217 135 250 246 52 202 149 51 37 127 43 … checksum 8ac880316b2977f4
