//! Calls.

use crate::{assert_in_body, assert_reports};

#[test]
fn calls() {
    assert_in_body(&[
        ("a[0] = sqr(a[0]);", "8 E080 there is no function `sqr`"),
        ("frobnicate();", "1 E080 there is no function `frobnicate`"),
        (
            "a[0] = sqrtl(a[0]);",
            "8 E082 `sqrtl` computes in `long double`",
        ),
        (
            "a[0] = pow(a[0]);",
            "8 E083 `pow` takes 2 arguments, here it gets 1",
        ),
        (
            "other(n);",
            "1 E083 `other` takes 0 arguments, here it gets 1",
        ),
        ("a[0] = other();", "8 E022 `void` has no values"),
        (
            "a[0] = sin(a);",
            "12 E041 the array `a` stands where a number is needed",
        ),
    ]);
    assert_reports(&[
        (
            "double g(double x);\nvoid f(double a[2]) { a[0] = g(1); }",
            "2:30 E081 `g` is declared here, but not defined",
        ),
        (
            "static void g(int n, float x[n]) { x[0] = 1; }\nvoid f(int n, double a[n]) { g(n, a); }",
            "2:30 E085 `a` is `double[n]`, the parameter `x` is `float[]`",
        ),
        (
            "static void g(int n, double x[n]) { x[0] = 1; }\nvoid f(int n, double a[n][4]) { g(n, a); }",
            "2:33 E085 `a` is `double[n][4]`, the parameter `x` is `double[]`",
        ),
        (
            "static void g(int n, double x[][n]) { x[0][0] = 1; }\nvoid f(int n, double a[n][4]) { g(n, a); }",
            "2:33 E085 `a` is `double[n][4]`, the parameter `x` is `double[][n]`",
        ),
        (
            "static void g(double x[2]) { x[0] = 1; }\nvoid f(const double a[2]) { g(a); }",
            "2:29 E086 `a` is `const`, the parameter `x` is not",
        ),
        (
            "static void g(double x[2]) { x[0] = 1; }\nvoid f(int n) { g(n); }",
            "2:19 E084 `x` is an array, this is not",
        ),
        (
            "static int g(int n) { if (n) return; return 1; }\nvoid f(int a[1]) { a[0] = g(a[0]); }",
            "1:30 E061 this `return` lacks a value",
        ),
        (
            "static int g(int n) { if (n) return 2; }\nvoid f(int a[1]) { a[0] = g(a[0]); }",
            "1:12 W004 `g` can end without returning a value",
        ),
        (
            "static int g(int n);\nstatic int h(int n) { return g(n); }\nstatic int g(int n) { return h(n); }\nvoid f(int a[1]) { a[0] = g(a[0]); }",
            "3:30 E032 `h` calls itself through `g`; kernels cannot be recursive",
        ),
    ]);
}
