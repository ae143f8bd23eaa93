// test run
// set n = 5
// array key = 0 1 0 1 0
// array x = 3 8 7 2 7
// array odd = 1 0 1 0 0
// array best = 0 0
// array was_odd = 0 0
void argmax_with_bool(int n, const int key[n], const int x[n], const _Bool odd[n], int best[2], _Bool was_odd[2]) {
  for (int i = 0; i < n; i++)
    if (x[i] > best[key[i]]) {
      best[key[i]] = x[i];
      was_odd[key[i]] = odd[i];
    }
}
// ----
// best = 7 8
// was_odd = 1 0
