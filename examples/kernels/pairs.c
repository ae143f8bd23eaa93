// How often each letter is followed by each other one.
#include <stdint.h>

void pairs(int64_t n, int m, const int letter[n], int count[m][m]) {
  int before = 0;
  for (int64_t i = 0; i < n; i++) {
    count[before][letter[i]]++;
    before = letter[i];
  }
}
