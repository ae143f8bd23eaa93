// test schedule
// step tile_indirection_using_forall(i, reduction(out) = both)
static unsigned both(unsigned a, unsigned b) { return a + b + a * b; }
#pragma strew declare reduction(both : unsigned : both(a, b)) identity(0)
void f(int n, const int key[n], const unsigned x[n], unsigned out[n]) {
  for (int i = 0; i < n; i++)
    out[key[i]] = both(out[key[i]], x[i]);
}
// ----
// reduction @both(a, b: u32) = a + b + a * b identity(0)
// kernel @f(n: i32, key: i32[n], x: u32[n], out: u32[n]) {
//   scf.forall i_c in 0..8 private(out_p: u32[n] = identity(both)) merge(out reduce(both) out_p) strategy(auto) {
//     affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {
//       out_p[key[i]] reduce(both) x[i]
//     }
//   }
// }
