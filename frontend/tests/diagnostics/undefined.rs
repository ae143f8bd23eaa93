//! What C leaves undefined, where the text shows it.

use crate::{helps, report};
use strew_frontend::compile;

/// The codes for a body in which all is accepted.
#[track_caller]
fn codes(body: &str) -> Vec<&'static str> {
    let source = format!(
        "void f(int n, unsigned u, long l, double x, int a[n], unsigned char b[n]) {{ int i = 0, j = 1; {body} a[i] = j; }}"
    );
    let (kernels, diagnostics) = compile(&source);
    assert_eq!(kernels.len(), 1, "{body}: {diagnostics:?}");
    diagnostics.iter().map(|it| it.code()).collect()
}

#[test]
fn operations_on_constants() {
    let cases: &[(&str, &[&str])] = &[
        ("j = n << 32;", &["W020"]),
        ("j = b[0] >> 32;", &["W020"]),
        ("j <<= -1;", &["W020"]),
        ("u = u >> (4 * 8);", &["W020"]),
        ("l = l << 32;", &[]),
        ("j = 1 << 31;", &[]),
        ("j = n / 0;", &["W021"]),
        ("j %= 3 - 3;", &["W021"]),
        ("x = n / 0.0;", &[]),
        ("j = 2147483647 + 1;", &["W022"]),
        ("j = -2147483647 - 1;", &[]),
        ("j = (-2147483647 - 1) / -1;", &["W022"]),
        ("u = 4294967295u + 1;", &[]),
        ("l = 65536 * 65536;", &["W022"]),
        ("l = 65536L * 65536;", &[]),
        ("j = (int)3e9;", &["W023"]),
        ("j = 2147483647.5;", &[]),
        ("int k = -2147483649.0; j = k;", &["W023"]),
        ("b[0] = 256.0;", &["W023"]),
        ("b[0] = 300;", &[]),
        ("_Bool t = 1e30; j = t;", &[]),
    ];
    for (body, expected) in cases {
        assert_eq!(codes(body), *expected, "{body}");
    }
}

#[test]
fn what_is_never_evaluated_is_not_warned_of() {
    for body in [
        "j = sizeof(n / 0);",
        "j = 0 ? n / 0 : 1;",
        "j = 1 ? 1 : n << 99;",
        "j = 0 && n / 0;",
        "j = 1 || n / 0;",
    ] {
        let found = codes(body);
        assert!(found.is_empty(), "{body}: {found:?}");
    }
}

#[test]
fn orders_that_c_does_not_tell() {
    for body in [
        "a[i] = i++;",
        "i = i++;",
        "j = i++ + i;",
        "j = i + ++i;",
        "j = a[i++] * a[i++];",
        "a[i++] = a[i];",
        "j = (i = 1) + (i = 2);",
        "a[i] += i--;",
        "j = i++ * (n && i);",
    ] {
        assert_eq!(codes(body), ["W024"], "{body}");
    }
    for body in [
        "a[i++] = a[j++];",
        "i = i + 1;",
        "i += i;",
        "j = i++ && i;",
        "j = n ? i++ : i;",
        "j = (i++, i);",
        "i = (i++, i);",
        "i = j = 2;",
        "a[j] = i++;",
        "int *p = a; *p++ = 1; *p += 2;",
        "for (i = 0; i < n; i++, j--) a[i] = j;",
        "j = i++ > 3 ? i : -i;",
    ] {
        let found = codes(body);
        assert!(found.is_empty(), "{body}: {found:?}");
    }
}

#[test]
fn the_words_say_what_becomes_of_it() {
    let source = "void f(int n, int a[n]) {\na[0] = n << 33;\na[1] = n / 0;\na[2] = 2147483647 + n * (2147483647 + 1);\na[3] = 1e10;\na[n] = n++;\n}";
    assert_eq!(
        report(source),
        [
            "2:8 W020 a shift by 33 of an `int`, which has 32 bits",
            "3:8 W021 this divides by zero",
            "4:26 W022 this is beyond what an `int` holds",
            "5:8 W023 this constant is beyond what `int` holds",
            "6:1 W024 `n` is changed and used in one expression, in no order that C tells",
        ]
    );
    let helps = helps(source);
    assert_eq!(helps.len(), 5);
    assert_eq!(
        helps[0],
        "C leaves it open; here it is a shift by 1, the count modulo 32"
    );
}
