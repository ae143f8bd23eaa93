//! One array cannot be read and written by the same call.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    let k = kernel.typed::<(i32, &[i32], &mut [i32])>()?;
    let mut a = vec![0; 4];
    k.call((4, &a, &mut a))?;
    Ok(())
}
