//! Loops over tables of constants.

use strew_frontend::{Severity, compile};

fn lowered(source: &str) -> String {
    let (kernels, diagnostics) = compile(source);
    let errors = diagnostics
        .iter()
        .filter(|it| it.severity() == Severity::Error);
    let errors: Vec<_> = errors.map(|it| it.message()).collect();
    assert_eq!(errors, [""; 0], "{source}");
    assert_eq!(kernels.len(), 1, "{source}");
    kernels[0].kernel.to_string()
}

/// The body of the kernel of a function with `body`, behind `before`.
fn body(before: &str, body: &str) -> String {
    let text = lowered(&format!(
        "{before} void f(int n, const double x[n], double y[n]) {{ {body} }}"
    ));
    let lines = text.lines().skip(1).map(str::trim);
    lines.filter(|it| *it != "}").collect::<Vec<_>>().join("; ")
}

const TWICE: &str = "static double twice(double it) { return it + it; }";
const TABLE: &str = "static const int d[4] = {0, 1, -1};";

#[test]
fn turns_over_a_table_come_one_behind_the_other() {
    for (table, turns) in [
        (
            TABLE,
            "for (int q = 0; q < 3; q++) y[q + 1] += x[d[q] + q];",
        ),
        (
            "",
            "const int d[4] = {0, 1, -1}; for (int q = 0; q < 3; q++) y[q + 1] += x[d[q] + q];",
        ),
        (
            "static const short d[3][2] = {{0, 9}, {1, 9}, {-1, 9}};",
            "for (short q = 0; q <= 2; q += 1) y[q + 1] += x[d[q][0] + q];",
        ),
        (
            TABLE,
            "for (long q = 0; 3 > q; ++q) { int at = d[q]; at += q; y[q + 1] += x[at]; }",
        ),
        (
            "enum { COUNT = 3 }; static const int d[COUNT] = {0, 1, -1};",
            "for (int q = 0; q != COUNT; q++) y[q + 1] += x[q + d[q]];",
        ),
    ] {
        let expected = "y[1] reduce(add) x[0]; y[2] reduce(add) x[2]; y[3] reduce(add) x[1]";
        assert_eq!(body(table, turns), expected, "{turns}");
    }
}

/// In their order, by any step, and with all that turns may do.
#[test]
fn turns_do_what_they_do_in_a_loop() {
    for (turns, expected) in [
        (
            "for (int q = 2; q >= 0; q -= 2) y[q] = x[d[q] + 1];",
            "y[2] = x[0]; y[0] = x[1]",
        ),
        (
            "double s = 0; for (int q = 0; q < 2; q++) s = x[d[q]] - s; y[0] = s;",
            "",
        ),
        (
            "for (int q = 0; q < 3; q++) { if (n > d[q]) continue; y[q] = 1; }",
            "",
        ),
        (
            "for (int q = 0; q < 2; q++) { double t[2] = {x[q]}; t[1] = x[d[q]]; y[q] = t[0] + t[1]; }",
            "",
        ),
    ] {
        let found = body(TABLE, turns);
        let is_loop = found.contains("for") || found.contains("while");
        assert!(!found.contains("d[") && !is_loop, "{found}");
        let is_meant = expected.is_empty() || found == expected;
        assert!(is_meant, "{turns}\n{found}");
    }
}

#[test]
fn other_loops_stay_loops() {
    for turns in [
        // No table says where.
        "for (int q = 0; q < 3; q++) y[q] = x[q];",
        "for (int q = 0; q < 3; q++) y[q] = x[d[1]];",
        // What it calls comes in the place of the call, in each turn again.
        "for (int q = 0; q < 3; q++) y[q] = twice(x[d[q]]);",
        // Not so often each time, or too often.
        "for (int q = 0; q < n; q++) y[q] = x[d[q & 3]];",
        "for (int q = 0; q < 33; q++) y[q] = x[d[q & 3]];",
        "for (int q = 0; q < 9; q++) for (int r = 0; r < 9; r++) y[q] = x[d[q & 3] + d[r & 3]];",
        // It is left, or its variable is something else on the way.
        "for (int q = 0; q < 3; q++) { if (x[d[q]] > 0) break; y[q] = 1; }",
        "for (int q = 0; q < 3; q++) { y[d[q]] = 1; q += n; }",
        "int q; for (q = 0; q < 3; q++) y[d[q]] = x[q];",
        // Somebody asks for it.
        "directions: for (int q = 0; q < 3; q++) y[d[q]] = x[q];",
    ] {
        let found = body(&format!("{TABLE} {TWICE}"), turns);
        assert!(
            found.contains("for") || found.contains("while"),
            "{turns}\n{found}"
        );
    }
}

/// A subscript that is out of range is found out when the kernel runs, and what may change is read.
#[test]
fn what_is_no_constant_is_read() {
    for (before, turns) in [
        (TABLE, "for (int q = 3; q < 5; q++) y[q] = x[d[q]];"),
        (
            "",
            "const int d[2] = {1, n}; for (int q = 0; q < 2; q++) y[q] = x[d[q]];",
        ),
        (
            "",
            "int d[2] = {1, 0}; d[n & 1] = 0; for (int q = 0; q < 2; q++) y[q] = x[d[q]];",
        ),
    ] {
        let found = body(before, turns);
        assert!(
            found.contains("alloc d") && found.contains("x[d["),
            "{found}"
        );
    }
}

#[test]
fn what_is_told_of_other_loops_is_told_of_these() {
    let source = "static const int d[3] = {0, 1}; void f(int y[3]) { for (const int q = 0; q < 3; q++) y[d[q]] = 1; }";
    let (_, diagnostics) = compile(source);
    let told = diagnostics.iter().any(|it| it.message().contains("const"));
    assert!(told, "{source}");
    // Its size may be below zero.
    let found = body("", "const int t[n]; y[0] = 1;");
    assert!(found.contains("alloc t"), "{found}");
}
