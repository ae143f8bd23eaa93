// The greatest sample of each segment. Start `out` at the least value that may come back, for example minus infinity.
#include <stdint.h>

void segment_max(int64_t n, int32_t m, const int32_t seg[n], const float x[n], float out[m]) {
  for (int64_t i = 0; i < n; i++)
    if (x[i] > out[seg[i]])
      out[seg[i]] = x[i];
}
