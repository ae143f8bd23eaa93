//! Loops and subscripts that become affine, with what that assumes.

use strew_affine::verify::verify;
use strew_frontend::{Lowered, compile, compile_exact};

fn text(compiled: (Vec<Lowered>, Vec<strew_frontend::Diagnostic>)) -> Vec<String> {
    let (kernels, diagnostics) = compiled;
    let messages: Vec<String> = diagnostics.iter().map(|it| it.message()).collect();
    assert!(messages.is_empty(), "{messages:#?}");
    let kernel = kernels[0].kernel.clone();
    let text = kernel.to_string().replace('`', "");
    let verified = verify(kernel);
    assert!(verified.is_ok(), "{text}\n{verified:?}");
    text.lines().map(|it| it.trim().to_owned()).collect()
}

const PARAMETERS: &str = "int n, int m, int s, int64_t l, unsigned u, size_t w, double x[n], double y[n][m], double z[w], int row[n + 1]";

/// What the kernel assumes, and the lines of its body.
fn raised(code: &str) -> (String, Vec<String>) {
    let source = format!("void f({PARAMETERS}) {{ {code} }}");
    let exact = text(compile_exact(&source));
    assert!(!exact[0].contains("assume"), "{exact:#?}");
    let mut lines = text(compile(&source));
    let head = lines.remove(0);
    let assumed = head.split(" assume ").nth(1).unwrap_or_default();
    let assumed = assumed.trim_end_matches(" {").to_owned();
    lines.pop();
    (assumed, lines)
}

fn assert_raised(cases: &[(&str, &str, &[&str])]) {
    for (code, assumed, lines) in cases {
        let found = raised(code);
        assert_eq!(found.1, *lines, "{code}");
        assert_eq!(found.0, *assumed, "{code}");
    }
}

#[test]
fn affine_facts_that_may_fail_are_assumed() {
    assert_raised(&[
        (
            "for (int i = 0; i <= n; i++) x[i] = 1;",
            "(n <= 2147483646)",
            &["affine.for i in 0..n + 1 {", "x[i] = 1.0", "}"],
        ),
        (
            "for (int i = 0; i < l; i++) z[i] = 1;",
            "(l <= 2147483647)",
            &["affine.for i in 0..l {", "z[i] = 1.0", "}"],
        ),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) z[i * m + j] = 1;",
            "(n * m <= 2147483648)",
            &[
                "affine.for i in 0..n {",
                "affine.for j in 0..m {",
                "z[i * m + j] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) z[2 * i + 1] = x[i];",
            "(n * 2 <= 2147483648)",
            &["affine.for i in 0..n {", "z[i * 2 + 1] = x[i]", "}"],
        ),
        // Twice the turns that half of `j` is are not more than `j` and one.
        (
            "for (int j = 0; j < n; j++) for (int k = j - 1; k >= 0; k -= 2) x[j] -= x[k % n];",
            "",
            &[
                "affine.for j in 0..n {",
                "affine.for k_turn in 0..j ceildiv 2 {",
                "x[j] = x[j] - x[(j - k_turn * 2 - 1) mod n]",
                "}",
                "}",
            ],
        ),
        (
            "for (unsigned i = 0; i < u; i++) z[u - 1 - i] = 1;",
            "",
            &["affine.for i in 0..u {", "z[-i + u - 1] = 1.0", "}"],
        ),
        (
            "for (int i = 0; i < n; i++) for (int j = i + 1; j < n; j++) x[j - i] = 1;",
            "",
            &[
                "affine.for i in 0..n {",
                "affine.for j in i + 1..n {",
                "x[-i + j] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "for (size_t i = 0; i + 1 < w; i++) z[i] = z[i + 1];",
            "",
            &["affine.for i in 0..w - 1 {", "z[i] = z[i + 1]", "}"],
        ),
        (
            "for (size_t i = 1; i < l; i++) z[i - 1] = 1;",
            "(0 <= l)",
            &["affine.for i in 1..l {", "z[i - 1] = 1.0", "}"],
        ),
        (
            "int r = n & ~3; for (int i = 0; i < r; i++) x[i] = 1;",
            "",
            &["affine.for i in 0..(n floordiv 4) * 4 {", "x[i] = 1.0", "}"],
        ),
        (
            "unsigned r = u & 0xfffffff8u; for (unsigned i = 0; i < r; i++) z[i] = 1;",
            "",
            &["affine.for i in 0..(u floordiv 8) * 8 {", "z[i] = 1.0", "}"],
        ),
        (
            "int i = 0; do x[i] = 1; while (++i < n);",
            "(1 <= n)",
            &["affine.for i in 0..n {", "x[i] = 1.0", "}"],
        ),
        (
            "int i = 0; if (n > 0) do { x[i] = 1; i++; } while (i < n);",
            "",
            &[
                "affine.if (0 < n) {",
                "affine.for i in 0..n {",
                "x[i] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "for (int i = 0;; i++) { if (i >= n) break; x[i] = 1; }",
            "",
            &["affine.for i in 0..n {", "x[i] = 1.0", "}"],
        ),
        (
            "int i = n; while (--i >= 0) x[i] = 1;",
            "",
            &[
                "affine.for i_turn in 0..n {",
                "x[-i_turn + n - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (int8_t i = 0; i < n; i++) x[i] = 1;",
            "(n <= 127)",
            &["affine.for i in 0..n {", "x[i] = 1.0", "}"],
        ),
    ]);
}

#[test]
fn every_usual_loop_is_counted() {
    assert_raised(&[
        (
            "for (int i = n - 1; i >= 0; i--) x[i] = 1;",
            "",
            &[
                "affine.for i_turn in 0..n {",
                "x[-i_turn + n - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = n; i > 0; i--) x[i - 1] = 1;",
            "",
            &[
                "affine.for i_turn in 0..n {",
                "x[-i_turn + n - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = n; i-- > 0; ) x[i] = 1;",
            "",
            &[
                "affine.for i_turn in 0..n {",
                "x[-i_turn + n - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (unsigned i = u; i-- > 0; ) z[i] = 1;",
            "",
            &[
                "affine.for i_turn in 0..u {",
                "z[-i_turn + u - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (size_t i = w; i-- != 0; ) z[i] = 1;",
            "",
            &[
                "affine.for i_turn in 0..w {",
                "z[-i_turn + w - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i += s) x[i] = 1;",
            "(1 <= s, n + s <= 2147483648)",
            &[
                "affine.for i_turn in 0..n ceildiv s {",
                "x[i_turn * s] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = n - 1; i >= 0; i -= s) x[i] = 1;",
            "(1 <= s)",
            &[
                "affine.for i_turn in 0..n ceildiv s {",
                "x[-i_turn * s + n - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i += 2) x[i] = 1;",
            "(n <= 2147483646)",
            &["affine.for i in 0..n step 2 {", "x[i] = 1.0", "}"],
        ),
        (
            "for (int i = n - 1; i >= 0; i -= 3) x[i] = 1;",
            "",
            &[
                "affine.for i_turn in 0..n ceildiv 3 {",
                "x[-i_turn * 3 + n - 1] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = 0; i != m; i += 2) z[i] = 1;",
            "(m mod 2 <= 0, m <= 2147483646)",
            &["affine.for i in 0..m step 2 {", "z[i] = 1.0", "}"],
        ),
        (
            "for (int i = 0; i < n && i < m; i++) x[i] = 1;",
            "",
            &["affine.for i in 0..min(n, m) {", "x[i] = 1.0", "}"],
        ),
        (
            "for (int i = 0; i < n; i += 32) for (int j = i; j < (i + 32 < n ? i + 32 : n); j++) x[j] = 1;",
            "(n <= 2147483616)",
            &[
                "affine.for i in 0..n step 32 {",
                "affine.for j in i..min(i + 32, n) {",
                "x[j] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "int i = 0; while (i < n) { x[i] = 1; i++; }",
            "",
            &["affine.for i in 0..n {", "x[i] = 1.0", "}"],
        ),
        (
            "int i; for (i = 0; i < n; i += 4) x[i] = 1; x[0] = i;",
            "(n <= 2147483644)",
            &[
                "var i: i32 = 0",
                "i = 0",
                "affine.for i_2 in 0..n step 4 {",
                "x[i_2] = 1.0",
                "}",
                "i = 4 * i32((i64(n) + 3) / 4)",
                "x[0] = f64(i)",
            ],
        ),
    ]);
}

#[test]
fn variables_that_change_by_the_same_in_each_turn_are_functions_of_the_iterator() {
    assert_raised(&[
        (
            "for (int i = 0, j = n - 1; i < j; i++, j--) { double t = x[i]; x[i] = x[j]; x[j] = t; }",
            "",
            &[
                "affine.for i in 0..(n - 1) ceildiv 2 {",
                "let t: f64 = x[i]",
                "x[i] = x[-i + n - 1]",
                "x[-i + n - 1] = t",
                "}",
            ],
        ),
        (
            "int k = 0; for (int i = 0; i < n; i++) { z[k] = 1; k += 2; }",
            "(n * 2 <= 2147483649)",
            &["affine.for i in 0..n {", "z[i * 2] = 1.0", "}"],
        ),
        (
            "int j; for (int i = 0; i < n; i++) { j = i / 2; z[j] = 1; }",
            "",
            &["affine.for i in 0..n {", "z[i floordiv 2] = 1.0", "}"],
        ),
        (
            "for (int k = 0; k < n * m; k++) y[k / m][k % m] = 1;",
            "(n * m <= 2147483647)",
            &[
                "affine.for k in 0..n * m {",
                "y[delinearize_index k into (n, m)] = 1.0",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) for (int j = 0; j < n; j++) for (int k = 0; k < n; k++) z[(i * n + j) * n + k] = 1;",
            "(n * n * n <= 2147483648)",
            &[
                "affine.for i in 0..n {",
                "affine.for j in 0..n {",
                "affine.for k in 0..n {",
                "z[i * n * n + j * n + k] = 1.0",
                "}",
                "}",
                "}",
            ],
        ),
        (
            "double *p = z; for (int i = 0; i < n; i++) *p++ = x[i];",
            "",
            &["affine.for i in 0..n {", "z[i] = x[i]", "}"],
        ),
        (
            "for (double *p = z; p < z + w; p++) *p = 1;",
            "",
            &["affine.for p in 0..w {", "z[p] = 1.0", "}"],
        ),
        (
            "int a = 0, b = 0; for (int i = 0; i < n; i++) { z[a] = x[b]; a++; b += 3; }",
            "(n * 3 <= 2147483650)",
            &["affine.for i in 0..n {", "z[i] = x[i * 3]", "}"],
        ),
    ]);
}

#[test]
fn compressed_rows_are_loops_over_loaded_bounds() {
    assert_raised(&[
        (
            "for (int v = 0; v < n; v++) for (int k = row[v]; k < row[v + 1]; k++) z[k] = 1;",
            "",
            &[
                "affine.for v in 0..n {",
                "scf.for k in i64(row[v])..i64(row[v + 1]) {",
                "z[k] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "int k; for (int v = 0; v < n; v++) for (k = row[v]; k < row[v + 1]; ++k) z[k] = 1;",
            "",
            &[
                "affine.for v in 0..n {",
                "scf.for k in i64(row[v])..i64(row[v + 1]) {",
                "z[k] = 1.0",
                "}",
                "}",
            ],
        ),
        (
            "for (size_t v = 0; v < (size_t)n; v++) for (int64_t k = row[v]; k < row[v + 1]; ++k) z[k] = 1;",
            "",
            &[
                "affine.for v in 0..n {",
                "scf.for k in i64(row[v])..i64(row[v + 1]) {",
                "z[k] = 1.0",
                "}",
                "}",
            ],
        ),
    ]);
}

#[test]
fn conditions_guard_what_they_stand_before() {
    assert_raised(&[
        (
            "for (size_t v = 0; v < w; v++) if (v > 0) z[v - 1] = z[v];",
            "",
            &[
                "affine.for v in 0..w {",
                "affine.if (0 < v) {",
                "z[v - 1] = z[v]",
                "}",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) { if (i < 2 || i >= n - 2) continue; x[i] = x[i - 2] + x[i + 2]; }",
            "",
            &[
                "affine.for i in 0..n {",
                "affine.if (2 <= i, i < n - 2) {",
                "x[i] = x[i - 2] + x[i + 2]",
                "}",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) { if (i == m) continue; x[i] = 1; }",
            "",
            &[
                "affine.for i in 0..n {",
                "affine.if (i == m) {",
                "} else {",
                "x[i] = 1.0",
                "}",
                "}",
            ],
        ),
    ]);
}

#[test]
fn variables_that_carry_nothing_are_declared_where_they_are_used() {
    assert_raised(&[
        (
            "double t; int i; for (i = 0; i < n; i++) { t = x[i]; x[i] = t * t; }",
            "",
            &[
                "affine.for i in 0..n {",
                "let t: f64 = x[i]",
                "x[i] = t * t",
                "}",
            ],
        ),
        (
            "double t; for (int i = 0; i < n; i++) { t = x[i]; if (t > 0) t = 1; x[i] = t; } for (int i = 0; i < m; i++) { t = row[i]; z[i] = t; }",
            "",
            &[
                "affine.for i in 0..n {",
                "var t: f64 = x[i]",
                "scf.if t > 0.0 {",
                "t = 1.0",
                "}",
                "x[i] = t",
                "}",
                "affine.for i_2 in 0..m {",
                "let t_2: f64 = f64(row[i_2])",
                "z[i_2] = t_2",
                "}",
            ],
        ),
        (
            "double t = 2; for (int i = 0; i < n; i++) { x[i] = t; t = x[i] + 1; }",
            "",
            &[
                "var t: f64 = 2.0",
                "affine.for i in 0..n {",
                "x[i] = t",
                "t = x[i] + 1.0",
                "}",
            ],
        ),
        (
            "double t; for (int i = 0; i < n; i++) { t = x[i]; } x[0] = t;",
            "",
            &[
                "var t: f64 = 0.0",
                "affine.for i in 0..n {",
                "t = x[i]",
                "}",
                "x[0] = t",
            ],
        ),
    ]);
}

#[test]
fn a_variable_that_runs_on_through_an_outer_loop_keeps_its_value() {
    assert_raised(&[(
        "int p = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) z[p++] = 1;",
        "",
        &[
            "var p: i32 = 0",
            "affine.for i in 0..n {",
            "affine.for j in 0..m {",
            "let value: i32 = p + i32(j)",
            "z[value] = 1.0",
            "}",
            "p = p + i32(i64(m))",
            "}",
        ],
    )]);
}

/// With a sum of sizes for an end, the end of the type would be a single condition, which none but
/// empty arrays meet.
#[test]
fn what_is_assumed_leaves_room_for_sizes() {
    let (assumed, _) =
        raised("for (int i = 0; i < n; i++) for (int j = 0; j < m - s; j++) z[i * m + j] = 1;");
    let conditions = assumed.trim_matches(['(', ')']).split(", ");
    for condition in conditions {
        assert!(condition.contains("214748364"), "{condition} of {assumed}");
    }
}
