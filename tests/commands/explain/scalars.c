#include <stdint.h>

int64_t total(int64_t n, const int32_t x[n], int32_t y[n]) {
  int64_t seen = 0;
  int32_t last = 0;

  for (int64_t i = 0; i < n; i++) {
    if (x[i] > 5)
      last = x[i];

    if (last > 3 &&
        x[i] != 4)
      y[i] = 1;
    seen += x[i];
  }

  return seen;
}
