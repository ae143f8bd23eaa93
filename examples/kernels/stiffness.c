// What elements with four nodes each add to the forces at these.
#include <stdint.h>

void stiffness(int64_t n, int32_t m, const int32_t node[n][4], const double factor[n], const double u[m], double force[m]) {
  for (int64_t e = 0; e < n; e++)
    for (int a = 0; a < 4; a++) {
      double sum = 0;
      for (int b = 0; b < 4; b++)
        sum += (a == b ? 3.0 : -1.0) * u[node[e][b]];
      force[node[e][a]] += factor[e] * sum;
    }
}
