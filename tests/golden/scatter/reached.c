// test scatter
// set m = 20
// set n = 9
// array from = random 0 9
// array to = 0 3 5 4 7 6 2 0 0 7 5 3 2 2 6 1 2 6 5 2
// array frontier = random 0 2
// array next = zeros
#include <stdint.h>
#include <stddef.h>
#include <stdbool.h>
void reached(int m, int n, const int from[m], const int to[m], const bool frontier[n], bool next[n]) {
  for (int e = 0; e < m; e++)
    if (frontier[from[e]])
      next[to[e]] = true;
}
// ----
// parallel, next by or
// next = 1 1 1 1 1 1 1 1 0
