// How often each key occurs.
#include <stdint.h>

void histogram(int64_t n, int32_t m, const int32_t key[n], int32_t h[m]) {
  for (int64_t i = 0; i < n; i++)
    h[key[i]]++;
}
