// test run
// set n = 12
// array text = 32 97 98 9 10 99 32 100 101 102 32 103
int word_count(int n, const char text[n]) {
  int words = 0, inside = 0;
  for (int i = 0; i < n; ++i) {
    switch (text[i]) {
    case ' ': case '\t': case '\n': inside = 0; break;
    default: if (!inside) { inside = 1; words++; }
    }
  }
  return words;
}
// ----
// return = 4
