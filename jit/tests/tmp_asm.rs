#[test]
fn show() {
    let k = strew_affine::text::parse("kernel @k(n: i64, m: i64, key: i32[n], x: f64[n], out: f64[m]) {
      affine.for i in 0..n - 3 step 4 {
        let a: i32 = key[i] let b: i32 = key[i+1] let c: i32 = key[i+2] let d: i32 = key[i+3]
        out[a] reduce(add) x[i] out[b] reduce(add) x[i+1] out[c] reduce(add) x[i+2] out[d] reduce(add) x[i+3] } }").unwrap().remove(0);
    let c = strew_jit::compile(&strew_affine::verify::verify(k).unwrap(), &Default::default()).unwrap();
    println!("{}", c.assembly().unwrap());
}
