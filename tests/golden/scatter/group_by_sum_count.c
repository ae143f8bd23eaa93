// test scatter
// set n = 40
// set m = 5
// array key = random 0 4
// array price = random -9 9
// array amount = random 1 4
// array total = zeros
// array count = zeros
#include <stdint.h>
#include <stddef.h>
void group_by(size_t n, size_t m, const uint32_t key[n], const double price[n], const int64_t amount[n], double total[m], uint64_t count[m]) {
  for (size_t row = 0; row < n; ++row) {
    const uint32_t g = key[row];
    total[g] += price[row] * (double)amount[row];
    count[g] += 1;
  }
}
// ----
// parallel, total by add, count by add
// count = 9 9 13 9 0
// total = 8.895833333333336 -75.10416666666666 30.875 28.125 0
