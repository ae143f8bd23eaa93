//! Elements that a condition sets, in lanes: those that it does not mean keep their bits.

use crate::common::{Cells, Given, check, kernel, scalar};
use strew_affine::{Type, Value};
use strew_jit::{Options, compile};
use strew_runtime::Mode;

/// Values of `ty` between -9 and 9, some of them zeros of either sign.
fn some(ty: Type, count: usize, seed: usize) -> Given {
    let value = |it: usize| {
        let number = ((it * 7 + seed) % 19) as i64 - 9;
        match ty.is_float() {
            true if number == 3 => Value::float(ty, -0.0),
            true => Value::float(ty, number as f64 * 0.5),
            false if ty.is_signed() => Value::integer(ty, number.into()),
            false => Value::integer(ty, (number + 9).into()),
        }
    };
    let values: Vec<_> = (0..count).map(value).collect();
    Given::Array(Cells::of(ty, &values))
}

const BODIES: [&str; 11] = [
    "scf.if x[i] > 1 { y[i] = x[i] }",
    "scf.if x[i] > 1 { y[i] reduce(add) x[i] }",
    "scf.if x[i] < z[i] { y[i] = z[i] } else { y[i] = x[i] }",
    "scf.if x[i] < z[i] { y[i] reduce(add) z[i] z[i] = x[i] } else { z[i] reduce(max) x[i] }",
    "scf.if c[i] > 0 { y[i] = x[i] y[i] reduce(add) 1 w[2 * i] = y[i] }",
    "y[i] = z[i] scf.if c[i] > 2 { y[i] reduce(add) x[i] } z[i] = y[i]",
    "scf.if c[i] < 0 { w[2 * i] = x[i] w[2 * i + 1] = z[i] }",
    "scf.if x[i] > 0 { y[n - 1 - i] = z[i] }",
    "let b: bool = c[i] == 3 || x[i] > 2 scf.if b { y[i] = x[i] } scf.if !b { z[i] reduce(min) y[i] }",
    "scf.if x[i] > 1 { y[i] = z[i + 1] }",
    "var v: t = x[i] scf.if v > 2 { v = 2 y[i] = v } else { y[i] = v v = v + v } z[i] = v",
];

fn over(ty: Type, body: &str) -> String {
    let one = if ty.is_float() { ".0" } else { "" };
    let mut body = body.replace(": t ", &format!(": {ty} "));
    for number in ["> 0", "> 1", "> 2", "add) 1", "= 2"] {
        body = body.replace(&format!("x[i] {number}"), &format!("x[i] {number}{one}"));
        body = body.replace(&format!("v {number}"), &format!("v {number}{one}"));
        body = body.replace(
            &format!("y[i] reduce({number}"),
            &format!("y[i] reduce({number}{one}"),
        );
    }
    format!(
        "kernel @k(n: i64, c: i16[n], x: {ty}[n], y: {ty}[n], z: {ty}[n + 1], w: {ty}[2 * n]) {{
           affine.for i in 0..n lanes 16 {{ {body} }}
         }}"
    )
}

#[test]
fn lanes_that_are_not_meant_keep_their_elements() {
    for ty in [
        Type::I8,
        Type::U8,
        Type::I16,
        Type::I32,
        Type::I64,
        Type::F32,
        Type::F64,
    ] {
        for body in BODIES {
            for n in [0_usize, 5, 16, 37] {
                let arrays = [n, n, n + 1, 2 * n].into_iter().enumerate();
                let arrays = arrays.map(|(seed, count)| some(ty, count, seed * 5));
                let given: Vec<_> = [scalar(n as i64), some(Type::I16, n, 3)]
                    .into_iter()
                    .chain(arrays)
                    .collect();
                let source = over(ty, body);
                let outcome = check(&source, &given);
                assert!(outcome.is_ok(), "{outcome:?}\n{source}");
            }
        }
    }
}

#[test]
fn both_sides_are_made_in_vectors() {
    for body in BODIES {
        let source = over(Type::F32, body);
        let code = compile(&kernel(&source), &Options::default()).expect("code");
        let text = code.clif(Mode::Stable).expect("its text");
        assert!(text.contains("f32x4"), "{source}");
    }
}
