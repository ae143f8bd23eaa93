//! Comments, numbers, directives and headers.

use crate::{assert_in_body, assert_reports};

#[test]
fn characters_and_numbers() {
    assert_in_body(&[
        ("n = 1 @ 2;", "7 E001 no C token starts with '@'"),
        ("n = 09;", "5 E003 `09` is not a number"),
        (
            "n = 99999999999999999999;",
            "5 E003 `99999999999999999999` is larger than any 64-bit integer",
        ),
        (
            "n = 1; \"text\";",
            "8 E011 string literals are not in the language",
        ),
    ]);
    assert_reports(&[("/* open\n*", "1:1 E002 this comment is not closed")]);
}

#[test]
fn directives() {
    assert_reports(&[
        (
            "#line 7\nvoid f(void) {}",
            "1:1 E004 `#line` is not in the language",
        ),
        (
            "#define F(x, ...) x\nvoid f(void) {}",
            "1:1 E004 `#define` with `...` is not in the language",
        ),
        (
            "#define F(x) a##x\nvoid f(void) {}",
            "1:1 E004 `#define` with `#` or `##` in it is not in the language",
        ),
        (
            "#define F(1) x\nvoid f(void) {}",
            "1:1 E004 `#define` needs names between its parentheses, each only once",
        ),
        (
            "#if 1 +\n#endif\nvoid f(void) {}",
            "1:1 E004 `#if` needs an integer constant expression",
        ),
        (
            "#if 1 / 0\n#endif\nvoid f(void) {}",
            "1:1 E004 `#if` divides by zero",
        ),
        ("#if 1\nvoid f(void) {}", "1:1 E004 `#if` is not closed"),
        (
            "#endif\nvoid f(void) {}",
            "1:1 E004 `#endif` has no `#if` before it",
        ),
        (
            "#if 0\n#else\n#elif 1\n#endif\nvoid f(void) {}",
            "3:1 E004 `#elif` comes after the `#else`",
        ),
        (
            "#define F(x) x\nvoid f(void) { F(\n#undef F\n;) }",
            "3:1 E004 this directive stands between the arguments of a macro",
        ),
        ("#error too old\nvoid f(void) {}", "1:1 E009 too old"),
        (
            "#define F(x) x\nvoid f(void) { F(1, 2); }",
            "2:16 E013 the macro `F` has 1 parameter, here it has 2 arguments",
        ),
        (
            "void f(void) {}\n#define F(x) x\nF(",
            "3:1 E014 the arguments of the macro `F` do not end",
        ),
        (
            "void f(double a[3]) { a[0] = NULL; }",
            "1:30 E011 `NULL` is not in the language",
        ),
    ]);
}
