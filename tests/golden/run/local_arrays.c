// test run
// set n = 23
// array a = random -1000 1000
// array out = zeros
// array inverse = zeros
static const double weight[3] = {0.25, 0.5, 0.25};
static const int offset[][2] = {{0, 1}, {1}, [3] = {-1, 2}};
enum { TAPS = sizeof weight / sizeof weight[0] };
void local_arrays(int n, const int a[n], double out[n], long inverse[n][3]) {
  double prefix[n + 1];
  prefix[0] = 1;
  for (int i = 0; i < n; i++)
    prefix[i + 1] = prefix[i] + a[i];
  for (int i = 0; i < n; i++) {
    int digit[10] = {0};
    long box[2][3] = {{a[i], 2}, 3, [1][1] = 4};
    int rest = a[i] < 0 ? -a[i] : a[i];
    do {
      digit[rest % 10]++;
      rest /= 10;
    } while (rest);
    for (int k = 0; k < 10; k++)
      box[k & 1][k % 3] += digit[k] * k;
    for (int k = 0; k < 3; k++)
      inverse[i][k] = box[0][k] * 1000 + box[1][k];
    double sum = 0;
    for (int k = 0; k < TAPS; k++)
      if (i + k < n)
        sum += weight[k] * prefix[i + k];
    out[i] = sum + offset[i & 3][i % 2];
  }
}
// ----
// inverse = 819012 2005 8000 197012 2012 0 -960988 2011 0 847003 6011 8000 519012 2005 5 68003 … checksum 2157e84ecfd4ea49
// out = 664.5 726 503.5 817 1301.75 1655.75 1903.5 1801.25 1572.25 1424.25 1471.5 1872.25 2514.75 2991.75 3309.25 3761.5 … checksum 6d0b79d97a445350
