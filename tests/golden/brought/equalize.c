// test run
// set n = 90
// array img = random 40 90
// array hist = zeros
#include <stdint.h>
#include <math.h>
typedef uint8_t u8;
void equalize(int n, u8 img[n], unsigned hist[256]) {
  unsigned cdf[256], total = 0, first = 0;
  for (int i = 0; i < 256; i++) hist[i] = 0;
  for (int i = 0; i < n; i++) hist[img[i]]++;
  for (int i = 0; i < 256; i++) { total += hist[i]; cdf[i] = total; if (!first && hist[i]) first = hist[i]; }
  if (total == first) return;
  for (int i = 0; i < n; i++)
    img[i] = (u8)roundf((cdf[img[i]] - first) * 255.0f / (total - first));
}
// ----
// hist = 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 … checksum 6ecdd1f98f62cd86
// img = 235 252 160 241 117 206 166 155 186 69 100 183 252 109 252 60 … checksum 7a61a2664c7952d5
