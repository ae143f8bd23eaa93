// test scatter
// set n = 40
// set m = 5
// array key = random 0 4
// array x = random 0 2
// array some = zeros
// array all = random 1 2
// array odd = zeros
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
void group_by(int n, int m, const int key[n], const bool x[n], bool some[m], bool all[m], bool odd[m]) {
  for (int i = 0; i < n; i++) {
    some[key[i]] |= x[i];
    all[key[i]] = all[key[i]] && x[i];
    odd[key[i]] ^= x[i];
  }
}
// ----
// parallel, some by or, all by and, odd by xor
// all = 0 0 1 1 1
// odd = 0 0 1 1 0
// some = 0 0 1 1 0
