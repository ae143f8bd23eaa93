// test run
// set n = 60
// array composite = zeros
#include <stdbool.h>
void sieve(int n, bool composite[n]) {
  for (int i = 0; i < n; i++) composite[i] = false;
  for (int p = 2; p * p < n; p++)
    if (!composite[p])
      for (int k = p * p; k < n; k += p) composite[k] = true;
}
// ----
// composite = 0 0 0 0 1 0 1 0 1 1 1 0 1 0 1 1 … checksum f9714e52dd0dfd32
