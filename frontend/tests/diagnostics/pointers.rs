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
        "1:21 E011 `x` is a pointer; pointers are not in the language yet",
    )]);
}
