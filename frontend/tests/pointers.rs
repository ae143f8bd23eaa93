//! What becomes of pointers and structures.

use strew_frontend::{Severity, compile};

/// The text of the last kernel.
fn lowered(source: &str) -> String {
    let (kernels, diagnostics) = compile(source);
    let errors: Vec<String> = diagnostics
        .iter()
        .filter(|it| it.severity() == Severity::Error)
        .map(|it| it.message())
        .collect();
    assert_eq!(errors, [""; 0], "{source}");
    kernels
        .last()
        .map(|it| it.kernel.to_string())
        .unwrap_or_default()
}

/// The two sources make the same kernel.
fn assert_same(source: &str, plain: &str) {
    assert_eq!(lowered(source), lowered(plain), "{source}");
}

#[test]
fn a_pointer_that_stays_is_another_name_for_what_it_points_to() {
    let head = "void f(long n, double a[n], double m[n][n])";
    let cases = [
        (
            "for (long i = 0; i < n; i++) { double *row = m[i]; for (long j = 0; j < n; j++) row[j] += a[j]; }",
            "for (long i = 0; i < n; i++) { for (long j = 0; j < n; j++) m[i][j] += a[j]; }",
        ),
        (
            "double *p = a + 2; for (long i = 0; i < n; i++) p[i] = *(p + i);",
            "for (long i = 0; i < n; i++) a[i + 2] = a[i + 2];",
        ),
        (
            "for (long i = 0; i < n; i++) *(a + i) = 1[a];",
            "for (long i = 0; i < n; i++) a[i] = a[1];",
        ),
        (
            "const double *q = &a[3]; *a = q[-1] + *q;",
            "a[0] = a[2] + a[3];",
        ),
        ("double *p = &m[1][2]; p[1] = *&*p;", "m[1][3] = m[1][2];"),
        (
            "*m[1] = **m; (*(m + 2))[1] = 0;",
            "m[1][0] = m[0][0]; m[2][1] = 0;",
        ),
    ];
    for (pointers, plain) in cases {
        let plain = plain.replace("1[a]", "a[1]");
        let pointers = pointers.replace("1[a]", "a[1]");
        assert_same(
            &format!("{head} {{ {pointers} }}"),
            &format!("{head} {{ {plain} }}"),
        );
    }
}

#[test]
fn a_pointer_that_moves_is_a_position() {
    let text =
        lowered("void f(long n, double a[n]) { double *p = a; while (p < a + n) *p++ = 1; }");
    let expected = "kernel @f(n: i64, a: f64[n]) {
  affine.for p in 0..n {
    a[p] = 1.0
  }
}
";
    assert_eq!(text, expected);
}

#[test]
fn structures_are_their_members() {
    let text = lowered(
        "struct p { double x, y; int id; }; void f(int n, struct p a[n]) { \
         for (int i = 0; i < n; i++) { struct p t = a[i]; t.x += t.y; a[i] = t; a[i].id++; } }",
    );
    let expected = "kernel @f(n: i32, a: record(24) { x: f64 @ 0, y: f64 @ 8, id: i32 @ 16 }[n]) {
  affine.for i in 0..n {
    var t_x: f64 = a.x[i]
    let t_y: f64 = a.y[i]
    let t_id: i32 = a.id[i]
    t_x reduce(add) t_y
    let value: f64 = t_x
    let value_2: f64 = t_y
    let value_3: i32 = t_id
    a.x[i] = value
    a.y[i] = value_2
    a.id[i] = value_3
    a.id[i] reduce(add) 1
  }
}
";
    assert_eq!(text, expected);
}

#[test]
fn pointers_reach_members_by_arrows() {
    assert_same(
        "typedef struct { float v; char k; } cell; void f(int n, cell c[n]) { \
         for (int i = 0; i < n; i++) { cell *p = &c[i]; p->v += p->k; (*p).k = c->k; } }",
        "typedef struct { float v; char k; } cell; void f(int n, cell c[n]) { \
         for (int i = 0; i < n; i++) { c[i].v += c[i].k; c[i].k = c[0].k; } }",
    );
}

#[test]
fn the_length_of_a_bare_pointer_comes_with_the_call() {
    let text = lowered(
        "struct p { short k; }; void f(long n, int *h, const float (*m)[4], struct p *q) { \
         for (long i = 0; i < n; i++) h[q[i].k] += m[i][3]; }",
    );
    let head = "kernel @f(n: i64, infer h_length: i64, h: i32[h_length], infer m_length: i64, m: f32[m_length, 4], \
        infer q_length: i64, q: record(2) { k: i16 @ 0 }[q_length])";
    assert!(text.starts_with(head), "{text}");
}

#[test]
fn names_of_local_arrays_are_given_once() {
    let text = lowered(
        "static void g(int a[3]) { int t[2] = {1}; a[0] += t[0]; } \
         void f(int a[3], int *b, int b_length) { { int t[3]; t[1] = 2; g(t); } { int a[1]; a[0] = 1; } g(a); }",
    );
    for name in [
        "alloc t:",
        "alloc t_2:",
        "alloc t_3:",
        "alloc a_2:",
        "infer b_length_2",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
}

#[test]
fn pointers_into_rows_that_are_written_alike_are_compared() {
    let head = "void f(long n, long m, const double x[n][m], double s[n], long at)";
    let plain = format!(
        "{head} {{ for (long i = 0; i < n; i++) for (long j = 0; j < m; j++) s[i] += x[i][j]; }}"
    );
    for row in [
        "const double *p = x[i], *end = x[i] + m; while (p < end) s[i] += *p++;",
        "const double *p = x[i], *end = &x[i][m]; while (p < end) s[i] += *p++;",
        "const double *p = x[i], *end = x[i] + m; for (; p != end; ++p) s[i] += *p;",
        "for (const double *p = x[i]; p < x[i] + m; p++) s[i] += *p;",
        "for (const double *p = x[i]; p < &x[i][m]; p++) s[i] += *p;",
    ] {
        let pointers = format!("{head} {{ for (long i = 0; i < n; i++) {{ {row} }} }}");
        let kernel = lowered(&pointers);
        assert!(kernel.contains("reduce(add) x["), "{row}: {kernel}");
        assert!(!kernel.contains("scf."), "{row}: {kernel}");
        assert_eq!(kernel.matches("affine.for").count(), 2, "{row}: {kernel}");
        assert!(lowered(&plain).contains("in 0..m"), "{plain}");
        assert!(kernel.contains("in 0..m"), "{row}: {kernel}");
    }
    // A pointer stays in its row where the variable that it was found by moves on.
    let moved = "const double *p = x[at]; at++; while (p < x[at] + m) s[0] += *p++;";
    let kernel = lowered(&format!("{head} {{ {moved} }}"));
    assert!(kernel.contains("x[at, "), "{kernel}");
    assert!(!kernel.contains("affine.for"), "{kernel}");
    let other =
        format!("{head} {{ const double *p = x[at]; while (p < x[at + 1]) s[0] += *p++; }}");
    let (_, diagnostics) = compile(&other);
    let messages: Vec<_> = diagnostics.iter().map(|it| it.message()).collect();
    assert_eq!(messages, ["these pointers are in different rows of `x`"]);
}
