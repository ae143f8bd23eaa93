// The sums of the rows of a matrix in compressed rows, or of any values in groups that lie one behind the other.
#include <stdint.h>

void row_sums(int64_t n, int64_t entries, const int32_t row[n + 1], const float value[entries], float sum[n]) {
  for (int64_t i = 0; i < n; i++) {
    float s = 0;
    for (int32_t k = row[i]; k < row[i + 1]; k++) s += value[k];
    sum[i] = s;
  }
}
