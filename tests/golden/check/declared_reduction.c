// test check
static double decayed(double a, double b) { return b == 0 ? a : 0.5 * a + b; }
static double sum(double a, double b) { return a + b; }
#pragma strew declare reduction(decayed : double : decayed(a, b)) identity(0)
#pragma strew declare reduction(sum : double : sum(a, b)) identity(-0.0)
#pragma strew declare reduction(mul : double : a * b) identity(1)
void f(int n, const int key[n], const double x[n], double out[n]) {
  for (int i = 0; i < n; i++)
    out[key[i]] = decayed(out[key[i]], x[i]);
}
// ----
// warning[W100]: `decayed` is no reduction: with a = 1.0, b = 1.0, c = 1.0: (a with b) with c gives 1.75, but a with (b with c) gives 2.0
//  --> declared_reduction.c:4:23
//   |
// 4 | #pragma strew declare reduction(decayed : double : decayed(a, b)) identity(0)
//   |                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//   |
//   = help: updates by it stay in the order of the loop
//
// error[E100]: `mul` is a reduction that is built in
//  --> declared_reduction.c:6:33
//   |
// 6 | #pragma strew declare reduction(mul : double : a * b) identity(1)
//   |                                 ^^^
//   |
//   = help: give it another name
