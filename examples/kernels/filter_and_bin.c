#include <stdint.h>

void filter_and_bin(int64_t n, int64_t m, const double x[n + 1], double y[n], const int32_t bin[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    y[i] = 0.5 * (x[i] + x[i + 1]);
  for (int64_t j = 0; j < n; j++)
    out[bin[j]] += y[j];
}
