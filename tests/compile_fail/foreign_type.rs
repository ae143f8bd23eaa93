//! A signature is made of scalars and slices of scalars.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    kernel.typed::<(i32, Vec<i32>, &mut [char])>()?;
    Ok(())
}
