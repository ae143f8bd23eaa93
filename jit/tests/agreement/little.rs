//! Foralls that are reached again and again, often with next to nothing to do.

use crate::common::{Given, array, check_with, scalar};
use crate::lanes::every_body;
use strew_runtime::{Body, Mode, Settings};

/// Rows `row[i]..row[i + 1]` of keys, each updated by a forall inside of a loop that runs in order.
fn rows(keys: &[i32], rows: &[i64], combiner: &str) -> (String, Vec<Given>) {
    let source = format!(
        "kernel @k(n: i64, e: i64, m: i64, row: i64[n + 1], key: i32[e], x: f64[e], y: f64[m], s: f64[n]) {{
           affine.for i in 0..n {{
             y[i mod m] = y[i mod m] * 0.5
             scf.forall c in 0..4 private(p: f64[m] = identity({combiner}), q: f64[n] = identity(add))
                 merge(y reduce({combiner}) p, s reduce(add) q) strategy(auto) {{
               scf.for k in row[i] + (row[i + 1] - row[i]) * i64(c) / 4..row[i] + (row[i + 1] - row[i]) * (i64(c) + 1) / 4 {{
                 p[key[k]] reduce({combiner}) x[k]
                 q[i] reduce(add) x[k]
               }}
             }}
           }}
         }}"
    );
    let e = keys.len();
    let n = rows.len() - 1;
    let x: Vec<f64> = (0..e)
        .map(|it| (it * 37 % 101) as f64 / 8.0 - 5.0)
        .collect();
    let given = vec![
        scalar(n as i64),
        scalar(e as i64),
        scalar(7_i64),
        array(rows),
        array(keys),
        array(&x),
        array(&[0.0, -0.0, 1.0, 2.5, f64::INFINITY, -3.0, 1e300]),
        array(&vec![0.25; n]),
    ];
    (source, given)
}

fn settings(mode: Mode) -> Settings {
    Settings {
        mode,
        ..Settings::default()
    }
}

#[test]
fn what_runs_where_it_stands_does_what_the_loop_does() {
    let keys: Vec<i32> = (0..3000).map(|it| it * it % 7).collect();
    // The last rows are more than is made where it stands.
    let ends = [0, 0, 1, 5, 20, 21, 300, 1200, 3000];
    for combiner in ["add", "min", "max_last"] {
        let (source, given) = rows(&keys, &ends, combiner);
        let outcome = check_with(&source, &given, &settings(Mode::Exact));
        assert!(outcome.is_ok(), "{source}\n{outcome:?}");
    }
    let (source, given) = rows(&keys, &ends, "min");
    for body in [Body::Auto, Body::Direct, Body::RunLength] {
        let whole = source.replace("q[i] reduce(add) x[k]", "q[i] reduce(add) 0.5");
        every_body(&whole, &given, body);
    }
}

/// `check_with` also holds arrays against what they were before.
#[test]
fn a_fault_in_a_late_one_leaves_all_as_it_was() {
    for at in [0, 4, 299, 2999] {
        for wrong in [-1, 7, i32::MAX] {
            let mut keys: Vec<i32> = (0..3000).map(|it| it % 7).collect();
            keys[at] = wrong;
            let (source, given) = rows(&keys, &[0, 0, 1, 5, 20, 300, 3000], "add");
            let outcome = check_with(&source, &given, &settings(Mode::Exact));
            assert!(outcome.is_err(), "{source}");
        }
    }
}
