// test run
// set n = 40
// array k = random 0 40
// array x = random -100 100
// array out = zeros
// array count = zeros
// array narrow = random -128 128
void side_effects(int n, const int k[n], const int x[n], int out[n], int count[8], signed char narrow[n]) {
  int j = 0, a, b;
  for (int i = 0; i < n; i++) {
    count[k[i] % 8]++;
    if (x[i] > 0) out[j++] = x[i] + i * 100;
  }
  while (j-- > 0) out[j] += j % 3 == 0 && count[0]-- ? 7 : count[1]++;
  a = b = narrow[3] = 1000;
  out[n - 1] = a + (b += 5) * narrow[3];
  for (int i = 0, m = n - 1; i < m; i++, --m) {
    int t = (a += x[i], b ^= a) > 0 ? a++ : --b;
    out[i] ^= t + (narrow[m]++) - (--narrow[i]);
    (x[m] > 5 || (t = i)) && (out[m] = t);
  }
  int p = 5, q = 3;
  out[p++] = q--, out[--p] = (q++ << 4) + n;
  do out[p] += p; while (--p && q++ < 9);
  unsigned char wrap = 255;
  out[n - 2] = wrap++, out[n - 2] += 2 * wrap--, out[n - 2] ^= ++wrap;
  (void)a;
  out[n - 3] = (a *= 3, b -= a, a > b) ? (a = q) : (b = p);
}
// ----
// count = 1 19 7 4 3 2 4 6
// narrow = -75 119 38 -25 25 -25 -12 40 52 17 33 -34 -125 -73 57 -78 … checksum d4f897569acba0d7
// out = 141 -50 487 -764 848 77 -1089 -1506 -1601 -1986 -1982 -2274 2422 2581 -2654 -2882 … checksum 439f1217bc71ea57
