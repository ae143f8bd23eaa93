// What attention in a graph makes of the scores of each vertex's edges: row[v] to row[v + 1] are those of vertex v.
#include <math.h>
#include <stdint.h>

void row_softmax(int64_t n, int64_t edges, const int32_t row[n + 1], const float score[edges], float weight[edges]) {
  for (int64_t v = 0; v < n; v++) {
    float most = -INFINITY;
    for (int32_t e = row[v]; e < row[v + 1]; e++) most = fmaxf(most, score[e]);
    float sum = 0;
    for (int32_t e = row[v]; e < row[v + 1]; e++) {
      weight[e] = expf(score[e] - most);
      sum += weight[e];
    }
    for (int32_t e = row[v]; e < row[v + 1]; e++) weight[e] /= sum;
  }
}
