//! Conditions that say that a number lies in an array, and such as only seem to: what is out of
//! range fails as in the interpreter, and leaves everything as it was.

use crate::common::{Given, array, check_with, scalar};
use strew_runtime::{Choice, Mode, STRATEGIES, Settings};

const CONDITIONS: [&str; 16] = [
    "k >= i32(0) && k < w",
    "k > i32(-1) && k <= w - i32(1)",
    "k < w && k >= i32(0) && x[i] > 0.5",
    "k >= i32(1) && k < w - i32(1)",
    "k >= i32(0) && i64(k) < m",
    "k >= i32(0) && i64(k) < m - 1",
    "u32(k) < u32(w)",
    "u64(k) < u64(m)",
    "u64(k) < u64(m) - u64(1)",
    "k + i32(1) >= i32(0) && k + i32(1) < w",
    "k >= i32(0) && k <= w",
    "k < w",
    "k >= i32(0) || k < w",
    "i64(u8(k)) < m",
    "u64(u8(k)) < u64(m)",
    // What is false for all numbers, with a part that speaks of two of them.
    "-1 >= 0 && m > -1 && k < w",
];

const STATEMENTS: [&str; 5] = [
    "p[k] reduce(add) x[i]",
    "p[k + i32(1)] reduce(add) x[i]",
    "p[k] reduce(add) x[i] p[k - i32(1)] reduce(add) 2.0 p[k + i32(1)] reduce(add) 3.0",
    "p[key[i]] reduce(add) y[k]",
    "q[u8(k)] reduce(add) x[i]",
];

fn source(condition: &str, statement: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i64, w: i32, key: i32[n], x: f64[n], y: f64[w], h: f64[w], g: f64[m]) {{
           scf.forall c in 0..2 private(p: f64[w] = identity(add), q: f64[m] = identity(add))
             merge(h reduce(add) p, g reduce(add) q) strategy(auto) {{
             affine.for i in (c * n) floordiv 2..(c * n + n) floordiv 2 {{
               let k: i32 = key[i]
               scf.if {condition} {{ {statement} }}
             }}
           }}
         }}"
    )
}

fn given(keys: &[i32], size: usize) -> Vec<Given> {
    let x: Vec<f64> = (0..keys.len()).map(|it| (it % 5) as f64 / 4.0).collect();
    let zeros = vec![0.0; size];
    let y: Vec<f64> = (0..size).map(|it| it as f64).collect();
    vec![
        scalar(keys.len() as i64),
        scalar(size as i64),
        scalar(size as i32),
        array(keys),
        array(&x),
        array(&y),
        array(&zeros),
        array(&zeros),
    ]
}

fn named(names: &[&str]) -> impl Iterator<Item = Choice> {
    let strategies = STRATEGIES
        .into_iter()
        .filter(|it| names.contains(&it.name()));
    strategies.map(Choice::Named)
}

#[test]
fn what_conditions_say_is_what_happens() {
    let mut ends = [0, 0];
    for condition in CONDITIONS {
        for statement in STATEMENTS {
            let source = source(condition, statement);
            for size in [0, 5] {
                let far = [i32::MIN, i32::MAX, 256, -256];
                let beside: Vec<i32> = (-2..size as i32 + 3).chain(far).collect();
                let inside: Vec<i32> = (1..size as i32 - 1).collect();
                for keys in [&beside, &inside] {
                    for strategy in named(&["serial", "dense"]) {
                        let settings = Settings {
                            mode: Mode::Stable,
                            strategy,
                            ..Settings::default()
                        };
                        let outcome = check_with(&source, &given(keys, size), &settings);
                        ends[usize::from(outcome.is_err())] += 1;
                    }
                }
            }
        }
    }
    // Both ends are reached often, or the conditions would say nothing.
    assert!(ends.iter().all(|it| *it > 100), "{ends:?}");
}

#[test]
fn a_scalar_that_is_set_behind_the_condition_is_checked() {
    for change in ["k = k + i32(1)", "k = i32(-1)", "k = w"] {
        let body = format!("{change} p[k] reduce(add) x[i]");
        let source = source("k >= i32(0) && k < w", &body).replace("let k", "var k");
        let outcome = check_with(&source, &given(&[0, 1, 2, 3, 4], 5), &Settings::default());
        assert!(outcome.is_err(), "{source}");
    }
}
