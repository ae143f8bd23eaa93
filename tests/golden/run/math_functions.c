// test run
// set n = 64
// array x = random -50 50
// array k = random -50 50
// array d = zeros
// array f = zeros
// array count = zeros
#include <math.h>
#include <stdlib.h>
void math_functions(int n, const double x[n], const int k[n], double d[n][8], float f[n][8], long count[n][8]) {
  for (int i = 0; i < n; i++) {
    double v = x[i] / 7;
    d[i][0] = sqrt(fabs(v)) + cbrt(v) + pow(fabs(v), 1.5);
    d[i][1] = sin(v) + cos(k[i]) * tan(0.1 * v) + atan2(v, k[i]);
    d[i][2] = exp(v) + log(1 + k[i] * k[i]) + log1p(fabs(v)) + exp2(v) + expm1(v);
    d[i][3] = fmin(v, k[i]) + fmax(k[i], 3) + fdim(v, 1) + fmod(v, 3) + remainder(v, 2);
    d[i][4] = floor(v) + ceil(v) * 2 + trunc(v) * 3 + round(v) * 4 + rint(v) * 5 + nearbyint(v) * 6;
    d[i][5] = fma(v, v, k[i]) + hypot(v, k[i]) + copysign(3, v) + erf(v);
    d[i][6] = sqrt(v) + k[i] / (v - v);
    d[i][7] = sinh(v) + asinh(v) + tanh(v) + acosh(2 + fabs(v)) + log10(fabs(v) + 1) + log2(fabs(v) + 1);
    float w = v;
    f[i][0] = sqrtf(fabsf(w)) + powf(2, w) * sinf(w);
    f[i][1] = fminf(w, k[i]) + fmaxf(w, 0.5) + fmaf(w, w, 1);
    f[i][2] = floorf(w) + ceilf(w) + roundf(w) + hypotf(w, 1);
    f[i][3] = sqrt(w) + expf(w) + atan2f(w, 2);
    f[i][4] = erff(w) + copysignf(w, -1.0f);
    count[i][0] = abs(k[i]) + labs((long)k[i] * 3000000000) + llabs(-k[i]);
    count[i][1] = isnan(d[i][6]) + 2 * isinf(d[i][6]) + 4 * isfinite(d[i][6]) + 8 * isnan(w);
    count[i][2] = !!signbit(v) + 2 * !!signbit(w) + 4 * (signbit(-0.0 * k[i]) != 0);
    count[i][3] = lround(v) + llrint(v) * 100 + lroundf(w) * 10000 + lrint(1.5 * k[i]) * 1000000;
    count[i][4] = fmax(k[i], i) + fmin(k[i], 2 * i) * 100;
  }
}
// ----
// count = 99000000066 2 4 50050505 33 0 0 0 105000000070 1 3 -52030303 -3499 0 0 0 … checksum 80d95eea06a55263
// d = 14.105321110422633 -0.8646733504421362 258.48713094892594 43.88095238095238 101 92.61652396051599 inf 65.2150863876439 6.1805484261572925 -2.636308828517655 7.7410915670026395 -31.5 -64 6.713073288216951 NaN -10.709421845481222 … checksum 83ce99fda342719e
// f = -24.18584 32.721127 18.825003 115.537605 -3.7202382 0 0 0 1.8141482 -22.9375 -6.5996323 NaN -4.2499957 0 0 0 … checksum 0d4848b1c24b09c6
