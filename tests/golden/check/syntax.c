// test check
void f(int n, int a[n]) {
  a[0] = ;
  a[1] = 1;
  a[2 = 3;
}
void g(int n int m) {}
// ----
// error[E010]: expected an expression, found `;`
//  --> syntax.c:3:10
//   |
// 3 |   a[0] = ;
//   |          ^
//
// error[E010]: expected `]` or `,`, found `;`
//  --> syntax.c:5:10
//   |
// 5 |   a[2 = 3;
//   |          ^
//
// error[E010]: expected `)`, `,` or `[`, found `int`
//  --> syntax.c:7:14
//   |
// 7 | void g(int n int m) {}
//   |              ^^^
