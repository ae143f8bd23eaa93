// test run
// set n = 37
// array a = random -1000 1000
// array b = random -1000 1000
// array m = random 0 9
// array rows = zeros
// array moved = zeros
// array counts = zeros
static long total(const int *x, long n) {
  long sum = 0;
  const int *end = x + n;
  for (; x < end; x++)
    sum += *x;
  return sum;
}
static void copy(int *to, const int *from, long n) {
  while (n-- > 0)
    *to++ = *from++;
}
void pointers(long n, const int a[n], const int b[n], const int m[n][3], long rows[n], int moved[n], long counts[8]) {
  for (long i = 0; i < n; i++) {
    const int *row = m[i];
    long *out = &rows[i];
    *out = row[0] + 10 * row[1] + 100 * *(row + 2);
    out[0] -= 2[row];
  }
  copy(moved, a, n);
  copy(moved + 5, b + 2, n - 9);
  const int *p = a, *q = &a[n - 1];
  while (p < q) {
    if (*p++ > *q--)
      counts[0]++;
    counts[1] += q - p;
  }
  counts[2] = p - a;
  counts[3] = total(a, n) - total(b + 3, 4) + total(m[2], 3);
  counts[4] = p == q;
  const int *w;
  for (w = b; *w < 900 && w != b + n - 1; ++w)
    counts[5] += w[0];
  counts[6] = (w -= 1) - b;
  int *r = moved + n;
  *--r = 7;
  *(r -= 2) += 1;
  counts[7] = *r-- + r[0];
}
// ----
// counts = 9 306 18 2730 1 -379 6 -1221
// moved = 559 425 454 -942 -566 454 -942 -566 -604 295 976 -946 -152 -115 549 -576 … checksum f11ab2930edec970
// rows = 147 273 37 849 115 627 642 80 456 284 739 525 730 303 30 719 … checksum 09f6e1955807b1ac
