// test run
// set n = 9
// set alpha = 0.5
// array x = 1 4 2 -2 5 -5 4 4 -4
// array y = 1 4 -4 1 3 2 -1 -1 -2
#include <stddef.h>
void axpy(size_t n, float alpha, const float *x, float *y) {
  const float *end = x + n;
  while (x < end) *y++ += alpha * *x++;
}
// ----
// y = 1.5 6 -3 0 5.5 -0.5 1 1 -4
