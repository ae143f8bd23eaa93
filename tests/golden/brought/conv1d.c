// test run
// set n = 12
// set k = 3
// array in = 3 0 -1 5 5 1 4 -5 3 -1 -4 4
// array w = 0.25 0.5 0.25
// array out = 0 0 0 0 0 0 0 0 0 0
void conv1d(int n, int k, const float *in, const float *w, float *out) {
  for (int i = 0; i + k <= n; i++) {
    float acc = 0.f;
    for (int j = 0; j < k; j++) acc += in[i + j] * w[j];
    out[i] = acc;
  }
}
// ----
// out = 0.5 0.75 3.5 4 2.75 1 -0.75 0 -0.75 -1.25
