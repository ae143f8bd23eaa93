// test run
// set n = 6
// set m = 7
// set p = 5
// set length = 40
// array a = random -4 4
// array x = random -9 9
void relax(int64_t n, int64_t m, int64_t p, int64_t length, double a[length], const double x[p]) {
#pragma strew parallelize(i)
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < p; j++)
      a[i * m + j] = a[i * m + j] * 0.5 + x[j];
}
// ----
// a = -4.09375 -4.479166666666667 -5.8125 7.770833333333333 -1.21875 1.1041666666666667 -3.9375 -2.21875 -5.395833333333334 -4.8125 8.270833333333332 -3.78125 3.0833333333333335 2.3125 -3.6458333333333335 -5.46875 … checksum 9657f9da7cb50e29
