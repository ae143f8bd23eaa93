// test run
// set rows = 6
// set cols = 9
// array wall = random 0 9
// array result = zeros
#define IN_RANGE(x, min, max) ((x) >= (min) && (x) <= (max))
#define CLAMP_RANGE(x, min, max) x = (x < (min)) ? min : ((x > (max)) ? max : x)
#define MIN(a, b) ((a) <= (b) ? (a) : (b))
void pathfinder(int rows, int cols, const int wall[rows][cols], int result[2][cols]) {
  int *src, *dst, *temp;
  int min;
  dst = result[0];
  src = result[1];
  for (int x = 0; x < cols; x++)
    result[0][x] = wall[0][x];
  for (int t = 0; t < rows - 1; t++) {
    temp = src;
    src = dst;
    dst = temp;
    for (int n = 0; n < cols; n++) {
      min = src[n];
      if (n > 0)
        min = MIN(min, src[n - 1]);
      if (n < cols - 1)
        min = MIN(min, src[n + 1]);
      dst[n] = wall[t + 1][n] + min;
    }
  }
}
// ----
// result = 6 9 11 8 8 13 9 12 12 14 9 14 16 8 8 9 … checksum 24725bfd16f30896
