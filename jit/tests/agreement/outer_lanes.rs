//! Loops around others in lanes.

use crate::common::{Given, array, check, scalar};

/// What the loops in here are given: `n` iterations in lanes, `m` turns of a loop inside.
const PARAMETERS: &str = "n: i64, m: i64, row: i64[3], key: i32[m], x: f64[n], w: f64[m], a: f64[m, n], c: f32[n, 3], y: f64[n], k: i32[n], f: f32[n]";

fn kernel(body: &str, lanes: u32) -> String {
    format!(
        "kernel @k({PARAMETERS}) {{
           affine.for i in 0..n lanes {lanes} {{ {body} }}
         }}"
    )
}

fn given(n: i64, m: i64, keys: &[i32]) -> Vec<Given> {
    let floats = |count: i64, by: f64| -> Vec<f64> {
        let numbers = (0..count).map(|it| (it as f64 * by).sin() * 3.0);
        numbers.collect()
    };
    let narrow = |count: i64, by: f64| -> Vec<f32> {
        let wide = floats(count, by).into_iter();
        wide.map(|it| it as f32).collect()
    };
    vec![
        scalar(n),
        scalar(m),
        array(&[0, m / 2, m]),
        array(keys),
        array(&floats(n, 0.7)),
        array(&floats(m, 1.3)),
        array(&floats(n * m, 0.37)),
        array(&narrow(n * 3, 2.1)),
        array(&floats(n, 0.2)),
        array(&vec![7_i32; n as usize]),
        array(&narrow(n, 1.9)),
    ]
}

#[track_caller]
fn agrees(body: &str) {
    for lanes in [4, 8, 16] {
        let source = kernel(body, lanes);
        for n in [0, 1, 3, 4, 7, 8, 21, 35] {
            for m in [0, 1, 5] {
                let keys: Vec<i32> = (0..m as i32).rev().collect();
                let outcome = check(&source, &given(n, m, &keys));
                assert!(outcome.is_ok(), "{source}\n{outcome:?}");
            }
        }
    }
}

#[test]
fn lanes_have_scalars_of_their_own_from_turn_to_turn() {
    agrees("var s: f64 = 0.5 affine.for t in 0..m { s = s * x[i] + w[t] } y[i] = s");
    agrees(
        "var s: f64 = 0.0 affine.for t in 0..m step 2 { s reduce(add) a[t, i] * w[t] } y[i] = s",
    );
    agrees(
        "var least: f64 = 1e30 var at: i32 = 0
         affine.for t in 0..m { (least, at) reduce(argmin) (x[i] * w[t], i32(t)) }
         y[i] = least k[i] = at",
    );
    agrees(
        "var seen: i32 = 0 var last: f32 = 0.5
         affine.for t in 0..m {
           scf.if w[t] < x[i] { seen reduce(add) 1 last = c[i, 1] } else { last = f32(w[t]) }
         }
         k[i] = seen f[i] = last + c[i, 2]",
    );
}

#[test]
fn loops_inside_are_nested_and_follow_each_other() {
    agrees(
        "var s: f64 = 0.0
         affine.for t in 0..m {
           var p: f64 = x[i]
           affine.for v in 0..t { p = p * 0.5 + w[v] }
           let both: f64 = p + a[t, i]
           s reduce(max) both
         }
         y[i] = s
         affine.for u in 0..m { y[i] = y[i] * 0.5 + w[u] }",
    );
    agrees(
        "var s: f64 = 1.0
         scf.for p in row[0]..row[1] { s = s * 0.5 + w[p] * x[i] }
         scf.for q in row[1]..row[2] { s reduce(add) a[i64(key[q]), i] }
         y[n - 1 - i] = s",
    );
}

#[test]
fn all_lanes_take_one_side_of_what_the_loops_say() {
    agrees(
        "var s: f64 = 0.25
         affine.for t in 0..m {
           affine.if (2 * t < m, 3 < n) {
             let u: f64 = s * 0.5
             s = u + a[t, i]
             y[i] reduce(add) u
           } else { s reduce(max) w[t] k[i] = 3 }
         }
         affine.if (0 < m) { var v: f64 = s affine.for q in 0..m { v = v * 0.5 + w[q] } a[0, i] = v }
         f[i] = f32(s)",
    );
}

#[test]
fn elements_are_written_in_loops_inside() {
    agrees("affine.for t in 1..m { a[t, i] = a[t - 1, i] * 0.5 + a[t, i] }");
    agrees("affine.for t in 0..m { c[i, 1] = c[i, 1] * 0.5 + f32(w[t]) f[i] reduce(add) c[i, 1] }");
    agrees(
        "affine.for t in 0..m { scf.if w[t] < x[i] { a[t, i] = 0.0 } y[i] reduce(add) a[t, i] }",
    );
    agrees("affine.for t in 0..m { k[i] = (k[i] << i32(t)) ^ (k[i] >> 1) }");
}

/// The nearest of what is in `w`, and what goes there; iterations meet there, and in what all of
/// them update.
#[test]
fn what_stands_behind_loops_inside_is_made_lane_by_lane() {
    agrees(
        "var least: f64 = 1e30 var at: i32 = 0
         affine.for t in 0..m { (least, at) reduce(argmin) ((x[i] - w[t]) * (x[i] - w[t]), i32(t)) }
         k[i] = at
         scf.if least < 2.0 { f[(at + 1) % i32(n)] reduce(add) f32(least) f[0] reduce(add) 1.0 }",
    );
    agrees(
        "var s: f64 = 0.0
         affine.for t in 0..m { s = s * 0.5 + a[t, i] }
         let same: i64 = i64(k[n - 1])
         y[same % n] = s + y[0]",
    );
}

/// The first fault is that of the first lane, in the first turn that has one, wherever behind it
/// others have one, too.
#[test]
fn what_fails_in_a_loop_inside_fails_there() {
    let body = "var s: f64 = 0.0
                affine.for t in 0..m { s reduce(add) a[i64(key[t]), i] }
                y[i] = s + w[m - 1 + row[0]]";
    for lanes in [4, 8] {
        for keys in [[0, 1, 2], [0, 3, 7], [-1, 0, 3]] {
            let outcome = check(&kernel(body, lanes), &given(9, 3, &keys));
            assert_eq!(outcome.is_ok(), keys == [0, 1, 2], "{keys:?}");
        }
    }
}

/// Elements that nobody proved to be in range, in a loop whose bounds come from memory, are looked
/// for where the condition holds, and not before.
#[test]
fn what_stands_under_a_condition_in_a_loop_inside_does_not_fail_elsewhere() {
    for update in [
        "scf.if x[i] > 100.0 { s = s * 0.5 + w[p - 1] }",
        "s = x[i] > 100.0 ? w[p - 1] : s",
    ] {
        let body = format!("var s: f64 = 0.5 scf.for p in row[0]..row[2] {{ {update} }} y[i] = s");
        agrees(&body);
    }
}
