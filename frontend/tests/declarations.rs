//! What declarations of types and constants make of a kernel.

use strew_frontend::{Severity, compile};

/// The text of the only kernel.
fn lowered(source: &str) -> String {
    let (kernels, diagnostics) = compile(source);
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|it| it.severity() == Severity::Error)
        .map(|it| it.message())
        .collect();
    assert_eq!(errors, [""; 0], "{source}");
    assert_eq!(kernels.len(), 1, "{source}");
    kernels[0].kernel.to_string()
}

/// The two sources make the same kernel.
fn assert_same(source: &str, plain: &str) {
    assert_eq!(lowered(source), lowered(plain), "{source}");
}

#[test]
fn names_of_types_stand_for_their_types() {
    assert_same(
        "typedef unsigned long index_t; void f(index_t n, float a[n]) { a[n / 2] = (index_t)a[0]; }",
        "void f(unsigned long n, float a[n]) { a[n / 2] = (unsigned long)a[0]; }",
    );
    assert_same(
        "typedef int T; typedef T U; void f(U n, int a[n]) { typedef short T; T t = n; a[0] = t; }",
        "void f(int n, int a[n]) { short t = n; a[0] = t; }",
    );
    assert_same(
        "typedef enum { RED = 3, GREEN } color; void f(int n, int a[n]) { color c = GREEN; a[0] = c + RED; }",
        "void f(int n, int a[n]) { unsigned c = 4; a[0] = c + 3; }",
    );
}

#[test]
fn constants_are_put_in_the_place_of_their_names() {
    assert_same(
        "enum { N = 4, M = N * 2 + 1, K }; static const int W = sizeof(double) * K; \
         void f(double a[N][M], int b[W]) { b[0] = W - K; { int N = 2; b[1] = N; } }",
        "void f(double a[4][9], int b[80]) { b[0] = 70; { int N = 2; b[1] = N; } }",
    );
    assert_same(
        "static const double H = 1.0 / 3; const float G = H; void f(double a[2]) { a[0] = H; a[1] = G; }",
        &format!(
            "void f(double a[2]) {{ a[0] = {:?}; a[1] = {:?}f; }}",
            1.0_f64 / 3.0,
            (1.0_f64 / 3.0) as f32
        ),
    );
}

#[test]
fn sizes_are_constants_of_type_size_t() {
    assert_same(
        "struct p { char c; double d; short s; }; \
         void f(unsigned long a[9], const float x[3]) { \
           double t[3][5]; int k = 0; a[0] = sizeof t; a[1] = sizeof t[0]; a[2] = sizeof t / sizeof *t; \
           a[3] = sizeof(struct p); a[4] = sizeof x; a[5] = sizeof x[0]; a[6] = sizeof(k++); \
           a[7] = sizeof(char[7]); a[8] = sizeof(k > 1.0) + sizeof 'a' + sizeof(double *); t[0][0] = k; }",
        "void f(unsigned long a[9], const float x[3]) { \
           double t[3][5]; int k = 0; a[0] = 120ul; a[1] = 40ul; a[2] = 3ul; a[3] = 24ul; a[4] = 8ul; a[5] = 4ul; \
           a[6] = 4ul; a[7] = 7ul; a[8] = 16ul; t[0][0] = k; }",
    );
}

#[test]
fn initial_values_are_for_the_elements_that_c_says() {
    let text = lowered(
        "void f(int n, double out[n]) { int t[3][2] = {1, 2, {3}, [2][1] = 6}; double v[n + 1]; \
         const float w[] = {0.5, [3] = 2}; v[n] = w[n]; out[0] = v[n] + t[2][1]; }",
    );
    let expected = "kernel @f(n: i32, out: f64[n]) {
  alloc t: i32[3, 2]
  t[0, 0] = 1
  t[0, 1] = 2
  t[1, 0] = 3
  t[2, 1] = 6
  alloc v: f64[n + 1]
  alloc w: f32[4]
  w[0] = 0.5
  w[3] = 2.0
  v[n] = f64(w[n])
  out[0] = v[n] + f64(t[2, 1])
}
";
    assert_eq!(text, expected);
}

#[test]
fn constant_arrays_of_the_file_are_made_by_the_kernels_that_use_them() {
    let text = lowered(
        "static const double unused[2] = {1}; static const double w[3] = {0.25, -0.5}; \
         void f(double a[3]) { for (int i = 0; i < 3; i++) a[i] = w[i]; }",
    );
    let expected = "kernel @f(a: f64[3]) {
  alloc w: f64[3]
  w[0] = 0.25
  w[1] = -0.5
  affine.for i in 0..3 {
    a[i] = w[i]
  }
}
";
    assert_eq!(text, expected);
}
