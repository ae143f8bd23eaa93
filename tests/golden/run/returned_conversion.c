// test run
// set n = 70
// array x = random -100 100
unsigned char returned_conversion(int n, const int x[n]) {
  int count = 0;
  for (int i = 0; i < n; i++) {
    if (x[i] < -90) continue;
    count += x[i] > 0 ? 7 : -3;
  }
  return count;
}
// ----
// return = 139
