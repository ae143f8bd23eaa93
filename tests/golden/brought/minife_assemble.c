// test run
// set nelem = 4
// set nrows = 6
// set nnz = 24
// array elem = 0 1 2 1 2 3 2 3 4 3 4 5
// array ptr = 0 4 8 12 16 20 24
// array cols = 0 1 2 3 0 1 2 3 0 1 2 4 1 2 3 4 2 3 4 5 0 3 4 5
// array ke = random -1 1
// array coefs = zeros
// array lost = zeros
static int find(const int *list, int len, int item) {
  int lo = 0, hi = len - 1;
  while (lo <= hi) {
    int mid = lo + ((hi - lo) >> 1);
    if (list[mid] == item) return mid;
    if (list[mid] < item) lo = mid + 1;
    else hi = mid - 1;
  }
  return -1;
}
void assemble(int nelem, int nrows, int nnz, const int elem[nelem][3], const int ptr[nrows + 1], const int cols[nnz], const double ke[nelem][3][3], double coefs[nnz], int lost[1]) {
  for (int e = 0; e < nelem; ++e) {
    for (int i = 0; i < 3; ++i) {
      int row = elem[e][i];
      const int *row_cols = &cols[ptr[row]];
      double *row_coefs = &coefs[ptr[row]];
      int row_len = ptr[row + 1] - ptr[row];
      for (int j = 0; j < 3; ++j) {
        int loc = find(row_cols, row_len, elem[e][j]);
        if (loc < 0) { lost[0]++; continue; }
        row_coefs[loc] += ke[e][i][j];
      }
    }
  }
}
// ----
// coefs = 0.10416666666666667 -0.8958333333333334 0.20833333333333334 0 0.20833333333333334 -0.8541666666666666 0.3125 -0.9166666666666666 0.041666666666666664 -0.6875 -1.3958333333333335 0.2708333333333333 -0.9583333333333334 0.375 -0.8541666666666666 -1.8125 … checksum 15f3b0c4896bb5e6
// lost = 3
