// test run
// set n = 10
// array a = 3 0 9 -1 2 -1 -5 0 1 -3
void prefix(int n, int *a) { for (int s = 1; s < n; s *= 2) for (int i = n - 1; i >= s; i--) a[i] += a[i - s]; }
// ----
// a = 3 3 12 11 13 12 7 7 8 5
