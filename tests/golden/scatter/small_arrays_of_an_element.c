// test scatter
// set ne = 40
// set nn = 11
// array to = random 0 10
// array x = random -4 4
// array sum = zeros
// array least = zeros
#include <stdint.h>
void small_arrays(int32_t ne, int32_t nn, const int32_t to[ne][3], const double x[nn], double sum[nn], int32_t least[nn]) {
  for (int32_t e = 0; e < ne; e++) {
    double d[3], m[2][2] = {{1, 0}, {0, 1}}, carried[2] = {0};
    int16_t turns[3] = {0};
    for (int32_t i = 0; i < 3; i++) {
      int32_t j = to[e][(i + 1) % 3], k = to[e][(i + 2) % 3];
      d[(i + 2) % 3] = x[j] - x[k];
      if (x[j] < x[k])
        turns[i / 2]++;
      else
        m[i % 2][1 - i % 2] += x[k];
    }
    for (int32_t t = 0; t < to[e][0]; t++) {
      double held = carried[0];
      carried[0] = carried[1] + d[0];
      carried[1] = held - d[1];
      turns[2] += turns[0] + t;
      if (turns[2] > 9) break;
    }
    for (int32_t i = 0; i < 3; i++) {
      for (int32_t r = 0; r < 2; r++)
        sum[to[e][i]] += m[r][0] * d[i] + m[r][1] + carried[r];
      if (turns[i] < least[to[e][i]])
        least[to[e][i]] = turns[i];
      if (-turns[2] < least[to[e][i]])
        least[to[e][i]] = -turns[2];
    }
  }
}
// ----
// in order
// least = -14 -10 -14 -14 -14 -14 -14 -14 -14 -14 0
// sum = 2.039930555555543 -0.880208333333331 -131.06944444444446 39.60633680555554 7.888454861111114 -117.26171874999999 -121.89279513888891 41.82335069444444 -47.398437500000014 -62.105468749999986 0
