// test run
// set h = 8
// set w = 9
// array img = random 0 255
// array out = zeros
#include <stdint.h>
#include <stdlib.h>
#include <math.h>
#define PIXEL(p, y, x) (p)[(y) * w + (x)]
static inline uint8_t saturate(int v) { return (unsigned)v <= 255 ? v : v > 0 ? 255 : 0; }
static void gradient(int w, const uint8_t *p, int *gx, int *gy) {
  *gx = p[-w + 1] + 2 * p[1] + p[w + 1] - p[-w - 1] - 2 * p[-1] - p[w - 1];
  *gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
}
void edges(int h, int w, const uint8_t img[h * w], uint8_t out[h * w]) {
  for (int y = 1; y < h - 1; y++) {
    const uint8_t *row = img + y * w + 1;
    uint8_t *dst = out + y * w + 1;
    for (int x = 1; x < w - 1; x++, row++) {
      int gx, gy;
      gradient(w, row, &gx, &gy);
      *dst++ = saturate(abs(gx) + abs(gy));
    }
  }
  PIXEL(out, 0, 0) = (uint8_t)sqrtf(PIXEL(img, 1, 1) * 3.0f);
}
// ----
// out = 22 0 0 0 0 0 0 0 0 0 255 255 255 255 110 255 … checksum 4622e18c79764430
