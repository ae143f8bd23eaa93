//! Arrays of records.

use crate::common::{Given, array, check, kernel, records, scalar};
use strew_affine::Value;
use strew_affine::evaluate::convert;
use strew_jit::{Argument, ArrayMut, Options, compile, record};
use strew_runtime::{Runtime, Settings};

/// A record of 20 bytes: no power of two, and with bytes between fields that belong to none.
const P: &str = "p: record(20) { x: f32 @ 0, on: bool @ 5, k: i16 @ 6, h: i32 @ 12 }[n]";

fn particles(source: &str, n: usize) -> Given {
    records(&kernel(source), n, |field, index| {
        let number = match field.name.as_str() {
            "k" => index * index % 7,
            _ => index * 5 % 11,
        };
        convert(field.ty, Value::i64(number as i64))
    })
}

#[track_caller]
fn check_body(body: &str) {
    let source = format!("kernel @k(n: i64, m: i64, {P}, out: i32[m]) {{ {body} }}");
    let n = 100;
    let given = [
        scalar(n as i64),
        scalar(7_i64),
        particles(&source, n),
        array(&[3_i32; 7]),
    ];
    let outcome = check(&source, &given);
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn fields_are_read_and_written_where_they_lie() {
    check_body("affine.for i in 0..n { out[p.k[i]] reduce(add) p.h[i] }");
    check_body(
        "affine.for i in 0..n - 1 { p.h[i + 1] = p.h[i] * 3 + i32(p.x[i]) p.on[i] = p.k[i] == 2 }",
    );
    check_body(
        "affine.for i in 1..n { p.x[p.k[i]] reduce(add) p.x[i - 1] p.k[i] reduce(max) p.k[p.k[i]] }",
    );
    check_body("affine.for i in 0..n { scf.if p.on[i] { p.on[p.k[i]] reduce(xor) true } }");
}

#[test]
fn foralls_merge_into_fields() {
    for strategy in ["dense", "serial", "auto"] {
        check_body(&format!(
            "scf.forall c in 0..8 private(q: i32[n] = identity(add), w: i16[n] = identity(max)) merge(p.h reduce(add) q, p.k reduce(max) w) strategy({strategy}) {{
               affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 {{
                 q[i mod 7] reduce(add) i32(i)
                 w[i mod 5] reduce(max) i16(i)
               }}
             }}"
        ));
        // The inner forall merges into a buffer that may be the field itself.
        check_body(&format!(
            "scf.forall c in 0..4 private(q: i32[n] = identity(add)) merge(p.h reduce(add) q) strategy({strategy}) {{
               q[c] reduce(add) 5
               scf.forall d in 0..3 private(r: i32[n] = identity(add)) merge(q reduce(add) r) strategy({strategy}) {{
                 affine.for i in 0..n {{ r[i] reduce(add) i32(c + d + i) }}
               }}
             }}"
        ));
    }
}

/// Fields of several elements, with a gap in front of one and room behind the other.
const SITES: &str =
    "p: record(40) { k: u8 @ 0, x: f32[3] @ 4, m: i16[2, 4] @ 16, on: bool @ 36 }[n]";

#[track_caller]
fn check_sites(body: &str) {
    let source = format!("kernel @k(n: i64, {SITES}) {{ {body} }}");
    let outcome = check(&source, &[scalar(50_i64), particles(&source, 50)]);
    assert!(outcome.is_ok(), "{outcome:?}");
}

#[test]
fn elements_of_fields_are_read_and_written_where_they_lie() {
    check_sites(
        "affine.for i in 1..n { affine.for d in 0..3 { p.x[i, d] = p.x[i - 1, 2 - d] + f32(p.m[i, 1, d + 1]) } }",
    );
    check_sites(
        "affine.for i in 0..n { p.m[p.k[i], p.k[i] % 2, p.k[i] % 4] reduce(add) i16(p.x[i, p.k[i] % 3]) }",
    );
    check_sites(
        "affine.for i in 0..n { p.m[n - 1, 1, 3] reduce(max) i16(i) p.x[0, 2] reduce(add) 1.5 }",
    );
    check_sites("p.m[3, p.k[5] % 2, 2] = p.m[0, 1, 0]");
}

#[test]
fn foralls_merge_into_the_elements_of_fields() {
    for strategy in ["dense", "serial", "auto"] {
        check_sites(&format!(
            "scf.forall c in 0..8 private(q: f32[n, 3] = identity(max), w: i16[n, 2, 4] = identity(add)) merge(p.x reduce(max) q, p.m reduce(add) w) strategy({strategy}) {{
               affine.for i in 0..n {{
                 q[i mod 7, (c + i) mod 3] reduce(max) f32(i)
                 w[c, p.k[i] % 2, i mod 4] reduce(add) i16(i)
               }}
             }}"
        ));
        check_sites(&format!(
            "scf.forall c in 0..4 private(q: i16[n, 2, 4] = identity(add)) merge(p.m reduce(add) q) strategy({strategy}) {{
               q[c, 1, c] reduce(add) 5
               scf.forall d in 0..3 private(r: i16[n, 2, 4] = identity(add)) merge(q reduce(add) r) strategy({strategy}) {{
                 affine.for i in 0..n {{ r[i, i mod 2, d] reduce(add) i16(c + d + i) }}
               }}
             }}"
        ));
    }
}

#[test]
fn a_subscript_beyond_a_field_is_a_fault_even_where_the_record_goes_on() {
    let source =
        format!("kernel @k(n: i64, {SITES}) {{ affine.for i in 0..n {{ p.x[i, p.k[i]] = 1.0 }} }}");
    let words = "index 4 is out of range for `p.x`, whose extent there is 3".to_owned();
    assert_eq!(
        check(&source, &[scalar(50_i64), particles(&source, 50)]),
        Err((words, vec![("i".to_owned(), 2)]))
    );
}

#[test]
fn a_fault_leaves_records_as_they_were() {
    let source = format!(
        "kernel @k(n: i64, m: i64, {P}, out: i32[m]) {{
           affine.for i in 0..n {{ p.h[i] = 1 p.on[i] = true out[p.k[i] - 1] reduce(add) 1 }} }}"
    );
    let given = [
        scalar(10_i64),
        scalar(7_i64),
        particles(&source, 10),
        array(&[3_i32; 7]),
    ];
    let words = "index -1 is out of range for `out`, whose extent there is 7".to_owned();
    assert_eq!(
        check(&source, &given),
        Err((words, vec![("i".to_owned(), 0)]))
    );
    let out_of_field = source.replace("p.h[i] = 1", "p.h[i + 5] = 1");
    let words = "index 10 is out of range for `p.h`, whose extent there is 10".to_owned();
    let skipping = out_of_field.replace("out[p.k[i] - 1]", "out[p.k[i]]");
    assert_eq!(
        check(&skipping, &given),
        Err((words, vec![("i".to_owned(), 5)]))
    );
}

record! {
    #[derive(Debug, PartialEq)]
    struct Particle {
        x: f64,
        cell: i32,
        alive: bool,
        v: f32,
    }
}

record! {
    struct Other {
        x: f64,
        cell: i64,
        alive: bool,
        v: f32,
    }
}

const PUSH: &str = "kernel @k(n: i64, p: record(24) { x: f64 @ 0, cell: i32 @ 8, alive: bool @ 12, v: f32 @ 16 }[n], load: i32[3]) {
  affine.for i in 0..n {
    scf.if p.alive[i] { p.x[i] = p.x[i] + f64(p.v[i]) load[p.cell[i]] reduce(add) 1 }
    p.alive[i] = p.x[i] < 3.0
  } }";

#[test]
fn structs_of_the_host_are_records() {
    let code = compile(&kernel(PUSH), &Options::default()).expect("code");
    let runtime = Runtime::new(None).expect("threads");
    let particle = |x, cell, alive, v| Particle { x, cell, alive, v };
    let mut p = [
        particle(1.0, 2, true, 0.5),
        particle(5.0, 1, false, 9.0),
        particle(2.5, 2, true, 1.0),
    ];
    let mut load = [0_i32; 3];
    let mut arguments = [
        Argument::Scalar(Value::i64(3)),
        Argument::Write(ArrayMut::new(&mut p)),
        Argument::Write(ArrayMut::new(&mut load)),
    ];
    code.call_with_record(&runtime, &Settings::default(), &mut arguments)
        .expect("a call");
    let expected = [
        particle(1.5, 2, true, 0.5),
        particle(5.0, 1, false, 9.0),
        particle(3.5, 2, false, 1.0),
    ];
    assert_eq!((p, load), (expected, [0, 0, 2]));
    let mut other = [Other {
        x: 0.0,
        cell: 1,
        alive: true,
        v: 1.0,
    }];
    assert!(other[0].x < other[0].v.into() && other[0].cell == 1 && other[0].alive);
    let mut arguments = [
        Argument::Scalar(Value::i64(1)),
        Argument::Write(ArrayMut::new(&mut other)),
        Argument::Write(ArrayMut::new(&mut load)),
    ];
    let refused = code.call_with_record(&runtime, &Settings::default(), &mut arguments);
    assert_eq!(
        refused.map_err(|error| error.to_string()),
        Err("parameter `p` is an array of record(24) { x: f64 @ 0, cell: i32 @ 8, alive: bool @ 12, v: f32 @ 16 } that is written, the argument is an array of record(24) { x: f64 @ 0, cell: i64 @ 8, alive: bool @ 16, v: f32 @ 20 } that is written".to_owned())
    );
    let mut arguments = [
        Argument::Scalar(Value::i64(4)),
        Argument::Write(ArrayMut::new(&mut p)),
        Argument::Write(ArrayMut::new(&mut load)),
    ];
    let refused = code.call_with_record(&runtime, &Settings::default(), &mut arguments);
    assert_eq!(
        refused.map_err(|error| error.to_string()),
        Err("array `p` has the shape [4] with these sizes, the argument has 3 elements".to_owned())
    );
}
