//! An index out of range is an error that tells where, and every output is as it was before the
//! call.
#![allow(clippy::print_stdout)]

use strew::{Compiler, Error, FaultKind};

const SOURCE: &str = "
void segment_max(int64_t n, int64_t m, const int64_t seg[n], const float x[n], float out[m]) {
  for (int64_t i = 0; i < n; i++)
    if (x[i] > out[seg[i]])
      out[seg[i]] = x[i];
}";

fn main() -> Result<(), Error> {
    let program = Compiler::new().compile("segment_max.c", SOURCE)?;
    let kernel = program.kernel("segment_max")?;

    let mut out = [0.5_f32, 0.5];
    let outcome = kernel
        .bind()
        .array("seg", &[0_i64, 1, -3])
        .array("x", &[1.0_f32, 2.0, 3.0])
        .array_mut("out", &mut out)
        .run();

    let Err(Error::Fault(fault)) = outcome else {
        panic!("expected a fault, found {outcome:?}");
    };
    println!("{fault}");
    assert_eq!(fault.position().line, 5);
    assert_eq!(fault.iteration(), [("i".to_owned(), 2)]);
    assert!(matches!(
        fault.kind(),
        FaultKind::OutOfRange {
            index: -3,
            extent: 2,
            ..
        }
    ));
    assert_eq!(out, [0.5, 0.5]);
    Ok(())
}
