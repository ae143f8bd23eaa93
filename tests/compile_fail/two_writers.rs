//! One array cannot be written through two parameters.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    let mut a = vec![0; 4];
    kernel
        .bind()
        .array_mut("a", &mut a)
        .array_mut("b", &mut a)
        .run()
}
