//! Names, types and operators.

use crate::{assert_in_body, helps, report};
use strew_frontend::{Severity, compile};

#[test]
fn names_and_types() {
    assert_in_body(&[
        ("m = 1;", "1 E030 nothing is called `m` here"),
        ("int k = 1; int k = 2;", "16 E031 `k` is declared twice"),
        ("int n = 2;", "5 E031 `n` is declared twice"),
        (
            "{ int k = 1; } n = k;",
            "20 E030 nothing is called `k` here",
        ),
        ("n = g[0];", "5 E040 `g` is not an array"),
        (
            "n = a;",
            "5 E041 the array `a` stands where a number is needed",
        ),
        ("a = 1;", "5 E094 a number stands where a pointer is needed"),
        (
            "n = s[0][1];",
            "5 E042 `s` has 1 dimension, here it has 2 subscripts",
        ),
        ("n = s[g];", "7 E043 this subscript of `s` is a `float`"),
        ("s[0] = 1;", "1 E044 `s` is `const`"),
        ("const int k = 1; k = 2;", "18 E044 `k` is `const`"),
        (
            "n + 1 = 2;",
            "7 E010 expected `;`, `,` or an operator, found `=`",
        ),
        ("(n + 1) += 2;", "2 E045 this cannot be assigned to"),
        ("n = n % g;", "9 E046 `%` needs integers, this is a `float`"),
        ("g <<= 1;", "1 E046 `<<` needs integers, this is a `float`"),
        ("n = ~g;", "6 E046 `~` needs integers, this is a `float`"),
    ]);
}

#[test]
fn the_nearest_name_is_proposed() {
    let (_, diagnostics) = compile("void f(int n, double weight[n]) { wieght[0] = 1; }");
    let help: Vec<_> = diagnostics.iter().map(|it| it.help()).collect();
    assert_eq!(help, [Some("did you mean `weight`?".to_owned())]);
}

#[test]
fn a_duplicate_shows_what_it_repeats() {
    let source = "void f(int n) { int k = n; int k = 2; }";
    let (_, diagnostics) = compile(source);
    let spans: Vec<_> = diagnostics
        .iter()
        .flat_map(|it| &it.labels)
        .map(|it| it.span.range().start)
        .collect();
    assert_eq!(spans, [20]);
}

#[test]
fn warnings_leave_the_kernel() {
    let (kernels, diagnostics) = compile("void f(int n, int a[n]) { int t; a[0] = t; n; }");
    assert_eq!(kernels.len(), 1);
    let codes: Vec<_> = diagnostics
        .iter()
        .map(|it| (it.code(), it.severity()))
        .collect();
    assert_eq!(
        codes,
        [("W001", Severity::Warning), ("W002", Severity::Warning)]
    );
}

#[test]
fn rows_are_not_assigned() {
    let source = "void f(int n, int a[n][n], int b[n]) { a[0] = 1; a[1] = b; }";
    assert_eq!(
        report(source),
        [
            "1:40 E042 `a` has 2 dimensions, here it has 1 subscript",
            "1:50 E042 `a` has 2 dimensions, here it has 1 subscript",
        ]
    );
}

#[test]
fn what_is_meant_by_a_name_that_is_none() {
    let source = "struct s { int alpha; float x, y; };\nvoid f(int a[n], int n, struct s p[n]) { p[0].alpa = 1; p[1].z = 2; }";
    assert_eq!(
        helps(source),
        [
            "a parameter of this name comes later; put it in front: sizes come before the arrays that have them",
            "did you mean `alpha`?",
            "its members are `alpha`, `x`, `y`",
        ]
    );
}
