//! Comments, numbers, directives and headers.

use crate::{assert_in_body, assert_reports, helps};
use strew_frontend::compile;

#[test]
fn characters_and_numbers() {
    assert_in_body(&[
        ("n = 1 @ 2;", "7 E001 no C token starts with '@'"),
        ("n = 09;", "5 E003 `09` is not a number"),
        ("n = 'ab';", "5 E003 `'ab'` is not one character"),
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
            "#assert x\nvoid f(void) {}",
            "1:1 E004 `#assert` is not in the language",
        ),
        (
            "#define F(..., x) x\nvoid f(void) {}",
            "1:1 E004 `#define` needs names between its parentheses, each only once",
        ),
        (
            "#define F(x) #y\nvoid f(void) {}",
            "1:1 E004 `#define` has a `#` without a parameter or a `##` at an end",
        ),
        (
            "#define F(x, y) x ## y\nvoid f(int n) { n = F(-, 1); }",
            "2:21 E017 `-` and `1` make no word together",
        ),
        ("#warning slow\nvoid f(void) {}", "1:1 W011 slow"),
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

#[test]
fn macros_that_cannot_be_replaced_are_all_that_is_reported() {
    let unclosed = "#define F(x) x\nint f(int n) { return F(n; }\nint g(int n) { return n; }";
    let mut exponential = String::from("#define X0 1 + 1\n");
    for level in 1..30 {
        exponential += &format!("#define X{level} X{0} + X{0}\n", level - 1);
    }
    exponential += "int f(int n) { return X29; }";
    let chain: String = (0..200)
        .map(|it| format!("#define X{it} X{}\n", it + 1))
        .collect();
    let chain = chain + "int f(int n) { int k = X0; return k; }";
    let limit = 200_000 + 8 * exponential.len();
    assert_reports(&[
        (
            unclosed,
            "2:23 E014 the arguments of the macro `F` do not end",
        ),
        (
            "#define F(x, y) x\nint f(int n) { int k = F(n); return k; }",
            "2:24 E013 the macro `F` has 2 parameters, here it has 1 argument",
        ),
        (
            &exponential,
            &format!("31:23 E005 macros expand to more than {limit} tokens"),
        ),
        (
            &chain,
            "201:24 E006 macros expand to macros more than 128 times",
        ),
    ]);
}

#[test]
fn a_long_file_may_use_many_macros() {
    let uses = "n += ADD(n, 1) * ADD(n, 2) * ADD(n, 3);\n".repeat(8_000);
    let source = format!("#define ADD(a, b) ((a) + (b))\nint f(int n) {{ {uses} return n; }}");
    let (kernels, _) = compile(&source);
    assert_eq!(kernels.len(), 1);
}

#[test]
fn the_nearest_header_is_proposed() {
    assert_eq!(
        helps("#include <maths.h>\nvoid f(void) {}"),
        ["did you mean `math.h`?"]
    );
    assert_eq!(
        helps("#include \"own.h\"\nvoid f(void) {}"),
        ["put what the kernels need from it into this file"]
    );
}
