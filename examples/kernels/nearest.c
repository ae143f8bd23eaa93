/* the nearest of m centres for each of n points */
#include <stdint.h>

void nearest(int64_t n, int64_t m, const float x[n], const float y[n], const float cx[m], const float cy[m], int32_t at[n]) {
  for (int64_t i = 0; i < n; i++) {
    float least = 1e30f;
    int32_t best = 0;
    for (int64_t j = 0; j < m; j++) {
      float dx = x[i] - cx[j], dy = y[i] - cy[j];
      float distance = dx * dx + dy * dy;
      if (distance < least) {
        least = distance;
        best = j;
      }
    }
    at[i] = best;
  }
}
