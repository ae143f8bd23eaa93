//! The block of README.md that calls a kernel from Rust, with what stands around it.

/// The kernel that is called.
const SOURCE: &str = include_str!("kernels/segment_sum.c");

pub(crate) fn main() -> Result<(), strew::Error> {
    let (n, m) = (4, 2);
    let (seg, x) = ([0, 1, 0, 1], [1.0, 2.0, 4.0, 8.0]);
    let mut out = [0.0; 2];

    let program = strew::Compiler::new().compile("segment_sum.c", SOURCE)?;
    let kernel = program.kernel("segment_sum")?;

    // Types that are checked once; a handle that can be cloned, kept and called from any thread.
    let sum = kernel.typed::<(i64, i32, &[i32], &[f32], &mut [f64])>()?;
    sum.call((n, m, &seg, &x, &mut out))?;

    // Or by name, sizes left to be found.
    kernel
        .bind()
        .array("seg", &seg)
        .array("x", &x)
        .array_mut("out", &mut out)
        .run()?;

    assert_eq!(out, [10.0, 20.0]);
    Ok(())
}
