//! Combiners of several parts and with parameters: serial, in chunks that share buffers and in
//! chunks of their own, on the values where they could go wrong.

use crate::common::{Cells, Given, executed, interpreted, kernel, same, scalar};
use strew_affine::interpret::ForallOrder;
use strew_affine::{Type, Value};
use strew_jit::{Options, Target, compile};
use strew_runtime::Settings;

/// Zeros of both signs, NaN, infinities, ends of ranges; many ties.
fn values(ty: Type, count: usize) -> Vec<Value> {
    let (low, high) = ty.integer_range().unwrap_or_default();
    let integers = [0, 1, low, high, low, 1, high - 1, low + 1];
    let floats = [
        f64::NAN,
        f64::NEG_INFINITY,
        0.0,
        -0.0,
        f64::NEG_INFINITY,
        2.5,
        f64::INFINITY,
        2.5,
        f64::NAN,
    ];
    let value = |position: usize| {
        let at = position * 5 + position / 7;
        if ty.is_float() {
            Value::float(ty, floats[at % floats.len()])
        } else {
            Value::integer(ty, integers[at % integers.len()])
        }
    };
    (0..count).map(value).collect()
}

#[track_caller]
fn check(source: &str, given: &[Given]) {
    let kernel = kernel(source);
    let expected = interpreted(&kernel, given, ForallOrder::Forward);
    assert!(expected.is_ok(), "{source}: {expected:?}");
    assert!(same(
        &expected,
        &interpreted(&kernel, given, ForallOrder::Backward)
    ));
    for target in [Target::Native, Target::Baseline] {
        let code = compile(
            &kernel,
            &Options {
                target,
                ..Options::default()
            },
        );
        let code = code.unwrap_or_else(|error| panic!("{source}: {error}"));
        for threads in [1, 2, 5] {
            let found = executed(&code, given, threads, &Settings::default());
            assert!(
                same(&expected, &found),
                "{source}, {threads} threads: {found:?}"
            );
        }
    }
}

const UPDATES: usize = 500;

/// Every cell is met by some update but the last ones, which nothing touches.
fn keys(cells: usize) -> Cells {
    let keys = (0..UPDATES).map(|i| Value::i64((i * 13 % cells.saturating_sub(3).max(1)) as i64));
    Cells::of(Type::I64, &keys.collect::<Vec<_>>())
}

fn chunked(clauses: &str, params: &str, update: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i64, key: i64[n], {params}) {{
           scf.forall c in 0..8 {clauses} strategy(dense) {{
             affine.for i in (c * n) floordiv 8..(c * n + n) floordiv 8 {{ {update} }}
           }}
         }}"
    )
}

#[test]
fn pairs_on_every_type() {
    for combiner in ["argmax", "argmin"] {
        for ty in Type::ELEMENTS {
            if ty == Type::Bool {
                continue;
            }
            for (payload, cells) in [(Type::I64, 37), (Type::U8, 3), (Type::F32, 2000)] {
                let clauses = format!(
                    "private((p: {ty}[m], q: {payload}[m]) = identity({combiner})) merge((best, arg) reduce({combiner}) (p, q))"
                );
                let params = format!("x: {ty}[n], best: {ty}[m], arg: {payload}[m]");
                let update = |best: &str, arg: &str| {
                    format!(
                        "({best}[key[i]], {arg}[key[i]]) reduce({combiner}) (x[i], {payload}(i))"
                    )
                };
                let serial = format!(
                    "kernel @k(n: i64, m: i64, key: i64[n], {params}) {{ affine.for i in 0..n {{ {} }} }}",
                    update("best", "arg")
                );
                let shared = chunked(&clauses, &params, &update("p", "q"));
                // A read of the buffers makes every chunk have its own.
                let own = chunked(
                    &clauses,
                    &params,
                    &format!("scf.if q[0] == q[0] {{ {} }}", update("p", "q")),
                );
                let given = [
                    scalar(UPDATES as i64),
                    scalar(cells as i64),
                    Given::Array(keys(cells)),
                    Given::Array(Cells::of(ty, &values(ty, UPDATES))),
                    Given::Array(Cells::of(ty, &values(ty, cells))),
                    Given::Array(Cells::of(payload, &vec![Value::zero(payload); cells])),
                ];
                let reference = interpreted(&kernel(&serial), &given, ForallOrder::Forward);
                for source in [&serial, &shared, &own] {
                    check(source, &given);
                    let found = interpreted(&kernel(source), &given, ForallOrder::Forward);
                    assert!(same(&reference, &found), "{source}");
                }
            }
        }
    }
}

#[test]
fn the_last_of_equals_and_places_of_different_kinds() {
    for combiner in ["argmax_last", "argmin_last", "argmax", "argmin"] {
        let source = format!(
            "kernel @k(n: i64, m: i64, key: i64[n], x: f64[n], best: f64[m], arg: i32[m]) {{
               var top: f64 = x[0]
               var where: i32 = 0
               affine.for i in 0..n {{
                 (top, where) reduce({combiner}) (x[i], i32(i))
                 (best[key[i]], arg[key[i]]) reduce({combiner}) (x[i], i32(i))
               }}
               best[0] = top
               arg[0] = where
             }}"
        );
        let given = [
            scalar(UPDATES as i64),
            scalar(11_i64),
            Given::Array(keys(11)),
            Given::Array(Cells::of(Type::F64, &values(Type::F64, UPDATES))),
            Given::Array(Cells::of(Type::F64, &values(Type::F64, 11))),
            Given::Array(Cells::of(Type::I32, &[Value::zero(Type::I32); 11])),
        ];
        check(&source, &given);
    }
}

#[test]
fn counting_up_to_a_limit() {
    for (ty, limits) in [
        (Type::U8, [255, 7, 200]),
        (Type::I8, [127, -100, 0]),
        (Type::I32, [2, 1000, i128::from(i32::MAX)]),
        (Type::U64, [1, 99, i128::from(u64::MAX)]),
    ] {
        for limit in limits {
            let by = format!("add_sat({limit})");
            let (low, _) = ty.integer_range().unwrap_or_default();
            let clauses = format!("private(p: {ty}[m] = identity({by})) merge(h reduce({by}) p)");
            let update = format!("p[key[i]] reduce({by}) {}", low + 1);
            let source = chunked(&clauses, &format!("h: {ty}[m]"), &update);
            let given = [
                scalar(UPDATES as i64),
                scalar(9_i64),
                Given::Array(keys(9)),
                Given::Array(Cells::of(ty, &values(ty, 9))),
            ];
            check(&source, &given);
        }
    }
}
