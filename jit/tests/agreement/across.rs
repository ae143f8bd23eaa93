//! Rows that stay in vectors while the loop around the one in lanes runs.

use crate::common::{Given, array, check, scalar};

/// `body` for each entry `k` of each row `i` of a sparse matrix.
fn rows(body: &str, columns: usize) -> (String, Vec<Given>) {
    let source = format!(
        "kernel @k(n: i64, m: i64, e: i64, row: i32[n + 1], col: i32[e], v: f32[e], x: f32[m, {columns}], y: f32[n, {columns}], z: f32[m, {columns}], w: f64[n, {columns}]) {{
           affine.for i in 0..n {{ scf.for k in i64(row[i])..i64(row[i + 1]) {{ {body} }} }}
         }}"
    );
    let some = |count: usize| (0..count).map(|it| (it * it % 61) as f32 * 0.25);
    let row = [0, 2, 2, 7, 8, 11];
    let col = [6, 2, 2, 0, 5, 6, 1, 1, 3, 0, 4];
    let given = vec![
        scalar(5_i64),
        scalar(7_i64),
        scalar(11_i64),
        array(&row),
        array(&col),
        array(&some(11).collect::<Vec<_>>()),
        array(&some(7 * columns).collect::<Vec<_>>()),
        array(&some(5 * columns).collect::<Vec<_>>()),
        array(&some(7 * columns).collect::<Vec<_>>()),
        array(&some(5 * columns).map(f64::from).collect::<Vec<_>>()),
    ];
    (source, given)
}

const UPDATES: [&str; 12] = [
    "y[i, j] reduce(add) v[k] * x[col[k], j]",
    "y[i, j] = y[i, j] * 0.5 + x[col[k], j]",
    "y[i, j] reduce(add) x[col[k], j] y[i, j] reduce(max) v[k] y[i, j] = y[i, j] * 2.0",
    "y[i, j] reduce(add) v[k] w[i, j] reduce(add) f64(v[k])",
    "w[i, j] reduce(min) f64(k) + w[i, j] * 0.5",
    // What stands behind a condition is made turn by turn, as is what calls a function or divides …
    "y[i, j] reduce(add) x[col[k], j] scf.if v[k] * x[col[k], j] > 4.0 { z[i, j] reduce(add) 1.0 }",
    "y[i, j] reduce(add) v[k] z[i, j] reduce(add) exp(x[col[k], j] * f32(0.1))",
    "y[i, j] reduce(add) v[k] z[i, j] = z[i, j] + f32(i32(x[col[k], j] * f32(8.0)) / 3)",
    // … neither of these rows is the same in all turns …
    "y[i, j] reduce(add) x[col[k], j] z[col[k], j] reduce(add) y[i, j]",
    // … and these are come to by other accesses, too.
    "y[i, j] reduce(add) y[n - 1 - i, j]",
    "y[i, j] reduce(add) y[0, 0] * 0.5",
    "y[i, j] = y[2, j] * 0.5 + v[k]",
];

#[test]
fn rows_of_all_turns_hold_what_they_would_in_memory() {
    for body in UPDATES {
        for columns in [4, 8, 12, 16, 20, 24, 32, 40, 44, 5, 6, 30] {
            for lanes in [4, 8] {
                let inner = format!("affine.for j in 0..{columns} lanes {lanes} {{ {body} }}");
                let (source, given) = rows(&inner, columns);
                let outcome = check(&source, &given);
                assert!(outcome.is_ok(), "{source}\n{outcome:?}");
            }
        }
    }
}

#[test]
fn rows_that_begin_anywhere() {
    for bounds in ["2..18", "4..12", "0..16"] {
        for row in ["y[i, j + 1]", "y[i, j]", "y[4 - i, j + 2]"] {
            let body = format!("{row} reduce(add) v[k] * x[col[k], j]");
            let inner =
                format!("let c: i32 = col[k] affine.for j in {bounds} lanes 8 {{ {body} }}");
            let (source, given) = rows(&inner, 20);
            let outcome = check(&source, &given);
            assert!(outcome.is_ok(), "{source}\n{outcome:?}");
        }
    }
}

#[test]
fn a_fault_in_a_later_turn_is_the_first_one() {
    let body = "affine.for j in 0..16 lanes 8 { y[i, j] reduce(add) v[k] * x[col[k], j] }";
    let (source, mut given) = rows(body, 16);
    given[4] = array(&[6, 2, 2, 0, 5, 6, 1, 7, 3, -1, 4]);
    let outcome = check(&source, &given);
    assert!(outcome.is_err(), "{outcome:?}");
}

#[test]
fn rows_of_products() {
    for (rows, columns) in [(2, 8), (1, 16), (3, 4), (2, 20)] {
        let updates: String = (0..rows)
            .map(|row| format!("c[i + {row}, j] reduce(add) a[i + {row}, l] * b[l, j]"))
            .collect::<Vec<_>>()
            .join(" ");
        let source = format!(
            "kernel @k(n: i64, m: i64, a: f64[n + 3, m], b: f64[m, {columns}], c: f64[n + 3, {columns}]) {{
               affine.for i in 0..n step {rows} {{ affine.for l in 0..m {{
                 affine.for j in 0..{columns} lanes 2 {{ {updates} }}
               }} }}
             }}"
        );
        for (n, m) in [(5, 3), (4, 0), (1, 1)] {
            let some = |count: usize| (0..count).map(|it| (it * it % 61) as f64 * 0.25);
            let given = vec![
                scalar(n as i64),
                scalar(m as i64),
                array(&some((n + 3) * m).collect::<Vec<_>>()),
                array(&some(m * columns).collect::<Vec<_>>()),
                array(&some((n + 3) * columns).collect::<Vec<_>>()),
            ];
            let outcome = check(&source, &given);
            assert!(outcome.is_ok(), "{source}\n{outcome:?}");
        }
    }
}

/// Whether the elements that a key picks are there is looked at in each turn, and where they are
/// not, they are asked for one by one.
#[test]
fn rows_that_are_looked_at() {
    let some = |count: usize| (0..count).map(|it| (it * it % 61) as f32 * 0.25);
    for columns in [4, 8, 12, 24, 32, 7] {
        for (extent, col) in [
            (7 * columns, [6, 2, 2, 0, 5, 6, 1, 1, 3, 0, 4]),
            (7 * columns - 1, [6, 2, 2, 0, 5, 6, 1, 1, 3, 0, 4]),
            (7 * columns - 1, [5, 2, 2, 0, 5, 0, 1, 1, 3, 0, 4]),
            (7 * columns, [5, 2, 2, 0, 5, 0, 1, -1, 3, 0, 4]),
            (7 * columns, [5, 2, 2, 0, 5, 0, 1, 1, 3, 7, 4]),
        ] {
            for key in ["i64(col[k])", "c", "6 - c"] {
                let source = format!(
                    "kernel @k(n: i64, e: i64, f: i64, row: i32[n + 1], col: i32[e], v: f32[e], x: f32[f], y: f32[n * {columns}]) {{
                       affine.for i in 0..n {{ scf.for k in i64(row[i])..i64(row[i + 1]) {{
                         let c: i64 = i64(col[k])
                         affine.for j in 0..{columns} lanes 4 {{
                           y[i * {columns} + j] reduce(add) v[k] * x[{key} * {columns} + j]
                         }}
                       }} }}
                     }}"
                );
                let given = vec![
                    scalar(5_i64),
                    scalar(11_i64),
                    scalar(extent as i64),
                    array(&[0, 2, 2, 7, 8, 11]),
                    array(&col),
                    array(&some(11).collect::<Vec<_>>()),
                    array(&some(extent).collect::<Vec<_>>()),
                    array(&some(5 * columns).collect::<Vec<_>>()),
                ];
                // The fault, too, is the interpreter's.
                let _ = check(&source, &given);
            }
        }
    }
}
