// test run
// set n = 23
// array a = random -50 50
static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
static int partition(int arr[], int l, int h) {
  int x = arr[h];
  int i = (l - 1);
  for (int j = l; j <= h - 1; j++) {
    if (arr[j] <= x) {
      i++;
      swap(&arr[i], &arr[j]);
    }
  }
  swap(&arr[i + 1], &arr[h]);
  return (i + 1);
}
void quick_sort(int n, int a[n]) {
  int stack[n], top = -1, l = 0, h = n - 1;
  stack[++top] = l;
  stack[++top] = h;
  while (top >= 0) {
    h = stack[top--];
    l = stack[top--];
    int p = partition(a, l, h);
    if (p - 1 > l) { stack[++top] = l; stack[++top] = p - 1; }
    if (p + 1 < h) { stack[++top] = p + 1; stack[++top] = h; }
  }
}
// ----
// a = -49 -47 -41 -41 -31 -19 -7 1 2 3 4 6 9 16 20 25 … checksum ac015ff4205559d7
