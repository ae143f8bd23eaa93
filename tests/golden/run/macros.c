// test run
// set n = 12
// array x = random -9 9
// array y = random -9 9
// array out = zeros
#define NDEBUG
#include <assert.h>
#include <stdint.h>
#define CAT_(a, b) a ## b
#define CAT(a, b) CAT_(a, b)
#define FIELD(name) name ## _count
#define SUFFIX 1
#define FIRST(first, ...) (first)
#define REST(first, ...) __VA_ARGS__
#define MAX_OF(a, ...) larger(a, __VA_ARGS__)
#define CHECK(condition, ...) assert((condition) && #condition __VA_ARGS__)
#define FOR_EACH(i, n) for (int CAT(i, _) = 0, i = 0; i < (n); i = ++CAT(i, _))
#define KERNEL(name, T, op) \
  static T name##_##T(T a, T b) { return a op b; }
#define PAIR 3, 4
#define ADD(a, b) ((a) + (b))
#define ADD_PAIR(...) ADD(__VA_ARGS__)
#line 100
KERNEL(plus, double, +)
KERNEL(times, int64_t, *)
_Static_assert(sizeof(int64_t) == 8, "64 bits");
static double larger(double a, double b) { return a > b ? a : b; }
void macros(int n, const double x[n], const double y[n], double out[n]) {
  int FIELD(cell) = 3, CAT(v, SUFFIX) = 4;
  CHECK(n > 0, "positive");
  CHECK(n > 0);
  FOR_EACH(i, n) {
    out[i] = plus_double(x[i], y[i]) + times_int64_t(i, cell_count) + v1;
    out[i] += MAX_OF(x[i], y[i]) + FIRST(10, 20, 30) + ADD(REST(1, 16), 5);
    out[i] += ADD_PAIR(PAIR) * CAT(1, e1) + __LINE__ * 0;
  }
}
// ----
// out = 108.9375 93.875 129.25 93.75 105.125 141.625 129.0625 129.125 150.5625 132.6875 141.9375 126.5
