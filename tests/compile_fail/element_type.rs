//! A call gives the element types that its signature says.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    let k = kernel.typed::<(i32, &[i32], &mut [i32])>()?;
    let mut b = vec![0_i64; 4];
    k.call((4, &[1, 2, 3, 4], &mut b))?;
    Ok(())
}
