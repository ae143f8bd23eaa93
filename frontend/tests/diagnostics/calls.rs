//! Calls.

use crate::{assert_in_body, assert_reports, helps, report};

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
fn functions_that_no_kernel_can_call_come_with_advice() {
    let cases = [
        (
            "memset(a, 0, n);",
            "memset",
            "write the bytes as a number of elements, `n * sizeof *a`, or the loop: `for (int64_t i = 0; i < n; i++) a[i] = 0;`",
        ),
        (
            "memcpy(a, b, n * sizeof(float));",
            "memcpy",
            "write the bytes as a number of elements of one type, `n * sizeof *a`, or the loop: `for (int64_t i = 0; i < n; i++) a[i] = b[i];`",
        ),
        (
            "memmove(a, &b[1], 12);",
            "memmove",
            "write the bytes as a number of elements of one type, `n * sizeof *a`, or the loop: `for (int64_t i = 0; i < n; i++) a[i] = from[i];`",
        ),
        (
            "double *t = malloc(n); t[0] = 1;",
            "malloc",
            "let it begin a pointer, `double *t = malloc(n * sizeof *t);`, declare a local array, `double t[n];`, or make it a parameter",
        ),
        (
            "free(a);",
            "free",
            "leave it out: a local array lives as long as its block",
        ),
        (
            "printf(\"%g\", a[0]);",
            "printf",
            "leave it out: results are handed over in array parameters, or returned",
        ),
        (
            "fprintf(stderr, \"no\");",
            "fprintf",
            "leave it out: results are handed over in array parameters, or returned",
        ),
        (
            "if (n < 0) exit(1);",
            "exit",
            "write `return`: a kernel ends, the program goes on",
        ),
        (
            "a[0] = rand() % 7;",
            "rand",
            "hand random numbers over in an array, or compute them from the position with integer operators",
        ),
        (
            "qsort(a, n, sizeof *a, less);",
            "qsort",
            "sort before or after the call of the kernel",
        ),
        (
            "a[0] = omp_get_thread_num();",
            "omp_get_thread_num",
            "leave it out: strew keeps parallel updates apart, and the call says how many threads there are",
        ),
        (
            "a[0] = strlen(\"text\");",
            "strlen",
            "hand over numbers, and lengths as parameters",
        ),
        (
            "a[0] = omp_get_wtime();",
            "omp_get_wtime",
            "measure around the call of the kernel",
        ),
        (
            "a[0] = cabs(a[1]);",
            "cabs",
            "compute with real and imaginary parts, which have arrays or members of their own",
        ),
        (
            "__builtin_prefetch(&a[n]);",
            "__builtin_prefetch",
            "leave it out",
        ),
        (
            "a[0] = __builtin_bswap32(n);",
            "__builtin_bswap32",
            "write it with C's operators, for one element",
        ),
        ("a[0] = __builtin_sqrt(n);", "__builtin_sqrt", "call `sqrt`"),
        (
            "a[0] = fgets();",
            "fgets",
            "read the data before the call, and hand it over in parameters",
        ),
        (
            "long long u; memcpy(&u, &a[0], sizeof u); a[1] = u;",
            "memcpy",
            "write `=`, which converts the value: the bits of one type cannot be read as another",
        ),
        (
            "a[0] = ldexp(a[1], 3);",
            "ldexp",
            "compute it with functions from floats to a float, as `exp2`, `logb` and `trunc` are, and with `isnan`, `isinf` and `isfinite`",
        ),
        (
            "a[0] = memcmp(a, b, 8);",
            "memcmp",
            "write the loop that compares the elements",
        ),
    ];
    for (body, function, help) in cases {
        let source = format!("void f(int n, double a[n], const double b[n]) {{\n{body}\n}}");
        let column = body.find(function).unwrap_or_default() + 1;
        let message = format!("2:{column} E095 `{function}` cannot be called in a kernel");
        assert_eq!(report(&source), [message], "{body}");
        assert_eq!(helps(&source), [help], "{body}");
    }
}

#[test]
fn a_function_of_the_file_may_be_called_like_one_of_a_library() {
    let source = "static int rand(int n) { return n * 7; }\nint f(int n) { return rand(n); }";
    assert_eq!(report(source), [""; 0]);
}

#[test]
fn an_assertion_is_left_out_with_a_warning_unless_that_is_meant() {
    let source = "#include <assert.h>\nint f(int n) { assert(n > 0 && \"positive\"); return n; }";
    let warning = "2:16 W005 `assert` is left out, nothing is checked here";
    assert_eq!(report(source), [warning]);
    assert_eq!(report(&format!("#define NDEBUG\n{source}")), [""; 0]);
}
