//! `break`, `continue`, `return` and `switch`: which form they take in the kernel.

mod common;

/// The parameters of every function here.
const PARAMETERS: &str = "int n, int m, int k[n], double x[n], double y[n]";

/// The lines of the kernel that a function body becomes.
fn lines(code: &str) -> Vec<String> {
    common::lines(PARAMETERS, code)
}

fn assert_lines(cases: &[(&str, &[&str])]) {
    for (code, expected) in cases {
        assert_eq!(lines(code), *expected, "{code}");
    }
}

#[test]
fn the_rest_of_a_turn_becomes_the_other_branch() {
    assert_lines(&[
        (
            "for (int i = 0; i < n; i++) { if (i >= m) continue; x[i] = 1; }",
            &[
                "affine.for i in 0..n {",
                "affine.if (i < m) {",
                "x[i] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) { if (i == m) continue; x[i] = 1; }",
            &[
                "affine.for i in 0..n {",
                "affine.if (i == m) {",
                "} else {",
                "x[i] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) { if (k[i] < 0) { y[i] = 2; continue; } x[k[i]] += y[i]; }",
            &[
                "affine.for i in 0..n {",
                "scf.if k[i] < 0 {",
                "y[i] = 2.0",
                "} else {",
                "x[k[i]] reduce(add) y[i]",
                "}",
                "}",
            ],
        ),
        (
            "if (n < 3) return; for (int i = 0; i < n; i++) x[i] = 1;",
            &[
                "affine.if (3 <= n) {",
                "affine.for i in 0..n {",
                "x[i] = 1.0",
                "}",
                "}",
            ],
        ),
        // The maximum of integers, written with a jump.
        (
            "for (int i = 0; i < n; i++) { if (k[i] <= k[m]) continue; k[m] = k[i]; }",
            &[
                "affine.for i in 0..n {",
                "scf.if k[i] > k[m] {",
                "k[m] = k[i]",
                "}",
                "}",
            ],
        ),
    ]);
}

#[test]
fn where_both_branches_go_on_a_variable_says_how() {
    assert_lines(&[(
        "for (int i = 0; i < n; i++) { if (k[i] > 1) { if (k[i] > 2) continue; x[i] = 1; } y[i] = 1; }",
        &[
            "affine.for i in 0..n {",
            "var skip: bool = false",
            "scf.if k[i] > 1 {",
            "scf.if k[i] > 2 {",
            "skip = true",
            "} else {",
            "x[i] = 1.0",
            "}",
            "}",
            "scf.if !skip {",
            "y[i] = 1.0",
            "}",
            "}",
        ],
    )]);
}

#[test]
fn a_loop_that_is_left_runs_while_a_variable_says_so() {
    assert_lines(&[
        (
            "for (int i = 0; i < n; i++) { if (x[i] > 1) break; y[i] = 1; }",
            &[
                "var i: i32 = 0",
                "var again: bool = true",
                "scf.while again && i < n {",
                "scf.if x[i] > 1.0 {",
                "again = false",
                "} else {",
                "y[i] = 1.0",
                "}",
                "scf.if again {",
                "i reduce(add) 1",
                "}",
                "}",
            ],
        ),
        (
            "while (1) { if (k[0] > 3) return; k[0]++; }",
            &[
                "var again: bool = true",
                "scf.while again {",
                "scf.if k[0] > 3 {",
                "again = false",
                "} else {",
                "k[0] reduce(add) 1",
                "}",
                "}",
            ],
        ),
        (
            "do { if (k[0] > 3) break; k[0]++; } while (k[0] < m); k[1] = 2;",
            &[
                "var again: bool = true",
                "scf.while again {",
                "scf.if k[0] > 3 {",
                "again = false",
                "} else {",
                "k[0] reduce(add) 1",
                "}",
                "scf.if again {",
                "again = k[0] < m",
                "}",
                "}",
                "k[1] = 2",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) while (k[i] > 0) { if (k[i]-- == m) return; } k[0] = 1;",
            &[
                "var done: bool = false",
                "var i: i32 = 0",
                "var again: bool = true",
                "scf.while again && i < n {",
                "var again_2: bool = true",
                "scf.while again_2 && k[i] > 0 {",
                "let value: i32 = k[i]",
                "k[i] reduce(add) -1",
                "scf.if value == m {",
                "again = false",
                "again_2 = false",
                "done = true",
                "}",
                "}",
                "scf.if again {",
                "i reduce(add) 1",
                "}",
                "}",
                "scf.if !done {",
                "k[0] = 1",
                "}",
            ],
        ),
    ]);
}

#[test]
fn a_switch_is_a_chain_of_conditions() {
    assert_lines(&[
        (
            "for (int i = 0; i < n; i++) switch (i % 3) { case 0: x[i] = 1; break; case 1: x[i] = 2; break; default: x[i] = 3; }",
            &[
                "affine.for i in 0..n {",
                "affine.if (i mod 3 == 0) {",
                "x[i] = 1.0",
                "} else {",
                "affine.if (i mod 3 == 1) {",
                "x[i] = 2.0",
                "} else {",
                "x[i] = 3.0",
                "}",
                "}",
                "}",
            ],
        ),
        (
            "switch (k[0]) { default: k[1] = 1; case 3: k[2] = 1; break; case 4: case -5: k[3] = 1; }",
            &[
                "let value: i32 = k[0]",
                "scf.if value == 4 || value == -5 {",
                "k[3] = 1",
                "} else {",
                "var entered: bool = false",
                "entered = entered || !(value == 3)",
                "scf.if entered {",
                "k[1] = 1",
                "}",
                "k[2] = 1",
                "}",
            ],
        ),
    ]);
}

#[test]
fn a_switch_of_many_labels_does_not_nest() {
    let cases: String = (0..3000)
        .map(|it| {
            format!(
                "case {it}: k[{it}] = 1; {}",
                if it % 2 == 0 { "break;" } else { "" }
            )
        })
        .collect();
    let code = format!("switch (m) {{ {cases} default: k[0] = 2; }}");
    assert!(lines(&code).len() > 3000);
}
