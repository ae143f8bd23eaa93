// test run
// set n = 6
// set m = 8
// array row = 0 1 3 4 6 7 8
// array col = 1 0 2 1 4 3 3 5
// array label = zeros
#include <stdbool.h>
int label_propagation(int n, int m, const int row[n + 1], const int col[m], int label[n]) {
  bool changed;
  int rounds = 0;
  for (int v = 0; v < n; v++) label[v] = v;
  do {
    changed = false;
    for (int v = 0; v < n; v++) {
      int best = label[v];
      for (int e = row[v]; e < row[v + 1]; e++)
        if (label[col[e]] < best) best = label[col[e]];
      if (best != label[v]) { label[v] = best; changed = true; }
    }
    rounds++;
  } while (changed);
  return rounds;
}
// ----
// label = 0 0 0 3 3 5
// return = 2
