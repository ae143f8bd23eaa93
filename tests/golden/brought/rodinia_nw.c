// test run
// set rows = 8
// set cols = 7
// array seq1 = random 0 3
// array seq2 = random 0 3
// array score = zeros
#define LIMIT -999
static int maximum(int a, int b, int c) {
  int k;
  if (a <= b) k = b;
  else k = a;
  if (k <= c) return (c);
  else return (k);
}
void needle(int rows, int cols, const int seq1[rows], const int seq2[cols], int score[rows * cols]) {
  static const int blosum[4][4] = {{4, -1, -2, -2}, {-1, 5, 0, -2}, {-2, 0, 6, 1}, {-2, -2, 1, 6}};
  const int penalty = 10;
  for (int i = 1; i < rows; i++) score[i * cols] = -i * penalty;
  for (int j = 1; j < cols; j++) score[j] = -j * penalty;
  for (int idx = 1; idx < rows; idx++)
    for (int i = 1; i < cols; i++) {
      int index = idx * cols + i;
      score[index] = maximum(score[index - 1 - cols] + blosum[seq1[idx]][seq2[i]], score[index - 1] - penalty, score[index - cols] - penalty);
    }
}
// ----
// score = 0 -10 -20 -30 -40 -50 -60 -10 -1 -10 -15 -25 -35 -45 -20 -11 … checksum 01b4b41178189e7a
