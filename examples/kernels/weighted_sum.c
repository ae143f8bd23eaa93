// The sum of the weights of each key: a histogram with a weight for every sample.
#include <stdint.h>

void weighted_sum(int64_t n, int32_t m, const int32_t key[n], const double weight[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[key[i]] += weight[i];
}
