// test run
// set n = 7
// array s = 1 2 3 4 5 6 7
void reverse(int n, char *s) {
  char *l = s, *r = s + n - 1;
  while (l < r) { char t = *l; *l++ = *r; *r-- = t; }
}
// ----
// s = 7 6 5 4 3 2 1
