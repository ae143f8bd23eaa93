//! The greatest and the least in lanes, and what comes with it: all have the bits that the order of
//! the loop gives with zeros of both signs, NaN, infinities, ties, loops without turns, and
//! conditions that never hold.

use crate::common::{Cells, Given, check_with, scalar};
use strew_affine::{Type, Value};
use strew_runtime::{Mode, Settings};

const COMBINERS: [&str; 12] = [
    "min",
    "max",
    "min_last",
    "max_last",
    "fmin",
    "fmax",
    "fmin_first",
    "fmax_first",
    "min_kept",
    "max_kept",
    "min_kept_first",
    "max_kept_first",
];

/// What the values of a loop are taken from: the order of the loop shows in some of them, and in
/// others it does not.
const POOLS: [&[f64]; 8] = [
    &[0.0, -0.0],
    &[0.0, -0.0, f64::NAN],
    &[0.0, -0.0, 1.0, -1.0],
    &[-0.0],
    &[f64::NAN],
    &[f64::NEG_INFINITY, f64::INFINITY, f64::NAN],
    &[f64::NEG_INFINITY],
    &[1.5, -2.5, 1e-310, 3.0, -4.0, 0.5],
];

fn cells(ty: Type, pool: &[f64], count: usize, seed: &mut u64) -> Given {
    let mut next = || {
        *seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let chosen = (*seed >> 33) as usize % pool.len().max(1);
        let value = pool.get(chosen).copied().unwrap_or_default();
        match ty.is_float() {
            true => Value::float(ty, value),
            false => Value::integer(ty, value as i128),
        }
    };
    let values: Vec<_> = (0..count).map(|_| next()).collect();
    Given::Array(Cells::of(ty, &values))
}

/// Runs `body` for `j` from `i` to `m` in lanes, with `r` and `t` the scalars of row `i`.
#[track_caller]
fn runs(ty: Type, body: &str, pool: &[f64], mode: Mode, seed: &mut u64) {
    let lanes = 64 / ty.bytes();
    let source = format!(
        "kernel @k(n: i64, m: i64, a: {ty}[n], b: {ty}[n], out: {ty}[n], other: {ty}[n], y: {ty}[n]) {{
           affine.for i in 0..n {{
             var r: {ty} = out[i]
             var t: {ty} = other[i]
             affine.for j in i..m lanes {lanes} {{ {body} }}
             out[i] = r
             other[i] = t
           }}
         }}"
    );
    // Rows of all lengths from 37 to none.
    let n = 40;
    let mut given = vec![scalar(n as i64), scalar(37_i64)];
    given.extend((0..5).map(|_| cells(ty, pool, n, seed)));
    let settings = Settings {
        mode,
        ..Settings::default()
    };
    let outcome = check_with(&source, &given, &settings);
    assert!(outcome.is_ok(), "{source}\n{outcome:?}");
}

/// Bodies with an update by `combiner` in many surroundings: alone, with others, with elements that
/// are written, under conditions.
fn bodies(combiner: &str) -> [String; 9] {
    let update = format!("r reduce({combiner}) a[j]");
    let second = format!("t reduce({combiner}) b[j]");
    [
        update.clone(),
        format!("{update} {second}"),
        format!("{update} t reduce(min) a[j]"),
        format!("y[j] = a[j] {update}"),
        format!("y[j] = y[j] - a[j] {update}"),
        format!("scf.if b[j] > a[j] {{ {update} }}"),
        format!("scf.if b[j] > a[j] {{ {update} }} else {{ {second} }}"),
        format!("scf.if b[j] == 1.0 {{ {update} }}"),
        format!("let v: REAL = a[j] - b[j] r reduce({combiner}) v"),
    ]
}

#[test]
fn extrema_have_the_bits_of_the_order_of_the_loop() {
    let mut seed = 17;
    let mut pools = POOLS.iter().cycle();
    for ty in [Type::F32, Type::F64] {
        for combiner in COMBINERS {
            for body in bodies(combiner) {
                let body = body.replace("REAL", &ty.to_string());
                for pool in pools.by_ref().take(3) {
                    runs(ty, &body, pool, Mode::Exact, &mut seed);
                }
            }
        }
    }
}

/// A sum beside it rounds, and is made in the order of the loop in mode `exact`: then no turn can
/// be made again.
#[test]
fn extrema_beside_sums() {
    let mut seed = 5;
    for combiner in COMBINERS {
        for pool in &POOLS[..3] {
            let body = format!("r reduce({combiner}) a[j] t reduce(add) b[j]");
            runs(Type::F32, &body, pool, Mode::Exact, &mut seed);
            let body = format!("r reduce({combiner}) a[j] y[0] reduce(fmax) b[j]");
            runs(Type::F64, &body, pool, Mode::Stable, &mut seed);
        }
    }
}

/// Loops of so many turns are no loops.
#[test]
fn extrema_of_few_turns() {
    let mut seed = 29;
    for turns in [4, 8, 16, 19] {
        for combiner in COMBINERS {
            for pool in &POOLS[..5] {
                let source = format!(
                    "kernel @k(n: i64, a: f32[n, {turns}], out: f32[n]) {{
                       affine.for i in 0..n {{
                         affine.for j in 0..{turns} lanes 4 {{ out[i] reduce({combiner}) a[i, j] }}
                       }}
                     }}"
                );
                let n = 60;
                let given = [
                    scalar(n as i64),
                    cells(Type::F32, pool, n * turns, &mut seed),
                    cells(Type::F32, pool, n, &mut seed),
                ];
                let outcome = check_with(&source, &given, &Settings::default());
                assert!(outcome.is_ok(), "{source}\n{outcome:?}");
            }
        }
    }
}

/// Bodies that keep what comes with the greatest or the least.
fn pairs(combiner: &str) -> [String; 8] {
    let update = format!("(r, k) reduce({combiner}) (a[j], i64(j))");
    let second = format!("(t, l) reduce({combiner}) (b[j], a[j])");
    [
        update.clone(),
        second.clone(),
        format!("{update} {second}"),
        format!("{update} t reduce(max) b[j]"),
        format!("let v: REAL = b[j] (r, k) reduce({combiner}) (v, i64(j) * 3)"),
        format!("scf.if b[j] > a[j] {{ {update} }}"),
        format!("scf.if b[j] > a[j] {{ {second} }} else {{ {update} }}"),
        format!("y[j] = a[j] (top[i], k) reduce({combiner}) (a[j], i64(j))"),
    ]
}

#[test]
fn what_comes_with_an_extremum_is_that_of_the_right_turn() {
    let mut seed = 41;
    let integers: [&[f64]; 3] = [&[0.0, 1.0, 2.0], &[7.0], &[0.0, 200.0, 77.0, 78.0]];
    for ty in [
        Type::F32,
        Type::F64,
        Type::I32,
        Type::I64,
        Type::U32,
        Type::U16,
    ] {
        let pools = match ty.is_float() {
            true => &POOLS[..],
            false => &integers,
        };
        let mut pools = pools.iter().cycle();
        for combiner in ["argmin", "argmax", "argmin_last", "argmax_last"] {
            for body in pairs(combiner) {
                // No number of a turn has room in so narrow lanes, so none of them is left out by a
                // condition.
                if ty == Type::U16 && body.contains("scf.if") {
                    continue;
                }
                let body = body.replace("REAL", &ty.to_string());
                let source = format!(
                    "kernel @k(n: i64, m: i64, a: {ty}[n], b: {ty}[n], out: {ty}[n], y: {ty}[n], top: {ty}[n], at: i64[n], with: {ty}[n]) {{
                       affine.for i in 0..n {{
                         var r: {ty} = out[i]
                         var t: {ty} = y[i]
                         var k: i64 = at[i]
                         var l: {ty} = with[i]
                         affine.for j in i..m lanes 16 {{ {body} }}
                         out[i] = r
                         at[i] = k
                         with[i] = t
                         y[i] = l
                       }}
                     }}"
                );
                for pool in pools.by_ref().take(2) {
                    let n = 40;
                    let mut given = vec![scalar(n as i64), scalar(37_i64)];
                    given.extend((0..5).map(|_| cells(ty, pool, n, &mut seed)));
                    given.push(cells(Type::I64, &[-3.0], n, &mut seed));
                    given.push(cells(ty, pool, n, &mut seed));
                    let outcome = check_with(&source, &given, &Settings::default());
                    assert!(outcome.is_ok(), "{source}\n{outcome:?}");
                }
            }
        }
    }
}

/// Elements and scalars that each lane has for itself.
#[test]
fn what_comes_with_an_extremum_in_each_lane() {
    let mut seed = 3;
    let keys = [Type::F32, Type::F64, Type::I32, Type::U8, Type::I64];
    let payloads = [Type::I32, Type::F64, Type::U8, Type::I64];
    for (key, payload) in keys.iter().flat_map(|key| payloads.map(|it| (*key, it))) {
        let pool: &[f64] = match key.is_float() {
            true => &[0.0, -0.0, 1.0, f64::NAN, 2.5],
            false => &[0.0, 1.0, 2.0],
        };
        for combiner in ["argmin", "argmax", "argmin_last", "argmax_last"] {
            let source = format!(
                "kernel @k(n: i64, m: i64, a: {key}[n, m], best: {key}[m], with: {payload}[m], at: {payload}[m]) {{
                   affine.for i in 0..n {{
                     affine.for j in 0..m lanes 16 {{
                       (best[j], at[j]) reduce({combiner}) (a[i, j], with[j])
                       var r: {key} = a[i, j]
                       var k: {payload} = at[j]
                       (r, k) reduce({combiner}) (best[j], with[j])
                       at[j] = k
                     }}
                   }}
                 }}"
            );
            let (n, m) = (5, 37);
            let given = [
                scalar(n as i64),
                scalar(m as i64),
                cells(key, pool, n * m, &mut seed),
                cells(key, pool, m, &mut seed),
                cells(payload, &[3.0, 4.0, 5.0], m, &mut seed),
                cells(payload, &[7.0], m, &mut seed),
            ];
            let outcome = check_with(&source, &given, &Settings::default());
            assert!(outcome.is_ok(), "{source}\n{outcome:?}");
        }
    }
}
