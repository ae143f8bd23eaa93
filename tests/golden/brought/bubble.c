// test run
// set n = 12
// array a = -48 50 1 37 25 43 17 -8 11 39 20 19
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
void bubble(int n, int *a) {
  int swapped;
  do {
    swapped = 0;
    for (int i = 1; i < n; i++)
      if (a[i - 1] > a[i]) { swap(&a[i - 1], &a[i]); swapped = 1; }
  } while (swapped);
}
// ----
// a = -48 -8 1 11 17 19 20 25 37 39 43 50
