// The sum of the samples of each segment: sample i belongs to segment seg[i].
#include <stdint.h>

void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}
