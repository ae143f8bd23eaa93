// test run
// set w = 8
// set h = 6
// array out = zeros
typedef struct { float re, im; } cf;
#define CMUL(o, a, b) do { float re_ = (a).re * (b).re - (a).im * (b).im; (o).im = (a).re * (b).im + (a).im * (b).re; (o).re = re_; } while (0)
#define NORM2(a) ((a).re * (a).re + (a).im * (a).im)
void mandelbrot(int w, int h, unsigned char out[h][w]) {
  for (int y = 0; y < h; y++)
    for (int x = 0; x < w; x++) {
      cf c = {x * 3.0f / w - 2, y * 2.f / h - 1}, z = {0};
      int it;
      for (it = 0; it < 50 && NORM2(z) < 4; it++) {
        CMUL(z, z, z);
        z.re += c.re, z.im += c.im;
      }
      out[y][x] = it;
    }
}
// ----
// out = 1 2 3 3 4 13 4 2 1 3 3 4 11 50 7 3 … checksum 69a4d296b54cd391
