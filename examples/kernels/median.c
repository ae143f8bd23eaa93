// The median of each three neighbours, by way of a window that all iterations share.
void median(int n, const double x[n + 2], double y[n]) {
  double window[3];
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 3; j++)
      window[j] = x[i + j];
    double low = window[0] < window[1] ? window[0] : window[1];
    double high = window[0] < window[1] ? window[1] : window[0];
    double rest = high < window[2] ? high : window[2];
    y[i] = low < rest ? rest : low;
  }
}
