//! One array cannot be bound to two parameters when one of them is written.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    let mut a = vec![0; 4];
    kernel.bind().array("a", &a).array_mut("b", &mut a).run()
}
