// test schedule
// step shift(scatter, i, 1)
// step hoist(half, j)
void f(int n, const double raw[n], double clean[n], const int key[n], double out[n], double y[n][n]) {
  for (int i = 0; i < n; i++) {
    clean[i] = raw[i] * 0.5;
    scatter: out[key[i]] += clean[i];
  }
  double t = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      half: t = raw[i] * 0.5;
      y[i][j] = t;
    }
}
// ----
// kernel @f(n: i32, raw: f64[n], clean: f64[n], key: i32[n], out: f64[n], y: f64[n, n]) {
//   affine.for i_f in 0..min(n, 1) {
//     clean[i_f] = raw[i_f] * 0.5
//   }
//   affine.for i in 1..n {
//     clean[i] = raw[i] * 0.5
//     scatter: out[key[i - 1]] reduce(add) clean[i - 1]
//   }
//   affine.for i_l in max(0, n - 1)..n {
//     scatter: out[key[i_l]] reduce(add) clean[i_l]
//   }
//   var t: f64 = 0.0
//   affine.for i_2 in 0..n {
//     affine.if (0 < n) {
//       half: t = raw[i_2] * 0.5
//       affine.for j in 0..n {
//         y[i_2, j] = t
//       }
//     }
//   }
// }
