// test run
// set n = 6
// set m = 3
// set p = 5
// set length = 22
// array a = random -4 4
// array x = random -9 9
void relax(int64_t n, int64_t m, int64_t p, int64_t length, double a[length], const double x[p]) {
#pragma strew parallelize(i)
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < p; j++)
      a[i * m + j] = a[i * m + j] * 0.5 + x[j];
}
// ----
// a = -1.6041666666666667 -6.875 -4.75 0.880208333333333 -5.557291666666667 -6.270833333333333 1.395833333333333 -6.875 -7.84375 1.833333333333333 -5.057291666666667 -4.78125 1.604166666666666 -5.369791666666667 -5.354166666666667 1.359375 … checksum 240c044793c3ce4a
