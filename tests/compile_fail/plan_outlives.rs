//! What a plan gives out does not outlive the keys.
fn main() -> Result<(), strew::Error> {
    let program =
        strew::Compiler::new().compile("k.c", "void k(int n, const int a[n], int b[n]) {}")?;
    let kernel = program.kernel("k")?;
    let k = {
        let a = vec![0; 4];
        kernel.plan(&a).typed::<(i32, &[i32], &mut [i32])>()?
    };
    k.call((4, &[0; 4], &mut [0; 4]))?;
    Ok(())
}
