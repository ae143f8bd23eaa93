// test check
void scale(int n, double factor, double values[n]) {
  for (int i = 0; i < n; i++)
    value[i] *= facto;
}
// ----
// error[E030]: nothing is called `value` here
//  --> names.c:4:5
//   |
// 4 |     value[i] *= facto;
//   |     ^^^^^
//   |
//   = help: did you mean `values`?
//
// error[E030]: nothing is called `facto` here
//  --> names.c:4:17
//   |
// 4 |     value[i] *= facto;
//   |                 ^^^^^
//   |
//   = help: did you mean `factor`?
