//! Pointers and structures.

use crate::{assert_in_body, assert_reports, report};
use strew_frontend::compile;

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
        (
            "double *p = &a;",
            "13 E011 a pointer cannot hold the address of this",
        ),
        (
            "double *p = &*a, **q = &p;",
            "18 E011 `q` holds pointers, which are not in the language as elements",
        ),
        (
            "int *p = &n; p[1] = 2;",
            "16 E096 nothing lies beside the variable `n`",
        ),
        (
            "const int k = 1; const int *p = &k; *p = 2;",
            "37 E044 `k` is `const`",
        ),
        (
            "double *p = &g;",
            "13 E091 `p` does not point to elements like those of `g`",
        ),
        (
            "double *p; if (n) { double t[3]; p = t; }",
            "34 E097 the pointer `p` could outlive `t`, which it points to",
        ),
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
            "26 E092 a pointer into `a` meets one into `t`",
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
            "8 E011 `p` holds pointers, which are not in the language as elements",
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

#[test]
fn members_of_nothing() {
    assert_in_body(&[
        ("a[0].x = 1;", "1 E034 `x` is a member of nothing here"),
        (
            "struct point p;",
            "1 E033 nothing is called `struct point` here",
        ),
    ]);
    assert_reports(&[(
        "void f(int n, float **x) {}",
        "1:21 E011 `x` holds pointers, which are not in the language as elements",
    )]);
}
