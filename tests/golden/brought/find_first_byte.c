// test run
// set n = 20
// set needle = 9
// array hay = random 0 12
int find_byte(int n, const char hay[n], char needle) {
  for (int i = 0; i < n; i++) if (hay[i] == needle) return i;
  return -1;
}
// ----
// return = 6
