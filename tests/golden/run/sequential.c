// test run
// set n = 12
// array x = random 0 9
// array sum = zeros
void prefix_sum(int n, const int x[n], int sum[n]) {
  int running = 0;
  for (int i = 0; i < n; i++) {
    running += x[i];
    sum[i] = running;
  }
}
// ----
// sum = 5 13 15 23 30 32 33 39 41 42 50 56
