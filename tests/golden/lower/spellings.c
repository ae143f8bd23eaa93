// test lower
// Every spelling of a reduction, and some that look like one and are not.
void spellings(int64_t n, const int32_t k[n], const float x[n], int32_t h[8], float lo[8], float hi[8], int8_t small[8]) {
  for (int64_t i = 0; i < n; i++) {
    h[k[i]]++;
    h[k[i]] -= 2;
    h[k[i]] = h[k[i]] + k[i];
    small[k[i]] += k[i];
    if (x[i] < lo[k[i]]) lo[k[i]] = x[i];
    hi[k[i]] = x[i] > hi[k[i]] ? x[i] : hi[k[i]];
    // The tie keeps the last, and a product in double rounds differently.
    if (x[i] >= hi[k[i]]) hi[k[i]] = x[i];
    lo[k[i]] += 0.5 * x[i];
    h[k[i]] += 0.5 * x[i];
  }
}
// ----
// kernel @spellings(n: i64, k: i32[n], x: f32[n], h: i32[8], lo: f32[8], hi: f32[8], small: i8[8]) {
//   affine.for i in 0..n {
//     h[k[i]] reduce(add) 1
//     h[k[i]] reduce(add) -2
//     h[k[i]] reduce(add) k[i]
//     small[k[i]] reduce(add) i8(k[i])
//     lo[k[i]] reduce(min) x[i]
//     hi[k[i]] reduce(max) x[i]
//     hi[k[i]] reduce(max_last) x[i]
//     lo[k[i]] = f32(f64(lo[k[i]]) + 0.5 * f64(x[i]))
//     h[k[i]] = i32(f64(h[k[i]]) + 0.5 * f64(x[i]))
//   }
// }
