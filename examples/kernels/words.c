// How often each word of ten letters occurs, whichever of both strands is read.
#include <stdint.h>

void words(int64_t n, const uint8_t letter[n], uint32_t count[1048576]) {
  uint32_t word = 0, back = 0;
  for (int64_t i = 0; i < n; i++) {
    uint32_t now = letter[i] & 3;
    word = (word << 2 | now) & 0xfffff;
    back = back >> 2 | (3 - now) << 18;
    if (i > 8) count[word < back ? word : back]++;
  }
}
