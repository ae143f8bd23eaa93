// test run
// set n = 5
// set m = 3
// array a = random -9 9
// array out = zeros
#include <stddef.h>
struct v { double x; int w[2]; char c; };
static size_t rows(int n, int m, const double b[n][m]) { return sizeof b[0] / sizeof b[0][0] + sizeof b; }
void sizes(int n, int m, const double a[n][m], size_t out[16]) {
  double w[] = {1, 2, [6] = 3}, square[n][m], odd[n + 1][2];
  struct v s[] = {{1, {2, 3}, 4}, {5}};
  int t[][2] = {{1}, {2}, {3}};
  for (size_t i = 0; i < sizeof w / sizeof w[0]; i++)
    out[0] += sizeof w + (size_t)w[i];
  out[1] = sizeof square;
  out[2] = sizeof square[0];
  out[3] = sizeof(square) / sizeof(*square) * 100 + sizeof square[1] / sizeof square[0][0];
  out[4] = sizeof odd;
  out[5] = sizeof(double[n][m + 1]);
  out[6] = sizeof s / sizeof s[0] + sizeof s;
  out[7] = sizeof t / sizeof *t + sizeof(int[4]);
  out[8] = sizeof a + sizeof a[0] * 100 + sizeof a[0][0];
  out[9] = rows(n, m, a);
  int k = n + 1;
  out[10] = sizeof(char[k]);
  out[11] = sizeof (double[]){1, 2, 3} + sizeof (struct v[]){{1}, {2}};
  out[12] = sizeof &w[1] + sizeof &square + sizeof(int) * -1;
}
// ----
// out = 398 120 24 503 96 160 50 19 2416 11 6 72 12 0 0 0
