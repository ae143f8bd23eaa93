//! What the parser objects to.

use crate::{assert_in_body, assert_reports, report};

#[test]
fn files_without_a_kernel() {
    let message = "1:1 E012 there is no function in this file";
    assert_reports(&[("", message), ("// nothing\n#include <math.h>\n", message)]);
}

#[test]
fn syntax() {
    assert_in_body(&[
        ("a[0] = ;", "8 E010 expected an expression, found `;`"),
        (
            "if (n { a[0] = 1; }",
            "7 E010 expected `)`, `,` or an operator, found `{`",
        ),
        (
            "for (int i = 0, i < n; i++) {}",
            "19 E010 expected `;`, `,`, `[` or `=`, found `<`",
        ),
        (
            "n = 1 2;",
            "7 E010 expected `;`, `,` or an operator, found `2`",
        ),
    ]);
    assert_reports(&[
        (
            "void f(int n) { n = 1",
            "1:21 E010 expected `;`, `,` or an operator, found the end of the file",
        ),
        (
            "void f(int n { }",
            "1:14 E010 expected `)`, `,` or `[`, found `{`",
        ),
        ("f(void) {}", "1:1 E010 expected `;` or a type, found `f`"),
    ]);
}

#[test]
fn several_errors_are_reported_at_once() {
    let source = "void f(int n, double a[n]) {\n  a[0] = ;\n  a[1] = 1\n}\nvoid g(int m) {\n  k = m;\n  m = j;\n}";
    let expected = [
        "2:10 E010 expected an expression, found `;`",
        "4:1 E010 expected `;` or `,`, found `}`",
        "6:3 E030 nothing is called `k` here",
        "7:7 E030 nothing is called `j` here",
    ];
    assert_eq!(report(source), expected);
}
