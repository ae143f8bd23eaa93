// test run
// set n = 70
// set k = 9
// array x = random -100 100
// array y = random -100 100
double returned_values(int n, int k, const int x[n], const double y[n]) {
  if (n <= 0) return -1;
  double sum = 0;
  for (int i = 0; i < n; i++) {
    sum += x[i] * y[i];
    if (x[i] == k) return i;
    if (sum > 100000) return 1;
  }
  switch (k) {
    case 1: return sum / 2;
    case 9: break;
    default: return 7;
  }
  return sum + 0.5;
}
// ----
// return = 38473.89583333333
