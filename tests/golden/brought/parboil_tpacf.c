// test run
// set n = 14
// set nbins = 5
// array x = random 0 1
// array y = random 0 1
// array z = random 0 1
// array binb = 1 0.8 0.5 0.2 0 -1
// array data_bins = zeros
struct cartesian { float x, y, z; };
static int bin_of(int nbins, const float *binb, float dot) {
  int min = 0, max = nbins, k;
  while (max > min + 1) {
    k = (min + max) / 2;
    if (dot >= binb[k]) max = k;
    else min = k;
  }
  if (dot >= binb[min]) return min;
  return dot < binb[max] ? max + 1 : max;
}
int do_compute(int n, int nbins, const float x[n], const float y[n], const float z[n], const float binb[nbins + 1], long long data_bins[nbins + 2]) {
  for (int i = 0; i < n - 1; i++) {
    const register float xi = x[i], yi = y[i], zi = z[i];
    struct cartesian c = {xi, yi, zi};
    for (int j = i + 1; j < n; j++) {
      register float dot = c.x * x[j] + c.y * y[j] + c.z * z[j];
      data_bins[bin_of(nbins, binb, dot)] += 1;
    }
  }
  return 0;
}
// ----
// data_bins = 0 0 0 8 83 0 0
// return = 0
