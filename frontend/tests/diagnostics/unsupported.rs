//! C that the language leaves out, and what compilers add to C: each construct is named once, and
//! nothing else is said because of it.

use crate::{assert_in_body, assert_reports, helps, report};

#[test]
fn words() {
    assert_in_body(&[
        (
            "volatile int k = n; a[k] = 1;",
            "1 E011 `volatile` is not in the language",
        ),
        (
            "static _Thread_local const int k = 1; a[k] = 1;",
            "8 E011 `_Thread_local` is not in the language",
        ),
        (
            "_Atomic(int) k = n; a[k] = 1;",
            "1 E011 `_Atomic` is not in the language",
        ),
        (
            "double _Complex z = 1; a[0] = z;",
            "8 E011 `_Complex` is not in the language",
        ),
        (
            "complex double z = 1; a[0] = z;",
            "1 E011 `complex` is not in the language",
        ),
        (
            "_Complex z = 1; a[0] = z;",
            "1 E011 `_Complex` is not in the language",
        ),
        (
            "unsigned __int128 k = 1; a[k] = 1;",
            "10 E011 `__int128` is not in the language",
        ),
        (
            "__float128 k = 1; a[0] = k;",
            "1 E011 `__float128` is not in the language",
        ),
        (
            "typeof(a[0]) k = 1; a[0] = k;",
            "1 E011 `typeof` is not in the language",
        ),
        (
            "a[0] = _Generic(n, int: 1, default: 2);",
            "8 E011 `_Generic` is not in the language",
        ),
        (
            "a[0] = _Alignof(double);",
            "8 E011 `_Alignof` is not in the language",
        ),
        (
            "asm volatile (\"nop\" : : \"r\"(n)); a[0] = 1;",
            "1 E011 `asm` is not in the language",
        ),
        (
            "double *p = NULL; p[0] = 1;",
            "13 E011 `NULL` is not in the language",
        ),
        (
            "auto k = n; a[k] = 1;",
            "1 E011 `auto` is not in the language",
        ),
    ]);
}

#[test]
fn unions_are_reported_where_they_are_defined() {
    assert_reports(&[(
        "union u { float f; unsigned u; };\nunsigned f(float x) { union u v; v.f = x; return v.u; }",
        "1:1 E011 `union` is not in the language",
    )]);
}

#[test]
fn attributes_that_change_what_data_is() {
    assert_reports(&[
        (
            "struct __attribute__((packed, unused)) s { char c; int k; }; int f(struct s p[1]) { return p[0].k; }",
            "1:23 E011 the attribute `packed` is not in the language",
        ),
        (
            "struct s { char c; int k __attribute__((aligned(16))); }; int f(struct s p[1]) { return p[0].k; }",
            "1:41 E011 the attribute `aligned` is not in the language",
        ),
        (
            "typedef double v4 __attribute__((__vector_size__(32))); void f(v4 a[1]) { a[0] = 1; }",
            "1:34 E011 the attribute `vector_size` is not in the language",
        ),
        (
            "struct s { _Alignas(16) int k; }; int f(struct s p[1]) { return p[0].k; }",
            "1:12 E011 `_Alignas` is not in the language",
        ),
    ]);
}

#[test]
fn statements_and_functions() {
    assert_in_body(&[
        (
            "a[0] = ({ int k = n; k + 1; }) * 2;",
            "8 E011 statements inside of an expression, `({ … })`, are not in the language",
        ),
        (
            "switch (n) { case 1 ... 5: a[0] = 1; break; case 7: a[0] = 2; }",
            "14 E011 a label for a range of values is not in the language",
        ),
        (
            "double inner(double x) { return x * g; } a[0] = inner(1);",
            "1 E011 `inner` is a function inside of a function",
        ),
        (
            "a[0] = a[1](n);",
            "8 E011 this calls something that is no name",
        ),
        ("goto end;", "1 E011 `goto` is not in the language"),
        (
            "a[0] = \"text\"[0];",
            "8 E011 string literals are not in the language",
        ),
        (
            "const char *t = \"a\" \"b\"; a[0] = t[1];",
            "17 E011 string literals are not in the language",
        ),
    ]);
    assert_reports(&[
        (
            "int sum(int n, ...) { va_list l; va_start(l, n); return 0; }\nvoid f(int a[2]) { a[0] = sum(2, a[1], 1); }",
            "1:16 E011 `sum` takes any number of arguments, which is not in the language",
        ),
        (
            "int get(n, a) int n; int *a; { return a[n]; }\nvoid f(int a[2]) { a[0] = get(1, a); }",
            "1:15 E011 the parameters of `get` are declared behind its parentheses, which is not in the language",
        ),
    ]);
}

#[test]
fn pointers_to_functions() {
    let function = "static double sq(double x) { return x * x; }\n";
    let message = "is a pointer to a function; those are not in the language";
    let cases = [
        (
            "void f(double a[1], double (*g)(double)) { a[0] = g(sq(1)); }",
            format!("2:28 E011 `g` {message}"),
        ),
        (
            "void f(double a[1]) { double (*g)(double) = sq; a[0] = g(1) + (*g)(2); }",
            format!("2:30 E011 `g` {message}"),
        ),
        (
            "typedef double (*map)(double); void f(double a[1], map g) { a[0] = g(sq(1)); }",
            format!("2:16 E011 `map` {message}"),
        ),
        (
            "typedef double map(double); void f(double a[1], map *g) { a[0] = g(sq(1)); }",
            format!("2:1 E011 `map` {message}"),
        ),
        (
            "void sort(double a[1], int (*)(double, double)); void f(double a[1]) { a[0] = sq(1); }",
            "2:24 E011 pointers to functions are not in the language".to_owned(),
        ),
        (
            "void f(double a[1]) { a[0] = sq; }",
            "2:30 E011 the function `sq` stands where a value is needed".to_owned(),
        ),
    ];
    for (source, expected) in cases {
        assert_reports(&[(&format!("{function}{source}"), &expected)]);
    }
}

#[test]
fn bit_fields() {
    let source =
        "struct s { unsigned a : 3, b; int : 2; };\nvoid f(struct s p[1]) { p[0].a = p[0].b; }";
    let expected = [
        "1:21 E011 the member `a` is a bit-field; those are not in the language",
        "1:35 E011 bit-fields are not in the language",
    ];
    assert_eq!(crate::report(source), expected);
}

#[test]
fn what_changes_nothing_is_accepted() {
    let sources = [
        "static __inline__ __attribute__((always_inline, unused)) int g(int x) { return x; } int f(int x) { return g(x); }",
        "void f(int n, double *__restrict__ a, __const double b[__restrict n]) __attribute__((hot, nonnull(1))); void f(int n, double *__restrict__ a, const double b[n]) { a[0] = b[0]; }",
        "int f(int n) { auto int k = n; register const int j = k; __extension__ int l = j; return l; }",
        "int f(int n) { double t[4] __attribute__((aligned(32))); _Alignas(32) double u[4]; t[0] = n; u[0] = t[0]; return u[0]; }",
        "__attribute__((visibility(\"default\"), target(\"avx2\"))) int f(int n) { return n; }",
        "int f(wchar_t c) { double later(double); return c; }",
        "int f(int n) { switch (n) { case 1: n = 2; __attribute__((fallthrough)); default: n++; } return n; }",
    ];
    for source in sources {
        assert_eq!(crate::report(source), [""; 0], "{source}");
    }
}

#[test]
fn each_has_an_advice() {
    let advice = [
        (
            "volatile int k = 1;",
            "leave it out: nothing else reads or writes the data while a kernel runs",
        ),
        (
            "union u { int i; float f; } k;",
            "give every member an array of its own; `(unsigned)x` converts the value, not the bits",
        ),
        (
            "int k = ({ 1; });",
            "write a `static inline` function, or compute the value in a statement before",
        ),
        ("goto end;", "write a loop or an `if`"),
    ];
    for (body, expected) in advice {
        assert_eq!(
            helps(&format!("void f(void) {{ {body} }}")),
            [expected],
            "{body}"
        );
    }
}

#[test]
fn other_languages_are_named() {
    let in_body = [
        (
            "std::vector<double> t(n); a[0] = t[0];",
            "1 E011 `std::vector` is not in the language",
        ),
        (
            "a[0] = std::sqrt(2.0);",
            "8 E011 `std::sqrt` is not in the language",
        ),
        (
            "double *t = new double[n]; a[0] = 1;",
            "13 E011 `new` is not in the language",
        ),
        ("delete[] a;", "1 E011 `delete` is not in the language"),
        (
            "a[0] = static_cast<int>(g);",
            "8 E011 `static_cast` is not in the language",
        ),
        (
            "for (auto &v : a) v = 1;",
            "1 E011 a loop over the elements of something is not in the language",
        ),
        (
            "int f = [&](int i) { return i; };",
            "9 E011 functions inside of expressions are not in the language",
        ),
        (
            "[[maybe_unused]] int k;",
            "1 E011 `[[maybe_unused]]` is not in the language",
        ),
        (
            "double *p = nullptr;",
            "13 E011 `nullptr` is not in the language",
        ),
    ];
    assert_in_body(&in_body);
    let source = "void f(int n, double a[n]) { foo_t *t; n = 1; }";
    assert_eq!(report(source), ["1:30 E028 there is no type `foo_t`"]);
    let sources = [
        (
            "template <class T> T f(void); void g(void) {}",
            "1:1 E011 `template` is not in the language",
        ),
        (
            "class A { int x; }; void g(void) {}",
            "1:1 E011 `class` is not in the language",
        ),
        (
            "using namespace std; void g(void) {}",
            "1:1 E011 `using` is not in the language",
        ),
        (
            "constexpr int N = 3; void g(int n, int a[N]) { a[0] = N; }",
            "1:1 E011 `constexpr` is not in the language",
        ),
        (
            "extern \"C\" { void g(void) {} }",
            "1:1 E011 `extern \"C\"` is not in the language",
        ),
        (
            "void g(double &x) { x = 1; }",
            "1:15 E011 `x` is a reference; those are not in the language",
        ),
        (
            "__global__ void g(int n, int a[n]) { a[0] = 1; }",
            "1:1 E011 `__global__` is not in the language",
        ),
    ];
    for (source, first) in sources {
        assert_eq!(
            report(source).first().map(String::as_str),
            Some(first),
            "{source}"
        );
    }
    // In C all of these are names like any other.
    let plain = "void g(int n, int class[n]) { int new = 1, delete = 2, using = 3; class[0] = new * delete & using; }";
    assert_eq!(report(plain), [""; 0]);
}

#[test]
fn pragmas_of_others_mean_nothing() {
    assert_in_body(&[(
        "_Pragma(\"omp simd\") for (int i = 0; i < n; i++) a[i] = 1; _Pragma(\"strew unroll(j, 2)\") for (int j = 0; j < n; j++) a[j] = 1;",
        "59 E011 `_Pragma` is not in the language",
    )]);
}
