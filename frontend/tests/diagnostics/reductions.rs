//! Reductions that a file declares.

use crate::{assert_reports, helps, report};

/// A file with this declaration, and a kernel that updates by `own(out[k], x)`.
fn with(declaration: &str) -> String {
    format!(
        "static int own(int a, int b) {{ return a ^ b; }}\n\
         #pragma strew declare reduction({declaration}\n\
         void f(int n, const int k[n], const int x[n], int out[n]) {{\n\
         for (int i = 0; i < n; i++) out[k[i]] = own(out[k[i]], x[i]);\n}}"
    )
}

#[test]
fn what_cannot_be_declared() {
    for (declaration, expected) in [
        (
            "add : int : own(a, b)) identity(0)",
            "2:33 E100 `add` is a reduction that is built in",
        ),
        (
            "own : int : a / b) identity(1)",
            "2:23 E103 `own` divides integers by what may be 0",
        ),
        (
            "own : int : a + c) identity(0)",
            "2:49 E030 nothing is called `c` here",
        ),
        (
            "own : int : own(a)) identity(0)",
            "2:45 E083 `own` takes 2 arguments, here it gets 1",
        ),
        (
            "own : integer : own(a, b)) identity(0)",
            "2:39 E010 expected a type, found `integer`",
        ),
        (
            "own : int : own(a, b)) identity(n)",
            "2:65 E030 nothing is called `n` here",
        ),
        (
            "own : int : own(a, b))",
            "2:55 E010 expected `identity`, found the end of the block",
        ),
        (
            "own : int) identity(0)",
            "2:42 E010 expected `:`, found `)`",
        ),
    ] {
        let found = report(&with(declaration));
        assert_eq!(found.first().map(String::as_str), Some(expected));
    }
    assert_reports(&[
        (
            "void f(int a[1]) {\n#pragma strew declare reduction(own : int : a + b) identity(0)\n a[0] = 1; }",
            "2:23 E107 a reduction is declared outside of functions",
        ),
        (
            "#pragma strew declare simd\nvoid f(int a[1]) { a[0] = 1; }",
            "1:23 E004 `#pragma strew declare` declares no reduction",
        ),
        (
            "static int own(int a, int b) { while (b) b--; return a; }\n#pragma strew declare reduction(own : int : own(a, b)) identity(0)\nvoid f(int a[1]) { a[0] = 1; }",
            "2:23 E102 what `own` computes cannot be written as one expression of `a` and `b`",
        ),
        (
            "static const int t[2] = {1, 2};\n#pragma strew declare reduction(own : int : a + t[b & 1]) identity(0)\nvoid f(int a[1]) { a[0] = 1; }",
            "2:23 E102 what `own` computes cannot be written as one expression of `a` and `b`",
        ),
        (
            "static int own(int a, int b) { return a ^ b; }\n#pragma strew declare reduction(own : int : own(a, b)) identity(0)\n#pragma strew declare reduction(own : int : own(b, a)) identity(0)\nvoid f(int n, const int k[n], int h[n]) { for (int i = 0; i < n; i++) h[k[i]] = own(h[k[i]], 2 - own(h[k[i]], i)); }",
            "3:33 E101 the reduction `own` is declared twice",
        ),
    ]);
}

#[test]
fn a_body_may_be_large_but_not_without_end() {
    let doubled = |levels: usize| {
        let mut text = "static double f0(double a, double b) { return a * b; }\n".to_owned();
        for level in 1..=levels {
            let inner = level - 1;
            text.push_str(&format!(
                "static double f{level}(double a, double b) {{ double t = f{inner}(a, b); return t + t * b; }}\n"
            ));
        }
        text.push_str(&format!(
            "#pragma strew declare reduction(own : double : f{levels}(a, b)) identity(1)\nvoid f(double a[1]) {{ a[0] = 1; }}"
        ));
        text
    };
    assert_eq!(
        report(&doubled(30)),
        ["32:23 E104 `own` has more than 1000 operations, or more than 100 inside each other"]
    );
}

#[test]
fn values_show_what_is_no_reduction() {
    let lossy = "static double own(double a, double b) { return a * 0.5 + b; }\n";
    let body = "void f(int n, const int k[n], const double x[n], double out[n]) {\nfor (int i = 0; i < n; i++) out[k[i]] = own(out[k[i]], x[i]);\n}";
    let source = |identity: &str| {
        format!(
            "{lossy}#pragma strew declare reduction(own : double : own(a, b)) identity({identity})\n{body}"
        )
    };
    assert_eq!(
        report(&source("0")),
        [
            "2:23 W100 `own` is no reduction: combining 1.0 with the identity 0.0 gives 0.5 and not 1.0"
        ]
    );
    assert_eq!(
        helps(&source("0")),
        ["updates by it stay in the order of the loop"]
    );
    let average = "#pragma strew declare reduction(own : float : b == 0 ? a : a == 0 ? b : (a + b) / 2) identity(0)\nvoid f(float a[1]) { a[0] = 1; }";
    let found = report(average);
    assert!(
        found[0].contains("combining -0.0 with") || found[0].contains("(a with b) with c gives"),
        "{found:?}"
    );
    let gamma = "#pragma strew declare reduction(own : double : a + tgamma(b)) identity(0)\nvoid f(float a[1]) { a[0] = 1; }";
    assert_eq!(
        report(gamma),
        ["1:23 W101 whether `own` is a reduction cannot be tried: `tgamma` is not computed here"]
    );
}

#[test]
fn a_declaration_that_nothing_uses_is_told() {
    let other = with("own : int : a + b + a * b) identity(0)");
    assert_eq!(
        report(&other),
        ["2:33 W102 no statement is a reduction by `own`"]
    );
    assert!(helps(&other)[0].starts_with("a statement such as `out[k] = own(out[k], x)` is one"));
}
