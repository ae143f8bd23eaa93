//! Keys cannot change while a plan is in use.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    let mut a = vec![0; 4];
    let plan = kernel.plan(&a);
    a[0] = 1;
    let k = plan.typed::<(i32, &[i32], &mut [i32])>()?;
    k.call((4, &a, &mut [0; 4]))?;
    Ok(())
}
