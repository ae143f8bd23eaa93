//! Structures: their members, and their values.

use crate::{assert_reports, report};

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
            "struct p l[2] = {{1, 2, 3}};",
            "25 E075 this initial value is beyond the end of the array",
        ),
        (
            "struct p l[n] = {{1}};",
            "17 E076 `l` has initial values, but its length is not constant",
        ),
        (
            "n = (struct p){1};",
            "5 E047 the structure `p` stands where a number is needed",
        ),
        (
            "q[0] = (struct p){.z = 1};",
            "20 E034 `p` has no member `z`",
        ),
        (
            "n = (int){1, 2};",
            "10 E027 values in braces stand where one number is needed",
        ),
        ("(struct p){1}.x = 2;", "1 E045 this cannot be assigned to"),
        ("q[0] = k ? c[0] : 1;", "19 E048 this is no structure `p`"),
        (
            "const struct p l = {1}; l.x = 2;",
            "25 E044 `l.x` is `const`",
        ),
        (
            "struct v { int w[2]; }; const struct v l = {{1}}; l.w[0] = 2;",
            "51 E044 `l.w` is `const`",
        ),
        (
            "struct v { int w[2]; } l = {{1}}; l.w[0][1] = 2;",
            "35 E042 `l.w` has 1 dimension, here it has 2 subscripts",
        ),
    ];
    for (body, expected) in cases {
        let source = format!(
            "struct p {{ double x; int y; }};void f(int n, struct p q[n], const struct p c[n], int k) {{\n{body}\n}}"
        );
        assert_eq!(report(&source), [format!("2:{expected}")], "{body}");
    }
    assert_reports(&[
        (
            "struct p { }; void f(struct p q) {}",
            "1:31 E011 the structure `p` has no members",
        ),
        (
            "struct p { int x; }; static struct p g(void) { } void f(struct p q[1]) { q[0] = g(); }",
            "1:38 W004 `g` can end without returning a value",
        ),
        (
            "struct p { int x; }; static struct p g(int n) { return n; } void f(struct p q[1]) { q[0] = g(2); }",
            "1:56 E048 this is no structure `p`",
        ),
        (
            "int *f(void) { }",
            "1:1 E011 functions that return pointers are not in the language",
        ),
    ]);
}

#[test]
fn members_are_numbers_structures_and_arrays_of_constant_length() {
    let reports = |members: &str, expected: &str| {
        let source = format!(
            "struct v {{ float x, y[2]; }};\nstruct p {{\n{members}\n}}; void f(int n, struct p q[n]) {{ }}"
        );
        assert_eq!(report(&source), [expected], "{members}");
    };
    reports(
        "double x; double *y;",
        "3:18 E011 the member `y` is a pointer",
    );
    reports(
        "double x[];",
        "3:9 E028 the length of the member `x` is no positive constant of 32 bits",
    );
    reports(
        "int x[2][0];",
        "3:9 E028 the length of the member `x` is no positive constant of 32 bits",
    );
    reports(
        "int x[-1];",
        "3:6 E028 the length of the member `x` is no positive constant of 32 bits",
    );
    reports(
        "int x[sizeof(int)][2.5];",
        "3:20 E070 this has to be constant",
    );
    reports(
        "int k; struct w v;",
        "3:8 E033 nothing is called `struct w` here",
    );
    reports("int k; void v;", "3:13 E022 `void` has no values");
    reports(
        "struct v v[3];",
        "4:27 E011 `v.x` lies in an array of structures inside of a structure; parameters cannot have those",
    );
    let structure =
        "struct v { double x[3]; int k; };\nstruct p { struct v v; int large[300]; };\n";
    let cases = [
        ("q[0].v.z = 1;", "8 E034 `v` has no member `z`"),
        ("q[0].w.x[0] = 1;", "6 E034 `p` has no member `w`"),
        ("q[0].v = 1;", "10 E048 this is no structure `v`"),
        (
            "q[0].v.x = 1;",
            "12 E094 a number stands where a pointer is needed",
        ),
        (
            "q[0].v.x[0][1] = 1;",
            "1 E042 `q.v.x` has 2 dimensions, here it has 3 subscripts",
        ),
        (
            "q[0].v.k[0] = 1;",
            "1 E040 only an array can have subscripts",
        ),
        (
            "q.v.k = 1;",
            "1 E041 the array `q` stands where a number is needed",
        ),
        (
            "n = q[0].v;",
            "5 E047 the structure `v` stands where a number is needed",
        ),
        (
            "q[0] = q[1];",
            "8 E035 `p` has more than 256 numbers, which is too much for a copy of all",
        ),
        (
            "const struct v c = {{1}}; c.x[1] = 2;",
            "27 E044 `c.x` is `const`",
        ),
        (
            "const struct v c = {{1}}; c = q[0].v;",
            "27 E044 `c` is `const`",
        ),
        (
            "struct v c = {{1}}; n = c.x;",
            "25 E041 the array `c.x` stands where a number is needed",
        ),
    ];
    for (body, expected) in cases {
        let source = format!("{structure}void f(int n, struct p q[n]) {{\n{body}\n}}");
        assert_eq!(report(&source), [format!("4:{expected}")], "{body}");
    }
}

#[test]
fn structures_do_not_nest_without_end() {
    let mut source = "struct s0 { int x; };\n".to_owned();
    for depth in 1..200 {
        source += &format!("struct s{depth} {{ struct s{} a; }};\n", depth - 1);
    }
    source += "void f(struct s199 p[1]) { p[0] = p[0]; }";
    let reports = report(&source);
    assert_eq!(
        reports[0],
        "33:25 E029 more than 32 structures contain each other here"
    );
    let mut wide = "struct s0 { int x; };\n".to_owned();
    for depth in 1..30 {
        wide += &format!("struct s{depth} {{ struct s{} a, b; }};\n", depth - 1);
    }
    wide += "void f(struct s29 p[1]) { p[0] = p[0]; }";
    assert_eq!(
        report(&wide)[0],
        "10:1 E049 this structure has more than 256 members"
    );
}
