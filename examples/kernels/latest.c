#include <stdint.h>

void latest(int64_t n, int64_t m, const int32_t key[n], const int64_t x[n], int64_t out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] = x[i];
}
