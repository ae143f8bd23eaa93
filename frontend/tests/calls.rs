//! Calls of functions of the file: what they become where they are called.

use strew_affine::verify::verify;
use strew_frontend::compile;

/// The names of the kernels, and the lines of the last one.
fn kernels(source: &str) -> (Vec<String>, Vec<String>) {
    let (kernels, diagnostics) = compile(source);
    let messages: Vec<String> = diagnostics.iter().map(|it| it.message()).collect();
    assert!(messages.is_empty(), "{source}\n{messages:#?}");
    let names = kernels.iter().map(|it| it.kernel.name.clone()).collect();
    let kernel = kernels.last().expect("a kernel").kernel.clone();
    let text = kernel.to_string();
    let verified = verify(kernel);
    assert!(verified.is_ok(), "{text}\n{verified:?}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let last = lines.len() - 1;
    (
        names,
        lines[1..last].iter().map(|it| (*it).to_owned()).collect(),
    )
}

fn assert_lines(source: &str, expected: &[&str]) {
    assert_eq!(kernels(source).1, expected, "{source}");
}

#[test]
fn a_static_function_is_a_kernel_only_where_there_are_no_others() {
    let called = "static double g(double x) { return x; } void f(double a[1]) { a[0] = g(1); }";
    assert_eq!(kernels(called).0, ["f"]);
    let idle = "static int g(int v) { return v + 1; } void f(double a[1]) { a[0] = 1; }";
    assert_eq!(kernels(idle).0, ["f"]);
    assert_eq!(kernels("static void g(double a[1]) { a[0] = 1; }").0, ["g"]);
    let plain = "void g(double a[1]) { a[0] = 1; } void f(double a[1]) { g(a); }";
    assert_eq!(kernels(plain).0, ["g", "f"]);
}

#[test]
fn arguments_that_are_kept_are_evaluated_once() {
    assert_lines(
        "static double square(double v) { return v * v; }
         void f(int n, const int s[n], const double x[n], double out[n]) {
           for (int i = 0; i < n; i++) out[s[i]] += square(x[i]) + square(2);
         }",
        &[
            "affine.for i in 0..n {",
            "let v: f64 = x[i]",
            "out[s[i]] reduce(add) v * v + 2.0 * 2.0",
            "}",
        ],
    );
}

#[test]
fn arrays_keep_their_names_and_subscripts_their_form() {
    assert_lines(
        "static void row(int w, double m[][w], int r, double v) { for (int j = 0; j < w; j++) m[r][j] = v; }
         void f(int n, int m, double g[n][m]) { for (int i = 0; i < n; i++) row(m, g, i, i); }",
        &[
            "affine.for i in 0..n {",
            "let v: f64 = f64(i32(i))",
            "affine.for j in 0..m {",
            "g[i, j] = v",
            "}",
            "}",
        ],
    );
}

#[test]
fn returns_that_only_choose_are_an_expression() {
    assert_lines(
        "static int sign(int v) { if (v < 0) return -1; if (v > 0) { return 1; } else return 0; }
         void f(int n, int k[n]) { for (int i = 0; i < n; i++) k[i] = sign(k[i]); }",
        &[
            "affine.for i in 0..n {",
            "let v: i32 = k[i]",
            "k[i] = v < 0 ? -1 : v > 0 ? 1 : 0",
            "}",
        ],
    );
}

#[test]
fn a_return_from_the_middle_leaves_the_callee_alone() {
    assert_lines(
        "static int count(int v) { int c = 0; while (v > 0) { if (v == 7) return c; v /= 2; c++; } return -c; }
         void f(int n, int k[n]) { k[0] = count(k[1]); k[2] = n; }",
        &[
            "let v: i32 = k[1]",
            "var v_2: i32 = v",
            "var result: i32 = 0",
            "var done: bool = false",
            "var c: i32 = 0",
            "var again: bool = true",
            "scf.while again && v_2 > 0 {",
            "scf.if v_2 == 7 {",
            "result = c",
            "again = false",
            "done = true",
            "} else {",
            "v_2 = v_2 / 2",
            "c reduce(add) 1",
            "}",
            "}",
            "scf.if !done {",
            "result = -c",
            "}",
            "k[0] = result",
            "k[2] = n",
        ],
    );
}

#[test]
fn a_reduction_is_seen_through_a_call() {
    assert_lines(
        "static int larger(int a, int b) { return a > b ? a : b; }
         static short lesser(short a, short b) { if (b < a) return b; return a; }
         void f(int n, const int s[n], const int k[n], int h[n], short w[n]) {
           int best = 0;
           for (int i = 0; i < n; i++) {
             h[s[i]] = larger(h[s[i]], k[i]);
             w[s[i]] = lesser(w[s[i]], 3);
             best = larger(k[i], best);
             h[i] = larger(h[i], h[s[i]]);
           }
           h[0] = best;
         }",
        &[
            "var best: i32 = 0",
            "affine.for i in 0..n {",
            "let b: i32 = k[i]",
            "h[s[i]] reduce(max) b",
            "w[s[i]] reduce(min) 3",
            "best reduce(max) b",
            "let a: i32 = h[i]",
            "let b_2: i32 = h[s[i]]",
            "h[i] = a > b_2 ? a : b_2",
            "}",
            "h[0] = best",
        ],
    );
}

#[test]
fn a_function_of_the_library_is_a_call() {
    assert_lines(
        "#include <math.h>
         void f(int n, float x[n], double y[n]) {
           for (int i = 0; i < n; i++) { y[i] = sqrt(x[i]) + pow(y[i], 2); x[i] = sqrtf(x[i]) + fabs(i); }
         }",
        &[
            "affine.for i in 0..n {",
            "y[i] = sqrt(f64(x[i])) + pow(y[i], 2.0)",
            "x[i] = f32(f64(sqrt(x[i])) + fabs(f64(i32(i))))",
            "}",
        ],
    );
}

#[test]
fn a_kernel_returns_what_its_last_statement_says() {
    let source = "double dot(int n, const double x[n], const double y[n]) {
           double s = 0; for (int i = 0; i < n; i++) s += x[i] * y[i]; return s; }";
    let text = compile(source).0[0].kernel.to_string();
    let expected = "kernel @dot(n: i32, x: f64[n], y: f64[n]) -> f64 {\n  var s: f64 = 0.0\n  affine.for i in 0..n {\n    \
        s reduce(add) x[i] * y[i]\n  }\n  return s\n}";
    assert_eq!(text.trim_end(), expected);
    assert_lines(
        "int first(int n, const int k[n], int v) { for (int i = 0; i < n; i++) if (k[i] == v) return i; return -1; }",
        &[
            "var result: i32 = 0",
            "var done: bool = false",
            "var i: i32 = 0",
            "var again: bool = true",
            "scf.while again && i < n {",
            "scf.if k[i] == v {",
            "result = i",
            "again = false",
            "done = true",
            "}",
            "scf.if again {",
            "i reduce(add) 1",
            "}",
            "}",
            "scf.if !done {",
            "result = -1",
            "}",
            "return result",
        ],
    );
}
