// test run
// set n = 6
// set m = 7
// array row = 0 2 3 5 6 7 7
// array col = 1 2 3 3 4 5 5
// array indeg = zeros
// array order = zeros
void topological(int n, int m, const int row[n+1], const int col[m], int indeg[n], int order[n]) {
  int top = 0, stack[n], k = 0;
  for (int e = 0; e < m; e++) indeg[col[e]]++;
  for (int v = n; v-- > 0; ) if (!indeg[v]) stack[top++] = v;
  while (top) {
    int v = stack[--top];
    order[k++] = v;
    for (int e = row[v]; e != row[v+1]; ++e)
      if (--indeg[col[e]] == 0) stack[top++] = col[e];
  }
  while (k < n) order[k++] = -1;
}
// ----
// order = 0 2 4 1 3 5
