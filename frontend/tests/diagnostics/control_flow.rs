//! Loops, jumps and labels.

use crate::{assert_in_body, report};

#[test]
fn pragmas_need_a_loop_that_counts() {
    let pragma = "#pragma strew tile(i = 4)\n";
    let uncounted = [
        ("n = 1;", "no `for` loop follows this `#pragma strew`"),
        (
            "for (int i = 0; i < k[0]; i += 2) ;",
            "the loop cannot be scheduled: its iterator may wrap around before it reaches the bound",
        ),
        (
            "for (int i = 1; i < n; i *= 2) ;",
            "the loop cannot be scheduled: it does not count to a bound by the same amount in every turn",
        ),
        (
            "for (int i = 0; i < n; i++) i += 1;",
            "the loop cannot be scheduled: its iterator is assigned in its body",
        ),
        (
            "for (int i = 0; i < n; i++) n = 2;",
            "the loop cannot be scheduled: its bound changes while it runs",
        ),
    ];
    for (body, message) in uncounted {
        let source = format!("void f(int n, int k[4]) {{\n{pragma}{body} }}");
        let found: Vec<String> = report(&source)
            .iter()
            .map(|it| it[10..].to_owned())
            .collect();
        assert_eq!(found, [message], "{body}");
    }
}

#[test]
fn jumps_and_labels() {
    assert_in_body(&[
        (
            "break;",
            "1 E060 `break` stands outside of any loop and `switch`",
        ),
        (
            "switch (n) { default: continue; }",
            "23 E060 `continue` stands outside of any loop",
        ),
        ("return n;", "8 E062 a `void` function returns no value"),
        (
            "switch (g) { case 1: n = 1; }",
            "9 E063 `switch` needs an integer, this is a `float`",
        ),
        (
            "switch (n) { case n: n = 1; }",
            "19 E064 this label is not an integer constant",
        ),
        (
            "switch (n) { case 1: case 2 - 1: n = 1; }",
            "22 E065 this `switch` has the label twice",
        ),
        (
            "switch (n) { default: default: n = 1; }",
            "23 E065 this `switch` has the label twice",
        ),
        (
            "case 1: n = 1;",
            "1 E066 this label stands outside of the braces of a `switch`",
        ),
        (
            "switch (n) { case 1: if (g > 1) { case 2: n = 1; } }",
            "35 E066 this label stands inside of another statement of its `switch`",
        ),
        (
            "switch (n) { case 1: n = 2; { case 2: n = 1; } }",
            "31 E066 this label stands inside of another statement of its `switch`",
        ),
        (
            "switch (n & 1) { case 0: do { a[n--] = 1; case 1: a[n--] = 1; } while (n > 1); }",
            "43 E066 this label stands inside of another statement of its `switch`",
        ),
        (
            "switch (n) { case 1: n = 2; int t = 1; case 3: n = t; }",
            "52 E011 `t` is declared behind one label and used behind a later one",
        ),
        ("return; n = 1;", "9 W003 this statement is never reached"),
        (
            "for (;;) { if (n) break; else continue; n = 1; }",
            "41 W003 this statement is never reached",
        ),
        (
            "switch (n) { n = 3; case 1: n = 1; }",
            "14 W003 this statement is never reached",
        ),
        (
            "#pragma strew tile(i = 2)\nfor (int i = 0; i < n; i++) if (a[i] > g) break;",
            "15 E051 the loop cannot be scheduled: `break` or `return` can end it early",
        ),
    ]);
}

#[test]
fn statements_that_mean_something_else_than_they_look_like() {
    assert_in_body(&[
        (
            "if (n = 3) g = 1;",
            "5 W006 this condition assigns, and compares nothing",
        ),
        (
            "while (n = n - 1) g++;",
            "8 W006 this condition assigns, and compares nothing",
        ),
        (
            "if (n > 1); g = 2;",
            "11 W007 this `;` is all that the `if` is about",
        ),
        (
            "for (int i = 0; i < n; i++); { g = 1; }",
            "28 W007 this `;` is all that the `for` is about",
        ),
    ]);
    let sources = [
        "int f(int n) { if ((n = 3)) return 1; while ((n = n - 1)) ; return n; }",
        "#define TAKE(k) (k = k / 2)\nint f(int n) { while (TAKE(n)) ; return n; }",
        "int f(int n) { while (n -= 1) {} { n = 2; } if (n) ; if (n); else n = 1; return n; }",
    ];
    for source in sources {
        assert_eq!(report(source), [""; 0], "{source}");
    }
}
