//! C functions and the kernels that they become.

use strew_affine::verify::verify;
use strew_frontend::{Lowered, Problem, compile, compile_exact};

fn lower(source: &str) -> Lowered {
    let (mut kernels, diagnostics) = compile_exact(source);
    // What C leaves undefined has a meaning here, which is tested too.
    let others = diagnostics
        .iter()
        .filter(|it| !matches!(it.problem, Problem::Undefined(_)));
    let messages: Vec<String> = others.map(|it| it.message()).collect();
    assert!(messages.is_empty(), "{source}\n{messages:#?}");
    assert_eq!(kernels.len(), 1, "{source}");
    kernels.remove(0)
}

/// The lines of the kernel's body; how names that are also words of the text are quoted is the
/// text's own affair.
fn body(source: &str) -> Vec<String> {
    let kernel = lower(source).kernel;
    let text = kernel.to_string().replace('`', "");
    let verified = verify(kernel);
    assert!(verified.is_ok(), "{text}\n{verified:?}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let last = lines.len() - 1;
    lines[1..last].iter().map(|it| (*it).to_owned()).collect()
}

const PARAMETERS: &str = "int n, int m, int h, int64_t l, unsigned u, uint64_t w, float f, double d, int8_t c[n], uint8_t b[w], int k[n], unsigned uu[n], int64_t q[l], float x[n], double y[n], float z[n][m], int row[n + 1]";

/// The lines that a function body becomes.
fn lines(code: &str) -> Vec<String> {
    body(&format!("void f({PARAMETERS}) {{ {code} }}"))
}

fn assert_lines(cases: &[(&str, &[&str])]) {
    for (code, expected) in cases {
        assert_eq!(lines(code), *expected, "{code}");
    }
}

#[test]
fn the_kernel_of_the_design_is_as_the_design_prints_it() {
    let source = include_str!("../../examples/kernels/segment_sum.c");
    let text = lower(source).kernel.to_string();
    let expected = "kernel @segment_sum(n: i64, m: i32, seg: i32[n], x: f32[n], out: f64[m]) {\n  affine.for i in 0..n {\n    \
        out[seg[i]] reduce(add) f64(x[i])\n  }\n}";
    assert_eq!(text.trim_end(), expected);
}

#[test]
fn the_examples_scatter_by_reductions() {
    let examples = [
        (
            include_str!("../../examples/kernels/histogram.c"),
            "h[key[i]] reduce(add) 1",
        ),
        (
            include_str!("../../examples/kernels/segment_max.c"),
            "out[seg[i]] reduce(max) x[i]",
        ),
        (
            include_str!("../../examples/kernels/weighted_sum.c"),
            "out[key[i]] reduce(add) weight[i]",
        ),
        (
            include_str!("../../examples/kernels/vertex_normals.c"),
            "normal[tri[t, k], 0] reduce(add) x",
        ),
    ];
    for (source, line) in examples {
        assert!(body(source).contains(&line.to_owned()), "{source}");
    }
}

#[test]
fn kernels_without_loops_parameters_or_statements_are_kernels() {
    assert!(body("void nothing(void) {}").is_empty());
    assert!(body("void nothing() { ; {} }").is_empty());
    assert_eq!(body("void one(double a[1]) { a[0] = 2; }"), ["a[0] = 2.0"]);
}

#[test]
fn parameters_have_the_sizes_of_the_abi() {
    let source = "void f(char a, signed char b, unsigned char c, short d, unsigned short e, int g, unsigned h, long i, unsigned long j, \
        long long k, size_t o, ptrdiff_t p, float q, double r, const float s[static 4][restrict 2]) {}";
    let text = lower(source).kernel.to_string();
    let expected = "kernel @f(a: i8, b: i8, c: u8, d: i16, e: u16, g: i32, h: u32, i: i64, j: u64, k: i64, o: u64, p: i64, q: f32, r: f64, \
        s: f32[4, 2])";
    assert!(text.replace('`', "").starts_with(expected), "{text}");
}

#[test]
fn loops_that_cannot_wrap_are_affine() {
    assert_lines(&[
        (
            "for (int i = 0; i < n; i++) x[i] = 0;",
            &["affine.for i in 0..n {", "x[i] = 0.0", "}"],
        ),
        (
            "for (int i = 0; n > i; ++i) ;",
            &["affine.for i in 0..n {", "}"],
        ),
        (
            "for (int i = 1; i <= n - 1; i = i + 1) ;",
            &["affine.for i in 1..n {", "}"],
        ),
        (
            "for (int64_t i = 0; i < l; i += 4) ;",
            &["affine.for i in 0..l step 4 {", "}"],
        ),
        (
            "for (size_t i = 0; i < w; i++) ;",
            &["affine.for i in 0..w {", "}"],
        ),
        (
            "for (int i = 0; i != n; i++) ;",
            &["affine.for i in 0..n {", "}"],
        ),
        (
            "for (unsigned i = 0; i < u; i++) ;",
            &["affine.for i in 0..u {", "}"],
        ),
        (
            "for (int64_t i = 0; i < n; i++) ;",
            &["affine.for i in 0..n {", "}"],
        ),
        (
            "const int e = n - 1; for (int i = e; i < n; i++) ;",
            &["affine.for i in n - 1..n {", "}"],
        ),
    ]);
}

#[test]
fn loops_with_computed_bounds_that_stay_are_scf_for() {
    assert_lines(&[
        (
            "for (int v = 0; v < n; v++) for (int e = row[v]; e < row[v + 1]; e++) x[e] = 0;",
            &[
                "affine.for v in 0..n {",
                "scf.for e in i64(row[v])..i64(row[v + 1]) {",
                "x[e] = 0.0",
                "}",
                "}",
            ],
        ),
        // `n` is converted to `unsigned`, where a negative one would be large.
        (
            "for (unsigned i = 0; i < h; i++) ;",
            &["scf.for i in 0..i64(u32(h)) {", "}"],
        ),
    ]);
}

#[test]
fn loops_that_may_wrap_run_as_often_as_in_c() {
    assert_lines(&[
        (
            "for (int i = 0; i <= m; i++) ;",
            &[
                "scf.for i_turn in 0..0 <= m ? m == 2147483647 ? 9223372036854775806 : i64(u32(m)) + 1 : 0 {",
                "}",
            ],
        ),
        (
            "for (int8_t i = 0; i < n; i++) ;",
            &[
                "scf.for i_turn in 0..0 < n ? n > 127 ? 9223372036854775806 : i64(u32(n)) : 0 {",
                "}",
            ],
        ),
        (
            "for (int i = m; i != k[0]; i++) x[i] = 0;",
            &[
                "let i_end: i32 = k[0]",
                "scf.for i_turn in 0..i64(u32(i_end - m)) {",
                "x[m + i32(i_turn)] = 0.0",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < l; i++) ;",
            &[
                "scf.for i_turn in 0..0 < l ? l > 2147483647 ? 9223372036854775806 : l < 0 ? 9223372036854775806 : l : 0 {",
                "}",
            ],
        ),
    ]);
}

#[test]
fn loops_that_may_wrap_or_change_their_bounds_stay_as_c_runs_them() {
    assert_lines(&[
        (
            "for (int i = 0; i < m; i += 2) ;",
            &[
                "var i: i32 = 0",
                "scf.while i < m {",
                "i reduce(add) 2",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < k[0]; i++) k[i] = 0;",
            &[
                "var i: i32 = 0",
                "scf.while i < k[0] {",
                "k[i] = 0",
                "i reduce(add) 1",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) i += k[i];",
            &[
                "var i: i32 = 0",
                "scf.while i < n {",
                "i = i + k[i]",
                "i reduce(add) 1",
                "}",
            ],
        ),
        ("for (;;) ;", &["scf.while true {", "}"]),
    ]);
}

#[test]
fn an_iterator_declared_outside_keeps_its_last_value_where_it_is_read() {
    assert_lines(&[
        (
            "int i, j; for (i = 0; i < n; i++) for (j = 0; j < m; j++) z[i][j] = 0;",
            &[
                "affine.for i in 0..n {",
                "affine.for j in 0..m {",
                "z[i, j] = 0.0",
                "}",
                "}",
            ],
        ),
        (
            "int i; for (i = 0; i < n; i++) ; k[0] = i;",
            &[
                "var i: i32 = 0",
                "i = 0",
                "affine.for i_2 in 0..n {",
                "}",
                "i = i32(i64(n))",
                "k[0] = i",
            ],
        ),
    ]);
}

#[test]
fn the_first_value_is_computed_once_even_if_it_reads_the_iterator() {
    let code = "int i = m; for (i = i + 1; i < n; i++) x[i] = 0;";
    assert_eq!(lines(code)[0], "scf.for i in i64(m + 1)..i64(n) {");
}

#[test]
fn subscripts_are_affine_only_where_no_wrap_is_possible() {
    assert_lines(&[
        (
            "for (int i = 0; i < n; i++) x[i] = k[i + 1] + k[2 * i];",
            // 2 * i may leave `int`.
            &[
                "affine.for i in 0..n {",
                "x[i] = f32(k[i + 1] + k[2 * i32(i)])",
                "}",
            ],
        ),
        (
            "for (int64_t i = 0; i < l; i++) q[2 * i + 1] = 0;",
            &["affine.for i in 0..l {", "q[i * 2 + 1] = 0", "}"],
        ),
        (
            "for (unsigned i = 1; i < u; i++) x[i - 1] = x[i - 2];",
            &["affine.for i in 1..u {", "x[i - 1] = x[u32(i) - 2]", "}"],
        ),
        (
            "const int j = n + m / 2; x[m / 2] = x[j];",
            &["let j: i32 = n + m / 2", "x[m floordiv 2] = x[j]"],
        ),
        ("int j = 0; j = n; x[j] = 0;", &["x[n] = 0.0"]),
        (
            "x[k[k[0]]] = z[m][k[1] + 1];",
            &["x[k[k[0]]] = z[m, k[1] + 1]"],
        ),
        ("\n#define AT (1 + 2)\n x[AT * 2] = AT;", &["x[6] = 3.0"]),
        (
            // A count from 32 on is taken modulo the width: it divides by something else than the
            // power of two.
            "for (int i = 0; i < n; i++) x[i >> 31] = k[i >> 33];",
            &[
                "affine.for i in 0..n {",
                "x[i floordiv 2147483648] = f32(k[i32(i) >> 33])",
                "}",
            ],
        ),
    ]);
}

#[test]
fn conditions_are_affine_where_they_can_be() {
    assert_lines(&[
        (
            "if (n > 3 && m <= n) x[0] = 1;",
            &["affine.if (3 < n, m <= n) {", "x[0] = 1.0", "}"],
        ),
        (
            "if (!(n < m)) x[0] = 1; else x[0] = 2;",
            &[
                "affine.if (m <= n) {",
                "x[0] = 1.0",
                "} else {",
                "x[0] = 2.0",
                "}",
            ],
        ),
        (
            "if (n != m) x[0] = 1;",
            &["affine.if (n == m) {", "} else {", "x[0] = 1.0", "}"],
        ),
        (
            "if (n < u) x[0] = 1;",
            &["affine.if (n < u) {", "x[0] = 1.0", "}"],
        ),
        (
            "if (h < u) x[0] = 1;",
            &["scf.if u32(h) < u {", "x[0] = 1.0", "}"],
        ),
        ("if (n) x[0] = 1;", &["scf.if bool(n) {", "x[0] = 1.0", "}"]),
        (
            "if (x[0]) x[0] = 1;",
            &["scf.if bool(x[0]) {", "x[0] = 1.0", "}"],
        ),
        (
            "if (n > 0) if (m > 0) x[0] = 1; else x[0] = 2;",
            &[
                "affine.if (0 < n) {",
                "affine.if (0 < m) {",
                "x[0] = 1.0",
                "} else {",
                "x[0] = 2.0",
                "}",
                "}",
            ],
        ),
    ]);
}

#[test]
fn conversions_are_those_of_c() {
    assert_lines(&[
        (
            "d = x[0] + 1;",
            &["var d_2: f64 = d", "d_2 = f64(x[0] + 1.0)"],
        ),
        ("y[0] = x[0] * 0.5;", &["y[0] = f64(x[0]) * 0.5"]),
        ("k[0] = c[0] + b[0];", &["k[0] = i32(c[0]) + i32(b[0])"]),
        ("q[0] = k[0] * uu[0];", &["q[0] = i64(u32(k[0]) * uu[0])"]),
        ("k[0] = x[0] < y[0];", &["k[0] = i32(f64(x[0]) < y[0])"]),
        (
            "y[0] = (x[0] > 0) + 1;",
            &["y[0] = f64(i32(x[0] > 0.0) + 1)"],
        ),
        ("c[0] = ~c[1] << k[0];", &["c[0] = i8(~i32(c[1]) << k[0])"]),
        ("k[0] = k[1] >> q[0];", &["k[0] = k[1] >> i32(q[0])"]),
        (
            // Only a conversion that kept the value of the iterator is undone by the next.
            "for (int64_t i = 0; i < l; i++) { q[i] = (int8_t)i + 1L; q[i] = (int64_t)(unsigned)i; q[i] = (int64_t)(int)i; }",
            &[
                "affine.for i in 0..l {",
                "q[i] = i64(i8(i)) + 1",
                "q[i] = i64(u32(i))",
                "q[i] = i64(i32(i))",
                "}",
            ],
        ),
        (
            "k[0] = k[1] && !x[0] || k[2] > 1;",
            &["k[0] = i32(bool(k[1]) && !bool(x[0]) || k[2] > 1)"],
        ),
        (
            "y[0] = k[0] ? 1 : 0.5f;",
            &["y[0] = f64(bool(k[0]) ? f32(1.0) : 0.5)"],
        ),
        ("k[0] = (int8_t)300;", &["k[0] = 44"]),
        ("x[0] = 16777217;", &["x[0] = 16777216.0"]),
        (
            "x[0] = -1.5f; y[0] = - - 2;",
            &["x[0] = -1.5", "y[0] = 2.0"],
        ),
    ]);
}

#[test]
fn scalar_accumulators_are_reductions_too() {
    assert_lines(&[(
        "float s = 0; for (int i = 0; i < n; i++) { s += x[i]; if (x[i] > f) f = x[i]; } x[0] = s + f;",
        &[
            "var f_2: f32 = f",
            "var s: f32 = 0.0",
            "affine.for i in 0..n {",
            "s reduce(add) x[i]",
            "f_2 reduce(max) x[i]",
            "}",
            "x[0] = s + f_2",
        ],
    )]);
}

#[test]
fn locals_are_values_unless_they_are_assigned_and_names_are_given_once() {
    assert_lines(&[
        (
            "for (int i = 0; i < n; i++) { float t = x[i]; float v = t; v = v / 2; { int v = k[i]; k[v] = v; } x[i] = v; }",
            &[
                "affine.for i in 0..n {",
                "let t: f32 = x[i]",
                "var v: f32 = t",
                "v = v / 2.0",
                "let v_2: i32 = k[i]",
                "k[v_2] = v_2",
                "x[i] = v",
                "}",
            ],
        ),
        (
            "for (int i = 0; i < n; i++) ; for (int i = 0; i < m; i++) ;",
            &[
                "affine.for i in 0..n {",
                "}",
                "affine.for i_2 in 0..m {",
                "}",
            ],
        ),
        // A load may fault, so it stays even if nothing uses it.
        ("int a = n + 1, t = k[m];", &["let t: i32 = k[m]"]),
    ]);
}

#[test]
fn while_and_do_loops_run_as_in_c() {
    assert_lines(&[
        (
            "while (n > 1) n /= 2;",
            &[
                "var n_2: i32 = n",
                "scf.while n_2 > 1 {",
                "n_2 = n_2 / 2",
                "}",
            ],
        ),
        (
            "do n--; while (n);",
            &[
                "var n_2: i32 = n",
                "var again: bool = true",
                "scf.while again {",
                "n_2 reduce(add) -1",
                "again = bool(n_2)",
                "}",
            ],
        ),
    ]);
}

#[test]
fn pragmas_and_labels_name_the_loop_that_follows() {
    let source = "void f(int n) {\n#pragma strew tile(i = 4)\n#pragma omp simd\n#pragma strew parallelize(i_t)\n\
        L1: for (int i = 0; i < n; i++) ;\nfor (int j = 0; j < n; j++) ; }";
    let lowered = lower(source);
    let texts: Vec<&str> = lowered.pragmas.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["tile(i = 4)", "parallelize(i_t)"]);
    for pragma in &lowered.pragmas {
        assert_eq!(lowered.kernel.iters[pragma.loop_iter].name, "i");
        assert_eq!(source.get(pragma.span.range()), Some(pragma.text.as_str()));
    }
    let labels = lowered.kernel.iters.values();
    let labels = labels.flat_map(|it| it.labels.iter().map(|label| (&*it.name, &**label)));
    assert_eq!(labels.collect::<Vec<_>>(), [("i", "L1")]);
}

#[test]
fn accesses_point_at_themselves_in_the_source() {
    let source =
        "void f(int n, int a[n], double b[n]) { for (int i = 0; i < n; i++) b[a[i]] += a[i]; }";
    let kernel = lower(source).kernel;
    let sites = strew_affine::visit::accesses(&kernel);
    let texts: Vec<_> = sites
        .iter()
        .filter_map(|it| source.get(it.access.span.range()))
        .collect();
    assert_eq!(texts, ["a[i]", "a[i]", "b[a[i]]"]);
}

#[test]
fn several_functions_are_several_kernels_and_prototypes_are_none() {
    let (kernels, diagnostics) = compile("void b(int n); inline void a(void) {} void b(int n) {}");
    assert!(diagnostics.is_empty());
    let names: Vec<_> = kernels.iter().map(|it| it.kernel.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
}

#[test]
fn the_syntax_tree_prints_as_a_list() {
    let (file, _) = strew_frontend::parse(
        "void f(const int n, float a[n]) { for (int i = 0; i < n; i++) a[i] += -1; }",
    );
    let expected = "\
function f : void
  parameter n : const int
  parameter a : float
    length
      name n
  for
    declare i : int
      constant 0 : i32
    binary <
      name i
      name n
    postfix ++
      name i
    assign +=
      element
        name a
        name i
      unary -
        constant 1 : i32
";
    assert_eq!(file.to_string(), expected);
}
