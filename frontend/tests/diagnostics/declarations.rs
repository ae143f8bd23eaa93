//! Types, signatures, declarations and constants.

use crate::{assert_in_body, assert_reports};

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
            "void f(int n, int a[n / 2]) {}",
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
            "int p[n]; a[0] = sizeof p;",
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
        ("static int k;", "1 E023 `static` has no meaning here"),
        (
            "a[0] = (struct q)1;",
            "9 E033 nothing is called `struct q` here",
        ),
    ]);
    assert_reports(&[
        (
            "int f(void); static const int n = f(); void g(void) {}",
            "1:31 E070 this has to be constant",
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
        "1:12 E011 variables outside of functions are not in the language",
    )]);
}
