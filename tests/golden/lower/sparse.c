// test lower
void spmv(int32_t rows, int32_t nonzeros, int32_t columns, const int32_t row[rows + 1], const int32_t col[nonzeros],
          const double value[nonzeros], const double x[columns], double y[rows]) {
  for (int32_t i = 0; i < rows; i++) {
    double sum = 0;
    for (int32_t k = row[i]; k < row[i + 1]; k++)
      sum += value[k] * x[col[k]];
    y[i] = sum;
  }
}
// ----
// kernel @spmv(rows: i32, nonzeros: i32, columns: i32, row: i32[rows + 1], col: i32[nonzeros], value: f64[nonzeros], x: f64[columns], y: f64[rows]) {
//   affine.for i in 0..rows {
//     var sum: f64 = 0.0
//     scf.for k in i64(row[i])..i64(row[i + 1]) {
//       sum reduce(add) value[k] * x[col[k]]
//     }
//     y[i] = sum
//   }
// }
