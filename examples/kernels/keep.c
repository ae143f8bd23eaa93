// What is above a limit, in the order in which it comes, and how much that is.
#include <stdint.h>

int64_t keep(int64_t n, float limit, const float x[n], float kept[n]) {
  int64_t m = 0;
  for (int64_t i = 0; i < n; i++)
    if (x[i] > limit)
      kept[m++] = x[i];
  return m;
}
