//! Types, signatures, declarations and constants.

use crate::{assert_in_body, assert_reports, helps, report};

#[test]
fn signatures() {
    assert_reports(&[
        (
            "int f(int n) { if (n) return 1; }",
            "1:5 W004 `f` can end without returning a value",
        ),
        (
            "int f(int n) { if (n) return; return 1; }",
            "1:23 E061 this `return` lacks a value",
        ),
        (
            "int *f(int n) { return 0; }",
            "1:1 E011 functions that return pointers are not in the language",
        ),
        (
            "struct p { int x; }; struct p f(struct p p[1]) { return p[0]; }",
            "1:22 E011 the kernel `f` returns a structure; only functions that others call can do that",
        ),
        (
            "void f(long double x) {}",
            "1:8 E021 `long double` is not a type of the language",
        ),
        ("void f(void x) {}", "1:8 E022 `void` has no values"),
        (
            "void f(static int x) {}",
            "1:8 E023 `static` has no meaning here",
        ),
        ("void f(int) {}", "1:8 E024 this parameter has no name"),
        (
            "void f(int n, int a[n][]) {}",
            "1:23 E025 the array `a` has no length",
        ),
        (
            "void f(float n, int a[n]) {}",
            "1:22 E026 this length of `a` is not known when the kernel is called",
        ),
        (
            "void f(int n, int a[n % 2]) {}",
            "1:20 E026 this length of `a` is not known when the kernel is called",
        ),
        (
            "void f(int a[n], int n) {}",
            "1:14 E030 nothing is called `n` here",
        ),
        ("void f(int n, int n) {}", "1:19 E031 `n` is declared twice"),
        (
            "void f(void) {} void f(void) {}",
            "1:22 E031 `f` is declared twice",
        ),
    ]);
}

#[test]
fn declarations_and_constants() {
    assert_in_body(&[
        (
            "int p[3] = {1, 2, 3, 4};",
            "22 E075 this initial value is beyond the end of the array",
        ),
        (
            "int p[3] = 1;",
            "12 E073 an array is initialised by a list in braces",
        ),
        (
            "int p[3] = {{{1}, 2}};",
            "13 E074 there are more braces here than dimensions",
        ),
        (
            "int p[n] = {1};",
            "12 E076 `p` has initial values, but its length is not constant",
        ),
        ("int p[];", "6 E025 the array `p` has no length"),
        (
            "int p[(int)g];",
            "6 E026 this length of `p` is not known when the kernel is called",
        ),
        (
            "int p[3] = {.x = 1};",
            "14 E034 `x` is a member of nothing here",
        ),
        ("int p[3] = {[n] = 1};", "14 E070 this has to be constant"),
        (
            "int k = {1, 2};",
            "9 E027 values in braces stand where one number is needed",
        ),
        ("enum { A = n };", "12 E070 this has to be constant"),
        (
            "enum { A = 3000000000 };",
            "8 E071 the constant `A` does not fit an `int`",
        ),
        ("enum { A, A };", "11 E031 `A` is declared twice"),
        ("enum { A }; A = 1;", "13 E044 `A` is `const`"),
        ("enum { A }; A++;", "13 E044 `A` is `const`"),
        ("enum e k;", "6 E033 nothing is called `enum e` here"),
        (
            "int p[n]; a[0] = sizeof *(n++ ? &p : &p);",
            "18 E072 the size of this is not constant",
        ),
        (
            "typedef int *P;",
            "13 E011 `P` names a pointer or array type; those cannot be given names",
        ),
        (
            "struct p { int *x; };",
            "16 E011 the member `x` is a pointer",
        ),
        ("struct p { int x, x; };", "19 E031 `x` is declared twice"),
        (
            "static int k;",
            "1 E011 a `static` local is not in the language",
        ),
        (
            "a[0] = (struct q)1;",
            "9 E033 nothing is called `struct q` here",
        ),
    ]);
    assert_reports(&[
        (
            "int f(void); static const int n = f(); void g(void) {}",
            "1:35 E070 this has to be constant",
        ),
        (
            "const int t[2] = {1, 2, 3}; void g(void) {}",
            "1:25 E075 this initial value is beyond the end of the array",
        ),
        (
            "void g(int a[k]) {} const int k = 2;",
            "1:14 E030 nothing is called `k` here",
        ),
        (
            "const double t[3]; void g(void) { t[0] = 1; }",
            "1:35 E044 `t` is `const`",
        ),
    ]);
}

#[test]
fn variables_of_files() {
    assert_reports(&[(
        "static int n = 4; void f(void) {}",
        "1:12 E011 `n` is a variable outside of functions, which is not in the language",
    )]);
}

#[test]
fn names_that_are_no_types_are_reported_once() {
    let source = "typedef float scalar;\nstruct point { double x; };\n\
        uint32 f(uint32 n, scaler x[n], point *p, foo_t *q) {\n\
        for (foo_t i = 0; i < n; i++) x[i] = (real)x[i] + q[i] + p[i];\nreturn n;\n}";
    let expected = [
        "3:1 E028 there is no type `uint32`",
        "3:20 E028 there is no type `scaler`",
        "3:33 E028 there is no type `point`",
        "3:43 E028 there is no type `foo_t`",
        "4:39 E028 there is no type `real`",
    ];
    assert_eq!(report(source), expected);
    let helps = helps(source);
    let expected = [
        "did you mean `uint32_t`?",
        "did you mean `scalar`?",
        "did you mean `struct point`?",
        "name a type of C, or declare it in this file: `typedef double real;`",
        "did you mean `double`?",
    ];
    assert_eq!(helps, expected);
    assert_reports(&[
        (
            "typedef foo_t bar; bar f(bar n) { bar k = n; return (bar)k; }",
            "1:9 E028 there is no type `foo_t`",
        ),
        (
            "static inline real f(const real x) { const real y = x; return y; }",
            "1:15 E028 there is no type `real`",
        ),
        (
            "static f(void) { return 1; }",
            "1:1 E021 a type is missing here",
        ),
    ]);
}

#[test]
fn what_was_refused_is_declared_all_the_same() {
    assert_reports(&[
        (
            "int count; void f(int a[1]) { a[0] = count++; }",
            "1:5 E011 `count` is a variable outside of functions, which is not in the language",
        ),
        (
            "extern const double k; void f(double a[1]) { a[0] = k; }",
            "1:21 E011 `k` is a variable outside of functions, which is not in the language",
        ),
        (
            "static const int t[] = {1, unknown}; int f(void) { return t[0]; }",
            "1:28 E030 nothing is called `unknown` here",
        ),
        (
            "int f(void) { static int count = 0; count++; return count; }",
            "1:15 E011 a `static` local is not in the language",
        ),
        (
            "int f(int n, int a[n][n]) { int (*row)[n] = a; return row[1][0]; }",
            "1:33 E011 `row` is a pointer to rows, which only a parameter can be",
        ),
        (
            "double f(int n, double a[n]) { long double s = 0; s += a[0]; return s; }",
            "1:32 E021 `long double` is not a type of the language",
        ),
        (
            "double f(int n, double *a[n]) { return a[0][0]; }",
            "1:24 E011 `a` holds pointers, which are not in the language as elements",
        ),
    ]);
}

#[test]
fn static_assertions() {
    assert_in_body(&[
        (
            "_Static_assert(sizeof(int) == 2, \"int has \" \"two bytes\");",
            "16 E073 this assertion does not hold: int has two bytes",
        ),
        ("static_assert(0);", "15 E073 this assertion does not hold"),
        (
            "_Static_assert(n > 0, \"n\");",
            "16 E070 this has to be constant",
        ),
    ]);
    assert_reports(&[(
        "#define CHECK(x) _Static_assert(x, #x)\nenum { N = 3 };\nCHECK(N == 4);\nvoid f(void) {}",
        "3:1 E073 this assertion does not hold: N == 4",
    )]);
}
