// test run
// set n = 8
// set m = 6
// array u = 0 2 4 1 6 3
// array v = 1 3 5 2 7 0
// array parent = zeros
// array rank = zeros
static int find(int *parent, int x) {
  while (parent[x] != x)
    x = parent[x] = parent[parent[x]];
  return x;
}
static _Bool unite(int *parent, int *rank, int a, int b) {
  int ra = find(parent, a), rb = find(parent, b);
  if (ra == rb) return 0;
  if (rank[ra] < rank[rb]) { int t = ra; ra = rb; rb = t; }
  parent[rb] = ra;
  if (rank[ra] == rank[rb]) ++rank[ra];
  return 1;
}
int components(int n, int m, const int u[m], const int v[m], int parent[n], int rank[n]) {
  int count = n;
  for (int i = 0; i < n; i++) parent[i] = i;
  for (const int *a = u, *b = v; a < u + m; a++, b++)
    if (unite(parent, rank, *a, *b)) count--;
  return count;
}
// ----
// parent = 0 0 0 0 4 4 6 6
// rank = 2 0 1 0 1 0 1 0
// return = 3
