//! Arguments by name, sizes found from the arrays, and a report of what ran.
#![allow(clippy::print_stdout)]

use strew::Compiler;

const SOURCE: &str = "
void segment_sum(int64_t n, int32_t d, int32_t m,
                 const int32_t seg[n], const float x[n][d], double out[m][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int32_t j = 0; j < d; j++)
      out[seg[i]][j] += x[i][j];
}";

fn main() -> Result<(), strew::Error> {
    let program = Compiler::new().compile("segment_sum.c", SOURCE)?;
    let kernel = program.kernel("segment_sum")?;

    let seg = [1, 0, 1];
    let x = [1.0_f32, 2.0, 3.0, 4.0, 5.0, 6.0];
    let mut out = [0.0_f64; 4];
    let report = kernel
        .bind()
        .array("seg", &seg) // n is 3, …
        .array("x", &x) // … so d is 2, …
        .array_mut("out", &mut out) // … and m is 2.
        .run_with_report()?;

    println!(
        "{out:?}, by the strategy {} in {:?}",
        report.record.strategy, report.record.total
    );
    assert_eq!(out, [3.0, 4.0, 6.0, 8.0]);
    Ok(())
}
