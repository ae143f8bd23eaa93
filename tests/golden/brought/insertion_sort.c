// test run
// set n = 30
// array a = random -50 50
void insertion_sort(int n, int a[n]) {
  for (int i = 1; i < n; i++) {
    int key = a[i], j = i;
    for (; j > 0 && a[j - 1] > key; --j) a[j] = a[j - 1];
    a[j] = key;
  }
}
// ----
// a = -42 -35 -34 -23 -21 -21 -19 -19 -17 -14 -5 -3 9 11 12 12 … checksum 5e03e9c59f104956
