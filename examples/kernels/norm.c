#include <stdint.h>

/* The sum of the squares of all elements. */
double norm(int64_t n, const double x[n]) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++)
    sum += x[i] * x[i];
  return sum;
}
