// test lower
void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}
// ----
// kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {
//   affine.for i in 0..n {
//     out[seg[i]] reduce(add) f64(x[i])
//   }
// }
