/* A lattice gas moves on: what each cell has in nine directions goes to its neighbours, on a ring */
#include <stdint.h>

static const int32_t dx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
static const int32_t dy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};

void lattice(int32_t h, int32_t w, const double f[9][h][w], double g[9][h][w]) {
  for (int q = 0; q < 9; q++)
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++)
        g[q][(y + dy[q] + h) % h][(x + dx[q] + w) % w] = f[q][y][x];
}
