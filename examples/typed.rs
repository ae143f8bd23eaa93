//! A kernel with Rust types that are checked once, called many times.
#![allow(clippy::print_stdout)]

use strew::Compiler;

const SOURCE: &str = "
void histogram(int64_t n, int32_t m, const int32_t key[n], int32_t h[m]) {
  for (int64_t i = 0; i < n; i++)
    h[key[i]]++;
}";

fn main() -> Result<(), strew::Error> {
    let program = Compiler::new().compile("histogram.c", SOURCE)?;
    let kernel = program.kernel("histogram")?;
    let histogram = kernel.typed::<(i64, i32, &[i32], &mut [i32])>()?;

    let mut bins = [0; 6];
    for batch in [[1, 2, 2, 5], [0, 2, 5, 5]] {
        histogram.call((4, 6, &batch, &mut bins))?;
    }
    println!("{bins:?}");
    assert_eq!(bins, [1, 1, 3, 0, 0, 3]);
    Ok(())
}
