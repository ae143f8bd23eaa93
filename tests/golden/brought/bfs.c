// test run
// set n = 6
// set m = 10
// set source = 0
// array row = 0 2 4 6 8 9 10
// array col = 1 2 0 3 0 3 1 4 3 5
// array dist = zeros
// array queue = zeros
int bfs(int n, int m, const int row[n + 1], const int col[m], int source, int dist[n], int queue[n]) {
  int head = 0, tail = 0;
  for (int v = 0; v < n; v++) dist[v] = -1;
  dist[source] = 0;
  queue[tail++] = source;
  while (head < tail) {
    int u = queue[head++];
    for (int e = row[u]; e < row[u + 1]; e++) {
      int v = col[e];
      if (dist[v] < 0) { dist[v] = dist[u] + 1; queue[tail++] = v; }
    }
  }
  return tail;
}
// ----
// dist = 0 1 1 2 3 -1
// queue = 0 1 2 3 4 0
// return = 5
