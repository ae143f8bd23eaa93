// test run
// set n = 12
// set m = 8
// array src = 0 3 5 7 9 2 4 1
// array dst = 1 4 6 8 10 3 5 0
// array parent = zeros
static int find(int n, int parent[n], int x) {
  while (parent[x] != x) { parent[x] = parent[parent[x]]; x = parent[x]; }
  return x;
}
int components(int n, int m, const int src[m], const int dst[m], int parent[n]) {
  int count = n;
  for (int v = 0; v < n; v++) parent[v] = v;
  for (int e = 0; e < m; e++) {
    int a = find(n, parent, src[e]), b = find(n, parent, dst[e]);
    if (a == b) continue;
    if (a < b) parent[b] = a; else parent[a] = b;
    count--;
  }
  return count;
}
// ----
// parent = 0 0 2 2 2 2 5 7 7 9 9 11
// return = 5
