//! What the parser objects to.

use crate::{assert_in_body, assert_reports, report};
use strew_frontend::compile;

#[test]
fn files_without_a_kernel() {
    let message = "1:1 E012 there is no function in this file";
    assert_reports(&[("", message), ("// nothing\n#include <math.h>\n", message)]);
}

#[test]
fn statements_outside_of_functions_are_told_once() {
    let message = "E018 this statement stands outside of any function";
    for source in [
        "for (int i = 0; i < n; i++) { hist[key[i]]++; }",
        "for (;;)\n  *p++ = 1;",
        "for (i = 0; i < n; ++i)\n  a[i] = i;",
        "while (n) { n--; }\nif (n) a[0] = 1; else a[0] = 2;\na[1] += 2;",
        "a[0] = 1;\na[1] = 2;",
        "do { n--; } while (n);",
    ] {
        assert_eq!(report(source), [format!("1:1 {message}")], "{source}");
    }
    let between = "void f(int a[1]) { a[0] = g(); }\nn = 3;\nreturn;\nstatic int g(void) { return 1; }\nbreak;";
    assert_eq!(
        report(between),
        [format!("2:1 {message}"), format!("5:1 {message}")]
    );
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
            "void f(int n",
            "1:12 E010 expected `)`, `,` or `[`, found the end of the file",
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
        "3:10 E010 a `;` is missing behind this",
        "6:3 E030 nothing is called `k` here",
        "7:7 E030 nothing is called `j` here",
    ];
    assert_eq!(report(source), expected);
}

#[test]
fn a_missing_semicolon_is_missed_where_it_belongs() {
    assert_in_body(&[
        ("n = 1\nn = 2;", "5 E010 a `;` is missing behind this"),
        ("return", "1 E010 a `;` is missing behind this"),
    ]);
}

#[test]
fn braces_are_told_apart_by_their_indentation() {
    let unclosed = "\
int first(int n) {
  for (int i = 0; i < n; i++) {
    if (i > 2) {
      n--;
  }
  return n;
}
static int second(int n) {
  return nn;
}
";
    assert_eq!(
        report(unclosed),
        [
            "3:16 E015 this `{` is not closed",
            "9:10 E030 nothing is called `nn` here"
        ]
    );
    let (_, diagnostics) = compile(unclosed);
    let labels = diagnostics.iter().flat_map(|it| &it.labels);
    let labels: Vec<_> = labels
        .map(|it| (&unclosed[it.span.range()], it.message.as_str()))
        .collect();
    assert_eq!(labels, [("static", "the next function begins here")]);
    assert_reports(&[
        (
            "void f(int n, int a[n]) { if (n) { a[0] = 1; }",
            "1:25 E015 this `{` is not closed",
        ),
        (
            "void f(int n, int a[n]) { a[0] = 1; } }\nvoid g(int n, int a[n]) { a[0] = 1; }",
            "1:39 E016 this `}` closes nothing",
        ),
    ]);
}

#[test]
fn nothing_is_said_because_of_what_could_not_be_read() {
    assert_in_body(&[
        (
            "int k = n 1; n = k;",
            "11 E010 expected `;`, `,` or an operator, found `1`",
        ),
        (
            "for (int i = 0, i < n; i++) { a[i] = 1; } n = i;",
            "19 E010 expected `;`, `,`, `[` or `=`, found `<`",
        ),
    ]);
    assert_reports(&[
        (
            "static int g(int n, int) m) { return n; }\nvoid f(int a[1]) { a[0] = g(1, 2); }",
            "1:26 E010 expected `;` or `{`, found `m`",
        ),
        (
            "void f(vector<double> a) {}\nint g(int n) { return n; }",
            "1:8 E011 `vector<…>` is not in the language",
        ),
        (
            "int g(int n) { if (n > 1 { return 2; } }",
            "1:26 E010 expected `)`, `,` or an operator, found `{`",
        ),
    ]);
}
