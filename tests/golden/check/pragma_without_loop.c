// test check
#pragma strew unroll(i, 4)
void f(int n, float x[n]) {
  for (int i = 0; i < n; i++)
    x[i] = 1;
}
#pragma strew unroll(i, 4)
// ----
// error[E050]: no `for` loop follows this `#pragma strew`
//  --> pragma_without_loop.c:2:15
//   |
// 2 | #pragma strew unroll(i, 4)
//   |               ^^^^^^^^^^^^
//   |
//   = help: put it on the line above a `for` loop
//
// error[E050]: no `for` loop follows this `#pragma strew`
//  --> pragma_without_loop.c:7:15
//   |
// 7 | #pragma strew unroll(i, 4)
//   |               ^^^^^^^^^^^^
//   |
//   = help: put it on the line above a `for` loop
