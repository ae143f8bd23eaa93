// test run
// set n = 19
// array a = random -100000 100000
// array x = random -50 50
// array out = zeros
// array flags = zeros
// array sizes = zeros
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
typedef unsigned short half;
typedef half index_t;
typedef enum color { RED, GREEN = 5, BLUE, NEGATIVE = -2, LAST } color;
enum { BITS = 8 * sizeof(int), MASK = (1 << 4) - 1 };
typedef struct { char tag; double value; int16_t k; } item;
static const int LIMIT = BITS * 2 - 1;
const float SCALE = 1.0f / 3, OTHER = SCALE * 2;
static const bool YES = 17;
void declarations(int n, const int a[n], const float x[n], double out[n], bool flags[n], size_t sizes[12]) {
  typedef long long wide;
  for (index_t i = 0; i < n; i++) {
    register int v = a[i] & MASK, w = (half)a[i];
    const wide product = (wide)v * w;
    color c = v % 3 == 0 ? RED : v % 3 == 1 ? BLUE : LAST;
    _Bool odd = a[i] & 256, near = x[i] * SCALE;
    odd += near;
    flags[i] = odd;
    flags[i] |= x[i] > OTHER;
    bool half = 0.25;
    half--;
    out[i] = product * SCALE + (int)c + (c < -1) + LIMIT / (1 + v) + half + YES + !odd;
    {
      short index_t = v;
      out[i] -= index_t;
    }
  }
  double t[3][5];
  sizes[0] = sizeof t;
  sizes[1] = sizeof t[0] / sizeof **t;
  sizes[2] = sizeof(item);
  sizes[3] = sizeof(half) + sizeof(color) + sizeof(bool);
  sizes[4] = sizeof(n + 1L) + sizeof 'a' + sizeof 1.0f;
  sizes[5] = sizeof x + sizeof x[0] + sizeof &x[0];
  sizes[7] = (size_t)-1 / 2;
  sizes[8] = sizeof(int[7]) + sizeof(flags[0]) + sizeof(!n);
  sizes[9] = (ptrdiff_t)LAST + (uint8_t)NEGATIVE;
  t[0][0] = 1;
}
// ----
// flags = 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 … checksum bd06263bd9d066bd
// out = 235344 235718.34375 64 158702 170425 87128.671875 142114 23213.333984375 64 21755.66796875 35788.66796875 32813.3359375 166889.671875 24127 167593 197801 … checksum 6b28a8a2db54b811
// sizes = 120 5 24 7 16 20 0 9223372036854775807 33 253 0 0
