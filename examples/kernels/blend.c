// One picture over another: of each point as much as its opacity says.
#include <stdint.h>

void blend(int64_t n, const uint8_t opacity[n], const uint8_t above[n], const uint8_t below[n], uint8_t out[n]) {
  for (int64_t i = 0; i < n; i++) {
    int sum = above[i] * opacity[i] + below[i] * (255 - opacity[i]);
    out[i] = (sum + 255) >> 8;
  }
}
