// How many pixels of a gray image have each level.
#include <stdint.h>

void gray_levels(int64_t rows, int64_t cols, const uint8_t image[rows][cols], int32_t seen[256]) {
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++)
      seen[image[r][c]]++;
}
