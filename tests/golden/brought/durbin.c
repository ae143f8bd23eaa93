// test run
// set n = 8
// array r = 0.5 0.25 0.125 0.0625 0.03 0.02 0.01 0.005
// array y = zeros
void durbin(int n, const double r[n], double y[n]) {
  double z[n];
  double alpha, beta, sum;
  int i, k;
  y[0] = -r[0];
  beta = 1.0;
  alpha = -r[0];
  for (k = 1; k < n; k++) {
    beta = (1 - alpha * alpha) * beta;
    sum = 0.0;
    for (i = 0; i < k; i++) sum += r[k - i - 1] * y[i];
    alpha = -(r[k] + sum) / beta;
    for (i = 0; i < k; i++) z[i] = y[i] + alpha * y[k - i - 1];
    for (i = 0; i < k; i++) y[i] = z[i];
    y[k] = alpha;
  }
}
// ----
// y = -0.5000375028388073 0.00002430870935364011 -0.0000027789227909804488 -0.0008333331944253337 0.005416697919032342 -0.0091668744381185 0.0033337072115744784 -0.00000016668960034286496
