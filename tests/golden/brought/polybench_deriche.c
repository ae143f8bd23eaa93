// test run
// set w = 6
// set h = 5
// set alpha = 0.25
// array imgIn = random 0 1
// array imgOut = zeros
// array y1 = zeros
// array y2 = zeros
#include <math.h>
#define DATA_TYPE float
#define SCALAR_VAL(x) x##f
#define EXP_FUN(x) expf(x)
#define POW_FUN(x, y) powf(x, y)
void kernel_deriche(int w, int h, DATA_TYPE alpha, const DATA_TYPE imgIn[w][h], DATA_TYPE imgOut[w][h], DATA_TYPE y1[w][h], DATA_TYPE y2[w][h]) {
  int i, j;
  DATA_TYPE xm1, tm1, ym1, ym2, xp1, xp2, tp1, tp2, yp1, yp2;
  DATA_TYPE k, a1, a2, a3, a4, a5, a6, a7, a8, b1, b2, c1, c2;
  k = (SCALAR_VAL(1.0) - EXP_FUN(-alpha)) * (SCALAR_VAL(1.0) - EXP_FUN(-alpha)) / (SCALAR_VAL(1.0) + SCALAR_VAL(2.0) * alpha * EXP_FUN(-alpha) - EXP_FUN(SCALAR_VAL(2.0) * alpha));
  a1 = a5 = k;
  a2 = a6 = k * EXP_FUN(-alpha) * (alpha - SCALAR_VAL(1.0));
  a3 = a7 = k * EXP_FUN(-alpha) * (alpha + SCALAR_VAL(1.0));
  a4 = a8 = -k * EXP_FUN(SCALAR_VAL(-2.0) * alpha);
  b1 = POW_FUN(SCALAR_VAL(2.0), -alpha);
  b2 = -EXP_FUN(SCALAR_VAL(-2.0) * alpha);
  c1 = c2 = 1;
  for (i = 0; i < w; i++) {
    ym1 = SCALAR_VAL(0.0); ym2 = SCALAR_VAL(0.0); xm1 = SCALAR_VAL(0.0);
    for (j = 0; j < h; j++) {
      y1[i][j] = a1 * imgIn[i][j] + a2 * xm1 + b1 * ym1 + b2 * ym2;
      xm1 = imgIn[i][j]; ym2 = ym1; ym1 = y1[i][j];
    }
  }
  for (i = 0; i < w; i++) {
    yp1 = SCALAR_VAL(0.0); yp2 = SCALAR_VAL(0.0); xp1 = SCALAR_VAL(0.0); xp2 = SCALAR_VAL(0.0);
    for (j = h - 1; j >= 0; j--) {
      y2[i][j] = a3 * xp1 + a4 * xp2 + b1 * yp1 + b2 * yp2;
      xp2 = xp1; xp1 = imgIn[i][j]; yp2 = yp1; yp1 = y2[i][j];
    }
  }
  for (i = 0; i < w; i++)
    for (j = 0; j < h; j++)
      imgOut[i][j] = c1 * (y1[i][j] + y2[i][j]);
}
// ----
// imgOut = -0.04491786 -0.046299823 -0.038484044 -0.028616318 -0.011789442 -0.023689106 -0.08979311 -0.11495083 -0.08568877 -0.020838879 -0.0910618 -0.09246534 -0.055736065 -0.013812192 0.015847838 -0.04016184 … checksum 8e9067749319cef2
// y1 = -0.04323955 -0.030758072 -0.015674202 0.0058240164 -0.011789442 -0.007861736 -0.049189277 -0.06800545 -0.02828821 -0.020838879 -0.05503215 -0.073095046 -0.013300676 0.0053213276 0.015847838 -0.03930868 … checksum a67a3c30c2bd1b75
// y2 = -0.0016783113 -0.015541753 -0.022809843 -0.034440335 0 -0.01582737 -0.04060383 -0.04694538 -0.05740056 0 -0.03602965 -0.019370299 -0.04243539 -0.01913352 0 -0.0008531604 … checksum f18a486b2ed7e2d1
