//! Loops of which only the first statements run in lanes.

use crate::common::{Given, array, check, scalar};
use crate::lanes::every_body;
use strew_runtime::Body;

/// A histogram with `body` for each of `x`, a part of which is made turn by turn.
fn histogram(x: &[f32], body: &str, strategy: &str) -> (String, Vec<Given>) {
    let source = format!(
        "kernel @k(n: i64, m: i32, lo: f32, x: f32[n], w: f64[n], out: f64[m]) {{
           scf.forall c in 0..4 private(p: f64[m] = identity(add)) merge(out reduce(add) p) strategy({strategy}) {{
             affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 lanes 8 {{ {body} }}
           }}
         }}"
    );
    let w: Vec<f64> = (0..x.len()).map(|it| (it % 97) as f64).collect();
    let given = vec![
        scalar(x.len() as i64),
        scalar(9_i32),
        scalar(0.25_f32),
        array(x),
        array(&w),
        array(&[0.5_f64; 9]),
    ];
    (source, given)
}

const TURN_BY_TURN: [&str; 7] = [
    "let k: i32 = i32((x[i] - lo) * 8.0) p[k] reduce(add) w[i]",
    "let v: f64 = w[i] let k: i32 = i32(x[i] * 8.0) p[k] reduce(add) v p[8 - k] reduce(add) v * v",
    "var k: i32 = i32(x[i] * 11.0) k reduce(max) 0 scf.if k >= m { k = m - 1 } p[k] reduce(add) w[i]",
    "var k: i32 = 3 scf.if x[i] < lo { k = i32(x[i] * 2.0) k = k + 1 } else { k = k + 2 } p[k] reduce(add) w[i]",
    "let k: i32 = i32(x[i] * 8.0) let b: bool = x[i] < lo scf.if b { p[k] reduce(add) w[i] } else { p[0] reduce(add) 1.0 }",
    "let k: i32 = i32(x[i] * 7.0) let l: i64 = i64(k) * i p[k] reduce(add) f64(l) var t: f64 = w[i] t = t + t p[k + 1] reduce(add) t",
    "let s: f64 = 2.0 - f64(lo) let k: i32 = i32(x[i] * 8.0) let v: f64 = w[i] * (s * s) p[k] reduce(add) v",
];

#[test]
fn what_has_no_vector_form_is_made_turn_by_turn() {
    for body in TURN_BY_TURN {
        for n in [0, 7, 33] {
            let (source, given) = histogram(&some(n), body, "auto");
            let outcome = check(&source, &given);
            assert!(outcome.is_ok(), "{source}\n{outcome:?}");
        }
    }
}

/// What was loaded by a key is not loaded by what the key is when the turns come.
#[test]
fn what_a_key_picked_before_it_is_set_again_is_that_in_turn() {
    let set_again = "let a: f64 = w[k] let b: f64 = a * 2.0 k = 8 - k";
    for used in ["a", "b", "a + w[k]"] {
        let body = format!("var k: i32 = i32(x[i] * 8.0) {set_again} p[k] reduce(add) {used}");
        let (source, given) = histogram(&some(33), &body, "auto");
        let outcome = check(&source, &given);
        assert!(outcome.is_ok(), "{source}\n{outcome:?}");
    }
}

fn some(count: usize) -> Vec<f32> {
    let each = (0..count).map(|it| 0.25 + (it * it % 64) as f32 / 90.0);
    each.collect()
}

#[test]
fn what_is_made_turn_by_turn_goes_by_every_strategy_and_body() {
    for strategy in ["serial", "dense", "blocked", "binned", "apart"] {
        for shape in [Body::Direct, Body::RunLength, Body::Partials, Body::Tables] {
            for body in TURN_BY_TURN {
                let (source, given) = histogram(&some(100), body, strategy);
                every_body(&source, &given, shape);
            }
        }
    }
}

/// Of groups of eight, some go to one element, the same as before or another, some to several, and
/// come back to the first of them.
fn in_groups() -> Vec<f32> {
    let keys = [
        [1; 8],
        [1; 8],
        [4; 8],
        [4, 4, 4, 1, 1, 1, 4, 4],
        [4; 8],
        [2, 3, 2, 3, 2, 3, 2, 3],
        [3; 8],
        [3; 8],
    ];
    keys.concat()
        .iter()
        .map(|it| 0.26 + *it as f32 / 8.0)
        .chain([0.4, 0.6, 0.4])
        .collect()
}

#[test]
fn groups_that_go_to_one_element_update_it_as_others_do() {
    for strategy in ["serial", "dense", "blocked"] {
        for shape in [Body::RunLength, Body::Partials] {
            for body in TURN_BY_TURN {
                let (source, given) = histogram(&in_groups(), body, strategy);
                every_body(&source, &given, shape);
            }
        }
    }
}

/// Updates of nine sums in `s`, and of `k`, which is an array `others`.
fn two_buffers(others: &str, updates: &str, strategy: &str) -> String {
    format!(
        "kernel @k(n: i64, x: f32[n], sums: f64[9], others: {others}) {{
           scf.forall c in 0..3 private(s: f64[9] = identity(add), k: {others} = identity(add))
               merge(sums reduce(add) s, others reduce(add) k) strategy({strategy}) {{
             affine.for i in (c * n) floordiv 3..(c * n + n) floordiv 3 lanes 4 {{
               let v: f32 = x[i] * 8.0
               let w: f64 = f64(v) + 0.25
               let b: i32 = i32(v)
               let d: i32 = i32(x[i] * 2.0)
               {updates}
             }}
           }}
         }}"
    )
}

/// The arguments of such a kernel.
fn with_others(others: Given) -> [Given; 4] {
    let x = in_groups();
    let sums = array(&[0.5_f64; 9]);
    [scalar(x.len() as i64), array(&x), sums, others]
}

#[test]
fn groups_of_several_buffers_go_to_one_element_of_each() {
    let given = with_others(array(&[7_i32; 27]));
    let updates = [
        "s[b] reduce(add) f64(v) k[d, b] reduce(add) 1",
        "s[b + 1] reduce(add) f64(v) k[1, 8 - b] reduce(add) d",
        "s[b] reduce(add) f64(v) k[d, i floordiv 64] reduce(add) 1",
        "s[0] reduce(add) f64(v) k[d, b] reduce(add) b",
    ];
    for updates in updates {
        for strategy in ["serial", "dense", "blocked"] {
            let source = two_buffers("i32[3, 9]", updates, strategy);
            every_body(&source, &given, Body::RunLength);
        }
    }
}

#[test]
fn the_only_element_of_a_buffer_is_updated_by_all_lanes_of_a_group() {
    let given = with_others(array(&[7.0_f64]));
    for updates in [
        "s[b] reduce(add) f64(v) k[0] reduce(add) w",
        "k[0] reduce(add) w s[b] reduce(add) f64(v)",
    ] {
        for strategy in ["serial", "dense", "blocked"] {
            let source = two_buffers("f64[1]", updates, strategy);
            for shape in [Body::Direct, Body::RunLength, Body::Partials] {
                every_body(&source, &given, shape);
            }
        }
    }
}

#[test]
fn what_is_made_turn_by_turn_keeps_its_order() {
    let source = "kernel @k(n: i64, x: f32[n], key: i32[n], out: f64[9], last: i64[9]) {
      affine.for i in 0..n lanes 4 {
        let v: f32 = (x[i] + 1.0) * x[i]
        let k: i32 = i32(v * 0.25) + key[i]
        scf.if k >= 0 { out[k] = out[k] * 0.75 + f64(v) }
        last[key[i]] = i
      }
    }";
    for n in [0_usize, 3, 4, 31] {
        let x: Vec<f32> = (0..n).map(|it| (it % 5) as f32 * 0.3).collect();
        let keys: Vec<i32> = (0..n as i32).map(|it| it * it % 7).collect();
        let given = [
            scalar(n as i64),
            array(&x),
            array(&keys),
            array(&[0.5_f64; 9]),
            array(&[-1_i64; 9]),
        ];
        let outcome = check(source, &given);
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}

#[test]
fn faults_of_what_is_made_turn_by_turn_are_those_of_the_loop() {
    for body in &TURN_BY_TURN[..2] {
        for wrong in [0, 5, 8, 21] {
            let mut x = vec![0.5_f32; 30];
            (x[wrong], x[wrong + 2]) = (7.0, -3.0);
            let (source, given) = histogram(&x, body, "auto");
            let outcome = check(&source, &given);
            assert!(outcome.is_err(), "{source}\n{outcome:?}");
        }
    }
}
