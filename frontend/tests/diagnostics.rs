//! What is refused, with which code and words, and where.

use strew_frontend::{Severity, compile};

/// `line:column code message` for each diagnostic.
fn report(source: &str) -> Vec<String> {
    let (kernels, diagnostics) = compile(source);
    let has_errors = diagnostics
        .iter()
        .any(|it| it.severity() == Severity::Error);
    assert_eq!(kernels.is_empty(), has_errors, "{source}");
    let lines = diagnostics.iter().map(|it| {
        let before = &source[..it.span.range().start];
        let line = before.matches('\n').count() + 1;
        let column = before.len() - before.rfind('\n').map_or(0, |it| it + 1) + 1;
        format!("{line}:{column} {} {}", it.code(), it.message())
    });
    lines.collect()
}

fn assert_reports(cases: &[(&str, &str)]) {
    for (source, expected) in cases {
        assert_eq!(report(source), [*expected], "{source}");
    }
}

/// Each case is the body of a function, which begins at column 1 of line 2.
fn assert_in_body(cases: &[(&str, &str)]) {
    for (body, expected) in cases {
        let source = format!(
            "void f(int n, double a[n], const int s[n], float g) {{\n{body}\n}}\nvoid other(void) {{}}"
        );
        assert_eq!(report(&source), [format!("2:{expected}")], "{body}");
    }
}

#[test]
fn files_without_a_kernel() {
    let message = "1:1 E012 there is no function in this file";
    assert_reports(&[("", message), ("// nothing\n#include <math.h>\n", message)]);
}

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
            "1:30 E011 `NULL` is not in the language yet",
        ),
    ]);
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

#[test]
fn constructs_that_are_not_in_the_language() {
    assert_in_body(&[
        ("goto end;", "1 E011 `goto` is not in the language"),
        ("a[0].x = 1;", "1 E034 `x` is a member of nothing here"),
        (
            "struct point p;",
            "1 E033 nothing is called `struct point` here",
        ),
        (
            "f(n, a, s, g);",
            "1 E032 `f` calls itself; kernels cannot be recursive",
        ),
    ]);
    assert_reports(&[
        (
            "void f(int n, float **x) {}",
            "1:21 E011 `x` is a pointer; pointers are not in the language yet",
        ),
        (
            "static int n = 4; void f(void) {}",
            "1:12 E011 variables outside of functions are not in the language",
        ),
    ]);
}

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
            "struct p { int x; }; struct p f(int n) { return n; }",
            "1:22 E047 the structure `p` stands where a number is needed",
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
fn pragmas_need_a_loop_that_counts() {
    let pragma = "#pragma strew tile(i = 4)\n";
    let uncounted = [
        ("n = 1;", "no `for` loop follows this `#pragma strew`"),
        (
            "for (int i = 0; i <= k[0]; i++) ;",
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
            "35 E066 this label stands outside of the braces of a `switch`",
        ),
        (
            "switch (n) { case 1: n = 2; int t = 1; case 3: n = t; }",
            "29 E011 a declaration between the labels of a `switch` is not in the language",
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
            "struct p { int x[3]; };",
            "16 E011 the member `x` is no scalar",
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

#[test]
fn pointers() {
    assert_in_body(&[
        (
            "double *p = a; n = p;",
            "20 E041 the array `p` stands where a number is needed",
        ),
        ("n = *g;", "5 E040 `g` is not an array"),
        (
            "n = &n;",
            "5 E011 a pointer stands where a number is needed",
        ),
        ("int *p = &n;", "10 E011 only array elements have addresses"),
        ("const int *p = s; *p = 1;", "19 E044 `s` is `const`"),
        ("double *const p = a; p++;", "22 E044 `p` is `const`"),
        (
            "int *p = a;",
            "10 E091 `p` does not point to elements like those of `a`",
        ),
        (
            "double *p = 0;",
            "13 E094 a number stands where a pointer is needed",
        ),
        (
            "double *p; *p = 1;",
            "13 E090 the pointer `p` does not point into an array here",
        ),
        (
            "double t[3]; double *p = a; p = t;",
            "29 E092 a pointer into `a` meets one into `t`",
        ),
        (
            "double t[3]; n = t - a;",
            "18 E092 a pointer into `t` meets one into `a`",
        ),
        (
            "double t[3]; double *p = n ? a : t;",
            "26 E011 a choice between pointers is not in the language",
        ),
        (
            "n = (a + 1) * 2;",
            "5 E093 `*` does not work on these pointers",
        ),
        ("n = a + a;", "5 E093 `+` does not work on these pointers"),
        (
            "n = *(a + g);",
            "11 E043 this subscript of `a` is a `float`",
        ),
        (
            "double **p;",
            "8 E011 `p` is a pointer; pointers are not in the language yet",
        ),
        (
            "float *p = (float *)a;",
            "13 E011 pointer types are not in the language here",
        ),
        (
            "double m[2][3]; n = m[1];",
            "21 E042 `m` has 2 dimensions, here it has 1 subscript",
        ),
    ]);
}

#[test]
fn structures() {
    let cases = [
        ("n = q[0].z;", "10 E034 `p` has no member `z`"),
        (
            "n = q[0];",
            "5 E047 the structure `p` stands where a number is needed",
        ),
        ("n = c[0].x; c[0].x = 1;", "13 E044 `c.x` is `const`"),
        (
            "n = q.x;",
            "5 E041 the array `q` stands where a number is needed",
        ),
        ("n = k.x;", "5 E034 `x` is a member of nothing here"),
        (
            "struct p l = {1, 2, 3};",
            "21 E075 this initial value is beyond the end of the array",
        ),
        ("struct p l = {.z = 1};", "16 E034 `p` has no member `z`"),
        ("struct p l = n;", "14 E048 this is no structure `p`"),
        (
            "struct p l; n = l;",
            "17 E047 the structure `p` stands where a number is needed",
        ),
        (
            "struct p l[2] = {{1}};",
            "17 E011 `l` is an array of structures with initial values; those are not in the language yet",
        ),
        ("const struct p l = {1}; l.x = 2;", "25 E044 `l` is `const`"),
    ];
    for (body, expected) in cases {
        let source = format!(
            "struct p {{ double x; int y; }};void f(int n, struct p q[n], const struct p c[n], int k) {{\n{body}\n}}"
        );
        assert_eq!(report(&source), [format!("2:{expected}")], "{body}");
    }
    assert_reports(&[
        (
            "struct p { int x; }; void f(struct p q) {}",
            "1:38 E011 `q` is a structure; those are not in the language yet",
        ),
        (
            "struct p { int x; }; struct p f(void) { }",
            "1:22 E047 the structure `p` stands where a number is needed",
        ),
        (
            "int *f(void) { }",
            "1:1 E011 functions that return pointers are not in the language",
        ),
    ]);
}

#[test]
fn structures_have_a_limit_and_headers_of_others_are_not_read() {
    let members: String = (0..300).map(|it| format!("int m{it};")).collect();
    let source = format!("struct p {{ {members} }}; void f(void) {{ }}");
    let expected = "1:1 E049 this structure has more than 256 members";
    assert_eq!(report(&source), [expected]);
    let (kernels, diagnostics) = compile("#include \"own.h\"\nvoid f(void) { }");
    assert_eq!(kernels.len(), 1);
    let messages: Vec<_> = diagnostics.iter().map(|it| it.message()).collect();
    assert_eq!(messages, ["`own.h` is not read: it is no standard header"]);
}
