// test check
void f(int n, int a[n]) {
  f(n, a);
}
// ----
// error[E032]: `f` calls itself; kernels cannot be recursive
//  --> recursion.c:3:3
//   |
// 3 |   f(n, a);
//   |   ^
//   |
//   = help: write a loop
