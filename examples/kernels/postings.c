// Adds weights to documents, each of which is told by its distance from the one before.
#include <stdint.h>

void postings(int64_t n, int32_t m, const uint8_t gap[n], const float weight[n], float score[m]) {
  int32_t document = 0;
  for (int64_t i = 0; i < n; i++) {
    document += gap[i];
    score[document] += weight[i];
  }
}
