// test run
// set n = 8
// set key = 13
// array a = 1 3 5 8 13 21 34 55
int binary_search(int n, const int a[n], int key) {
  int lo = 0, hi = n - 1;
  while (lo <= hi) {
    int mid = lo + (hi - lo) / 2;
    if (a[mid] == key) return mid;
    if (a[mid] < key) lo = mid + 1; else hi = mid - 1;
  }
  return -(lo + 1);
}
// ----
// return = 4
