//! What is loaded, evaluated or checked once where it stands twice, and scalars that are chosen
//! without a jump.

use crate::common::{Given, Outcome, array, check, scalar};
use strew_affine::Value;

/// The elements of the last array.
#[track_caller]
fn last(outcome: Outcome) -> Vec<i64> {
    let arrays = outcome.unwrap_or_else(|fault| panic!("{fault:?}"));
    let last = arrays.last().into_iter().flatten();
    last.map(|it| it.as_integer().map_or(i64::MIN, |it| it as i64))
        .collect()
}

fn fault(outcome: Outcome) -> (String, Vec<(String, i64)>) {
    outcome.expect_err("a fault")
}

/// Of `x`, of five elements, two indices, and room for two results.
fn around(body: &str, x: [i32; 5], from: i64, to: i64) -> Outcome {
    let source = format!(
        "kernel @k(n: i64, m: i64, from: i64, to: i64, x: i32[n], y: i32[m], out: i32[2]) {{ {body} }}"
    );
    let given = [
        scalar(5_i64),
        scalar(3_i64),
        scalar(from),
        scalar(to),
        array(&x),
        array(&[10_i32, 20, 30]),
        array(&[0_i32; 2]),
    ];
    check(&source, &given)
}

#[test]
fn an_element_is_another_one_once_its_subscript_is_set() {
    let body = "var a: i64 = from
                out[0] = x[a]
                a = a + 1
                out[1] = x[a]";
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 1, 0)), [2, 3]);
    let body = "var a: i64 = from
                out[0] = x[a]
                scf.if to > 0 { a = a * to }
                out[1] = x[a]";
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 2, 2)), [3, 5]);
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 2, 0)), [3, 3]);
    assert_eq!(fault(around(body, [1, 2, 3, 4, 5], 2, 3)).1, []);
}

#[test]
fn a_turn_begins_with_what_the_one_before_has_set() {
    for head in ["scf.for k in from..to", "affine.for k in 0..3"] {
        let body = format!(
            "var a: i64 = from
             let first: i32 = x[a]
             {head} {{ out[0] reduce(add) x[a]  a = a + 1 }}
             out[1] = first"
        );
        let expected = 2 + 3 + 4;
        assert_eq!(last(around(&body, [1, 2, 3, 4, 5], 1, 4)), [expected, 2]);
        let (what, iterators) = fault(around(&body, [1, 2, 3, 4, 5], 3, 9));
        assert_eq!(
            iterators.last().map(|it| it.0.as_str()),
            Some("k"),
            "{what}"
        );
    }
}

#[test]
fn what_is_written_is_loaded_again() {
    let body = "out[0] = x[from]
                x[to] = 77
                out[1] = x[from]";
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 1, 1)), [2, 77]);
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 1, 2)), [2, 2]);
}

#[test]
fn a_subscript_in_range_of_one_array_may_not_be_in_range_of_another() {
    let body = "out[0] = x[from]  out[1] = y[from]";
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 2, 0)), [3, 30]);
    let (what, _) = fault(around(body, [1, 2, 3, 4, 5], 3, 0));
    assert!(what.contains('y'), "{what}");
}

#[test]
fn what_may_not_have_run_is_not_known() {
    let sides = "scf.if to > 0 { out[0] = x[from] } else { out[0] = 1 }
                 out[1] = x[from]";
    assert_eq!(last(around(sides, [1, 2, 3, 4, 5], 2, 0)), [1, 3]);
    assert!(around(sides, [1, 2, 3, 4, 5], 5, 0).is_err());
    let parts = "scf.if to > 0 && x[from] > 2 { out[0] = x[from] } else { out[0] = x[from] + 1 }
                 out[1] = to > 0 || x[from] > 2 ? x[from] : -1";
    for (from, to) in [(1, 1), (2, 1), (1, 0), (2, 0), (-1, 0), (5, 1), (5, 0)] {
        let _ = around(parts, [1, 2, 3, 4, 5], from, to);
    }
    let not = "scf.if !(to > 0 && x[from] > 2) { out[0] = x[from] } else { out[0] = 9 }
               scf.while !(to < 9 || y[from] > 0) { out[1] = x[from] }";
    for (from, to) in [(1, 1), (2, 1), (3, 1), (7, 0), (0, 9), (-1, 9)] {
        let _ = around(not, [1, 2, 3, 4, 5], from, to);
    }
}

#[test]
fn a_loop_that_is_never_entered_checks_nothing() {
    let body = "scf.for k in to..from { out[0] = x[7 + k] }
                scf.while from > to && x[from] > 0 { out[0] = x[9 + from] }
                out[1] = 1";
    assert_eq!(last(around(body, [1; 5], 8, 8)), [0, 1]);
    assert!(around(body, [1; 5], 8, 7).is_err());
}

#[test]
fn a_condition_fails_in_the_turn_in_which_it_does() {
    let body = "var a: i64 = from
                scf.while i64(x[a]) < to { out[0] reduce(add) 1  a = a + 1 }
                out[1] = x[a]";
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 0, 4)), [3, 4]);
    assert_eq!(last(around(body, [1, 2, 3, 4, 5], 4, 4)), [0, 5]);
    for (from, to) in [(0, 6), (5, 0), (-1, 0)] {
        assert!(around(body, [1, 2, 3, 4, 5], from, to).is_err());
    }
}

#[test]
fn more_elements_than_are_kept() {
    let reads = |from: i32| -> String {
        let read = |at: i32| format!("out[at] reduce(add) x[i64(key[{at}])]\n");
        (from..100).chain(0..from).map(read).collect()
    };
    let source = format!(
        "kernel @k(n: i64, at: i64, key: i32[100], x: i32[n], out: i32[1]) {{ {} {} }}",
        reads(0),
        reads(50)
    );
    let keys: Vec<i32> = (0..100).map(|it| it % 7).collect();
    let given = [
        scalar(7_i64),
        scalar(0_i64),
        array(&keys),
        array(&[1_i32, 10, 100, 1000, 10_000, 100_000, 1_000_000]),
        array(&[0_i32]),
    ];
    assert!(check(&source, &given).is_ok());
}

const ROWS: &str = "kernel @k(n: i64, e: i64, row: i64[n + 1], adj: i32[e], tri: i64[n]) {
  affine.for u in 0..n {
    scf.for p in row[u]..row[u + 1] {
      let v: i32 = adj[p]
      var a: i64 = row[u]
      var b: i64 = row[v]
      scf.while a < p && b < row[v + 1] {
        let wa: i32 = adj[a]
        let wb: i32 = adj[b]
        scf.if wa == wb { tri[u] reduce(add) 1  tri[v] reduce(add) 1  tri[wa] reduce(add) 1 }
        scf.if wa <= wb { a reduce(add) 1 }
        scf.if wb <= wa { b reduce(add) 1 }
      }
    }
  }
}";

fn rows(row: &[i64], adj: &[i32]) -> Vec<Given> {
    vec![
        scalar(row.len() as i64 - 1),
        scalar(adj.len() as i64),
        array(row),
        array(adj),
        array(&vec![0_i64; row.len() - 1]),
    ]
}

#[test]
fn rows_that_are_merged() {
    // A complete graph of four, each vertex with those before it.
    let adj = [0, 0, 1, 0, 1, 2];
    assert_eq!(
        last(check(ROWS, &rows(&[0, 0, 1, 3, 6], &adj))),
        [3, 3, 3, 3]
    );
    // Rows that end before they begin are empty.
    assert!(check(ROWS, &rows(&[0, 0, 3, 1, 6], &adj)).is_ok());
}

#[test]
fn rows_that_are_broken() {
    let adj = [0, 0, 1, 0, 1, 2];
    for row in [
        [0, 0, 1, 3, 7],
        [0, 0, 1, 7, 3],
        [-1, 0, 1, 3, 6],
        [0, 0, -1, 3, 6],
        [0, 0, 1, 3, i64::MAX],
        [0, 0, 1, i64::MAX, i64::MAX],
        [i64::MIN, 0, 1, 3, 6],
        [0, i64::MIN, i64::MAX, 3, 6],
    ] {
        let (what, iterators) = fault(check(ROWS, &rows(&row, &adj)));
        assert!(what.contains("adj"), "{row:?} {what} {iterators:?}");
    }
    for key in [4, 5, -1, i32::MAX, i32::MIN] {
        let adj = [0, 0, 1, 0, key, 2];
        let _ = check(ROWS, &rows(&[0, 0, 1, 3, 6], &adj));
    }
}

const PUSH: &str = "kernel @k(n: i64, e: i64, d: i64, row: i64[n + 1], col: i32[e], w: i32[e], by: i32[d], x: i32[n], out: i32[n]) {
  affine.for u in 0..n {
    scf.for p in row[u]..row[u + 1] {
      out[col[p]] reduce(add) w[p] * x[by[u]] / (x[u] - 9)
      scf.if w[p] > 2 { out[w[p]] = x[by[u + 1]] }
    }
  }
}";

fn push(row: [i64; 4], by: [i32; 3], x: [i32; 3], weights: usize) -> Outcome {
    let given = [
        scalar(3_i64),
        scalar(weights as i64),
        scalar(3_i64),
        array(&row),
        array(&[0, 1, 2, 1, 0, 2][..weights]),
        array(&[1, 2, 1, 2, 0, 1][..weights]),
        array(&by),
        array(&x),
        array(&[0_i32; 3]),
    ];
    check(PUSH, &given)
}

#[test]
fn rows_are_checked_before_they_begin() {
    let (by, x) = ([0, 1, 2], [1, 2, 3]);
    assert!(push([0, 2, 4, 6], by, x, 6).is_ok());
    assert!(push([2, 2, 2, 2], by, x, 6).is_ok());
    // A row that does not run may lie anywhere.
    assert!(push([70, -3, 4, 6], by, x, 6).is_err());
    assert!(push([9, 8, 7, 6], by, x, 6).is_ok());
    assert!(push([i64::MAX, i64::MIN, i64::MIN, i64::MIN], by, x, 6).is_ok());
    for row in [
        [0, 2, 4, 7],
        [-1, 2, 4, 6],
        [0, 2, 4, i64::MAX],
        [i64::MIN, 2, 4, 6],
        [i64::MIN, i64::MAX, 4, 6],
        [0, 2, i64::MAX, 6],
    ] {
        let (what, iterators) = fault(push(row, by, x, 6));
        assert_eq!(
            (what.contains("`w`"), iterators.len()),
            (true, 2),
            "{what} {row:?}"
        );
    }
    assert!(fault(push([0, 2, 4, 6], by, x, 5)).0.contains("`w`"));
    // Nothing is read of what no row has.
    assert!(fault(push([0, 2, 4, 6], [0, 3, 2], x, 6)).0.contains("`x`"));
    assert!(push([0, 2, 2, 6], [0, 3, 2], x, 6).is_ok());
}

#[test]
fn the_first_fault_is_told_whatever_was_checked_first() {
    // The division fails in the turn before the one that leaves the array.
    let (what, _) = fault(push([0, 2, 4, 9], [0, 1, 2], [1, 9, 3], 6));
    assert!(what.contains("zero"), "{what}");
    let (what, iterators) = fault(push([0, 2, 4, 9], [0, 1, 2], [1, 2, 9], 6));
    assert!(what.contains("zero"), "{what}");
    assert_eq!(iterators, [("u".to_owned(), 2), ("p".to_owned(), 4)]);
}

#[test]
fn steps_do_not_reach_the_end_of_a_row() {
    for (step, to) in [(2, 6), (3, 7), (4, 8), (5, 5)] {
        let body = format!("scf.for k in from..to step {step} {{ out[0] reduce(add) x[k] }}");
        let found = around(&body, [1, 2, 3, 4, 5], 0, to);
        assert_eq!(found.is_ok(), step != 3, "{step} {to}");
    }
}

#[test]
fn scalars_are_chosen_as_by_a_jump() {
    let body = |then: &str, otherwise: &str| {
        format!(
            "var a: i64 = from
             var b: i64 = to
             var s: i64 = 0
             affine.for i in 0..5 {{
               scf.if i64(x[i]) < a {{ {then} }} else {{ {otherwise} }}
               s = s * 10 + a - b
             }}
             out[0] = i32(s)
             out[1] = i32(a * 100 + b)"
        )
    };
    for (then, otherwise) in [
        ("a = b", ""),
        ("", "a = b + 1"),
        ("a = b  b = a + 1", "b = a"),
        ("a = a + b  a = a * 2", "a reduce(max) b  b reduce(add) 1"),
        ("let t: i64 = a  a = b  b = t", "let u: i64 = b  b = u + 1"),
        // What can fail stays behind the jump.
        ("a = a / (b - b)", "b = b + 1"),
        ("a = i64(x[a + 100])", "b = b + 1"),
        ("a = 1  out[0] = 5", "b = 2"),
    ] {
        for (from, to) in [(0, 3), (3, 0), (9, 2), (-4, -5)] {
            let _ = around(&body(then, otherwise), [3, 1, 4, 1, 5], from, to);
        }
    }
}

#[test]
fn what_a_condition_has_loaded_is_chosen_and_nothing_else() {
    for side in [
        "s = i64(x[p])",
        "p = p + 1  s = i64(x[p])",
        "s = i64(x[p])  p = p + 1",
        "let t: i64 = i64(x[i])  s = t  p = i",
        "best = f64(x[i])  p = i",
        "best = f64(x[i])  s = i64(x[i])",
        "p = i  best = f64(x[p])",
    ] {
        for sides in [
            format!("{{ {side} }}"),
            format!("{{ }} else {{ {side} }}"),
            format!("{{ s = 7 }} else {{ {side} }}"),
        ] {
            let body = format!(
                "var p: i64 = from
                 var s: i64 = 0
                 affine.for i in 0..5 {{
                   var best: f64 = 2.5
                   scf.if x[p] < x[i] && p < to {sides}
                   out[0] = i32(best * 2.0) + 3 * out[0] + i32(s)
                   out[1] reduce(add) i32(p)
                 }}"
            );
            for (from, to) in [(0, 5), (4, 5), (3, 0), (2, 4)] {
                let _ = around(&body, [3, 1, 4, 1, 5], from, to);
            }
        }
    }
}

#[test]
fn a_remainder_is_that_of_what_numbers_are_by_then() {
    for between in [
        "",
        "a = a + 1",
        "b = b - 1",
        "scf.if x[0] > 2 { a = a + 1 }",
        "affine.for i in 0..2 { out[0] reduce(add) i32(a % b)  a = a - 3 }",
    ] {
        for ty in ["i64", "i32", "i8", "u64", "u16"] {
            let body = format!(
                "var a: {ty} = {ty}(from)
                 var b: {ty} = {ty}(to)
                 scf.if x[1] > 0 {{ out[0] = i32(a / b) }}
                 {between}
                 out[0] reduce(add) i32(a % b)
                 out[1] = i32(a / b) + i32(a % b)"
            );
            for (from, to) in [
                (7, 3),
                (-7, 3),
                (7, -1),
                (i64::MIN, -1),
                (-128, -1),
                (5, 0),
                (9, 1),
            ] {
                let _ = around(&body, [3, 1, 4, 1, 5], from, to);
            }
        }
    }
}

#[test]
fn equal_products_are_equal_whatever_their_order() {
    let source = "kernel @k(x: f64[2], out: f64[4]) {
      out[0] = x[0] * x[1]
      out[1] = x[1] * x[0]
      out[2] = x[0] + x[1]
      out[3] = x[1] + x[0]
    }";
    for (a, b) in [
        (0.0, -0.0),
        (-0.0, 0.0),
        (f64::INFINITY, 0.0),
        (f64::NAN, 1.0),
        (1e308, 1e308),
        (f64::INFINITY, f64::NEG_INFINITY),
    ] {
        let arrays = check(source, &[array(&[a, b]), array(&[7.0_f64; 4])]);
        let found = arrays.unwrap_or_else(|fault| panic!("{fault:?}"));
        let out: Vec<Option<u64>> = found[1]
            .iter()
            .map(|it: &Value| it.as_float().filter(|it| !it.is_nan()).map(f64::to_bits))
            .collect();
        assert_eq!((out[0], out[2]), (out[1], out[3]));
    }
}
