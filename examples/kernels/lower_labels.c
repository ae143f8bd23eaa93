#include <stdint.h>

// The least label that a neighbour has, one round of label propagation; whether any label was lower.
void lower_labels(int64_t e, int n, const int src[e], const int dst[e], const int label[n], int lowest[n], int changed[1]) {
  for (int64_t k = 0; k < e; k++) {
    int a = label[src[k]], b = label[dst[k]];
    if (a < b) {
      if (a < lowest[dst[k]])
        lowest[dst[k]] = a;
      changed[0] = 1;
    }
  }
}
