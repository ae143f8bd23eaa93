// test scatter
// set n = 6
// set labels = 4
// set nnz = 16
// array row = 0 3 3 7 9 14 16
// array col = random 0 5
// array label = random 0 3
// array count = zeros
#include <stdint.h>
#include <stddef.h>
void label_counts(size_t n, size_t labels, size_t nnz, const uint64_t row[n + 1], const uint32_t col[nnz], const uint8_t label[n], uint32_t count[n * labels]) {
  for (size_t v = 0; v < n; ++v) {
    uint64_t e = row[v];
    const uint64_t end = row[v + 1];
    while (e < end)
      ++count[col[e++] * labels + label[v]];
  }
}
// ----
// parallel, count by add
// count = 1 1 1 0 2 0 2 0 2 0 0 0 1 2 1 0 … checksum 2a3f556d86827b1e
