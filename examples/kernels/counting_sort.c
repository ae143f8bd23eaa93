// A counting sort: values in the order of their keys, those with one key in the order in which they come. `next[k]` says where the next
// value with key `k` goes; at first, how many values have lesser keys.
#include <stdint.h>

void counting_sort(int64_t n, int32_t m, int64_t next[m], const int32_t key[n], const float x[n], float out[n]) {
  for (int64_t i = 0; i < n; i++)
    out[next[key[i]]++] = x[i];
}
