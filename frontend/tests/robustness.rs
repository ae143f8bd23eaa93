//! Whatever the source text is, it has an answer, and what could grow without end is one error.

use strew_frontend::{
    CallProblem, DeclarationProblem, InitializerProblem, Problem, Severity, SyntaxProblem, compile,
};

fn problems(source: &str) -> Vec<Problem> {
    let (kernels, diagnostics) = compile(source);
    let has_errors = diagnostics
        .iter()
        .any(|it| it.severity() == Severity::Error);
    assert!(!has_errors || kernels.is_empty());
    for diagnostic in &diagnostics {
        assert!(source.get(diagnostic.span.range()).is_some());
        assert!(!diagnostic.message().is_empty());
    }
    diagnostics.into_iter().map(|it| it.problem).collect()
}

fn in_function(body: &str) -> String {
    format!("void f(int n, double a[n]) {{ {body} }}")
}

#[test]
fn ten_thousand_brackets_are_one_error() {
    for bracket in ["(", "[", "{", "-(", "if (n) {"] {
        let source = in_function(&bracket.repeat(10_000));
        let found = problems(&source);
        assert!(
            matches!(
                found.as_slice(),
                [Problem::Syntax(SyntaxProblem::NestingTooDeep { .. })]
            ),
            "{bracket}: {found:?}"
        );
    }
    let found = problems(&"(".repeat(10_000));
    assert!(matches!(
        found.as_slice(),
        [Problem::Syntax(SyntaxProblem::NestingTooDeep { .. })]
    ));
}

#[test]
fn endless_statements_are_one_error() {
    let cases = [
        format!("a[0] = {} 1;", "1 + ".repeat(10_000)),
        format!("a[0] = {} 1;", "- ".repeat(10_000)),
        format!("{} ;", "if (n) ".repeat(10_000)),
        format!("{} ;", "for (;;) ".repeat(10_000)),
        format!("a[0] = {} 1;", "n ? 1 : ".repeat(10_000)),
        format!("a[0] = {} 1;", "(int) ".repeat(10_000)),
        format!("a[0] = a{};", "[0]".repeat(10_000)),
    ];
    for case in cases {
        let found = problems(&in_function(&case));
        let limited = matches!(
            found.as_slice(),
            [Problem::Syntax(SyntaxProblem::StatementTooLong { .. })
                | Problem::Syntax(SyntaxProblem::NestingTooDeep { .. })]
        );
        // `for (;;)` has semicolons, so that its depth is seen by the parser alone.
        assert!(limited, "{:?}: {found:?}", case.get(..30));
    }
}

#[test]
fn long_chains_and_deep_nests_below_the_limits_compile_on_a_small_stack() {
    let sum = format!("a[0] = {} 1;", "n + ".repeat(190));
    let nest = format!("{} a[0] = 1;", "if (n > a[1]) ".repeat(95));
    let deep = format!("{} {sum} {}", "{".repeat(90), "}".repeat(90));
    let index = format!("a[0] = {}0{};", "a[(int)".repeat(90), "]".repeat(90));
    for body in [sum, nest, deep, index] {
        assert_eq!(problems(&in_function(&body)), [], "{}", &body[..40]);
    }
}

#[test]
fn long_chains_of_operators_are_refused_by_their_depth() {
    let found = problems(&in_function(&format!("a[0] = {} 1;", "n + ".repeat(500))));
    assert!(
        matches!(
            found.as_slice(),
            [Problem::Syntax(SyntaxProblem::NestingTooDeep { .. })]
        ),
        "{found:?}"
    );
}

#[test]
fn products_of_many_sums_are_not_multiplied_out() {
    let names: Vec<String> = (0..60).map(|number| format!("p{number}")).collect();
    let product = |of: &dyn Fn(&str) -> String| {
        let pairs = names
            .chunks(2)
            .map(|pair| format!("({} + {})", of(&pair[0]), of(&pair[1])));
        pairs.collect::<Vec<_>>().join(" * ")
    };
    let parameters = format!("long {}", names.join(", long "));
    let length = product(&|name| name.to_owned());
    let found = problems(&format!("void f({parameters}, double a[{length}]) {{ }}"));
    assert!(
        matches!(
            found.as_slice(),
            [Problem::Declaration(
                DeclarationProblem::LengthNotAffine { .. }
            )]
        ),
        "{found:?}"
    );
    // No wrap is possible here, so that the range alone does not end it.
    let subscript = product(&|name| format!("({name} & 1)"));
    let found = problems(&format!(
        "void f({parameters}, double a[p0]) {{ a[{subscript}] = 1; }}"
    ));
    assert_eq!(found, []);
}

#[test]
fn garbage_is_answered() {
    let cases = [
        "@".repeat(10_000),
        "; ".repeat(10_000),
        "} ".repeat(10_000),
        "x ".repeat(10_000),
        "void f(".repeat(3_000),
        "\u{1F600}".repeat(10_000),
        in_function(&"x = ;\n".repeat(2_000)),
        in_function(&"x y z\n".repeat(1_000)),
        "#define A A A\n".repeat(1000) + "A",
        "# \n".repeat(10_000),
        "/*".repeat(10_000),
        "'".repeat(10_000),
        "\0\r\u{7f}\u{feff}".repeat(1000),
    ];
    for case in cases {
        assert!(!problems(&case).is_empty(), "{:?}", case.get(..8));
    }
}

#[test]
fn large_files_compile() {
    let declarations: String = (0..2_000).map(|it| format!("int v{it} = n;\n")).collect();
    assert_eq!(problems(&in_function(&declarations)), []);
    let shadows = "{ int v = n; v++; a[v] = 0; }\n".repeat(1_000);
    assert_eq!(problems(&in_function(&shadows)), []);
    let functions: String = (0..500)
        .map(|it| {
            format!("void f{it}(int n, double a[n]) {{ for (int i = 0; i < n; i++) a[i] += i; }}\n")
        })
        .collect();
    assert_eq!(problems(&functions), []);
}

#[test]
fn calls_that_double_at_every_level_are_refused() {
    let functions: String = (1..40)
        .map(|it| {
            let inner = it - 1;
            format!("static int f{it}(int x) {{ return f{inner}(x) + f{inner}(x + 1); }}\n")
        })
        .collect();
    let found = problems(&format!(
        "static int f0(int x) {{ return x; }}\n{functions}void f(int a[1]) {{ a[0] = f39(a[0]); }}"
    ));
    assert!(
        found
            .iter()
            .any(|it| matches!(it, Problem::Call(CallProblem::CallsTooLong { .. }))),
        "{found:?}"
    );
}

#[test]
fn long_chains_of_calls_are_refused_and_short_ones_are_not() {
    let chain = |length: usize, body: &dyn Fn(usize) -> String| {
        let functions: String = (1..length)
            .map(|it| format!("static int f{it}(int x) {{ {} }}\n", body(it - 1)))
            .collect();
        let last = length - 1;
        format!(
            "static int f0(int x) {{ return x; }}\n{functions}void f(int a[1]) {{ a[0] = f{last}(a[0]); }}"
        )
    };
    let plain = |inner: usize| format!("return f{inner}(x) + 1;");
    assert_eq!(problems(&chain(50, &plain)), []);
    let found = problems(&chain(2_000, &plain));
    assert!(
        matches!(
            found.as_slice(),
            [Problem::Call(CallProblem::CallsTooDeep { .. })]
        ),
        "{found:?}"
    );
    let deep = |inner: usize| {
        let blocks = "if (x > 1) { ".repeat(30);
        let sum = "(1 + ".repeat(60);
        format!(
            "{blocks} return {sum} f{inner}(x) {}; {} return 0;",
            ")".repeat(60),
            "}".repeat(30)
        )
    };
    let found = problems(&chain(20, &deep));
    assert!(
        found.iter().all(|it| matches!(
            it,
            Problem::Call(CallProblem::CallsTooDeep { .. })
                | Problem::Syntax(SyntaxProblem::NestingTooDeep { .. })
        )),
        "{found:?}"
    );
    let found = problems(&chain(500, &|inner| {
        format!("return f{inner}(f{inner}(x));")
    }));
    assert!(!found.is_empty());
}

#[test]
fn many_early_exits_are_one_error() {
    let found = problems(&in_function(
        &"if (a[0] > n) return; a[1] += 1;\n".repeat(500),
    ));
    let is_limit =
        |it: &Problem| matches!(it, Problem::Syntax(SyntaxProblem::NestingTooDeep { .. }));
    assert!(!found.is_empty() && found.iter().all(is_limit), "{found:?}");
    let few = "if (a[0] > n) return; a[1] += 1;\n".repeat(90);
    assert_eq!(problems(&in_function(&few)), []);
}

#[test]
fn every_prefix_of_a_kernel_is_answered() {
    let source = "#define K 3 // c\nvoid f(int n, const float x[n][K], double o[n]) {\n#pragma strew tile(i = 2)\nL: \
        for (int i = 0; i <= n - 1; i++) { int t = x[i][1] > 2.5e-3f ? 'a' : ~i; if (t && !n) o[t] += -x[i][2]; else o[i]--; } }";
    assert_eq!(problems(source), []);
    for end in 0..source.len() {
        problems(&source[..end]);
        problems(&source[end..]);
    }
}

/// A thousand random mixtures of tokens: most are nonsense, some are C.
#[test]
fn mixtures_of_tokens_are_answered() {
    let words = [
        "for",
        "(",
        ")",
        "{",
        "}",
        "[",
        "]",
        ";",
        ",",
        "int",
        "const",
        "double",
        "i",
        "a",
        "n",
        "=",
        "+=",
        "++",
        "<",
        "+",
        "*",
        "0",
        "1.5",
        "if",
        "else",
        "while",
        "do",
        "?",
        ":",
        "void",
        "f",
        "return",
        "struct",
        "#pragma strew x\n",
        "#define n a\n",
        "'x'",
        "\"",
        "@",
        "(int)",
        "a[0] = 1;",
        "for (i = 0; i < n; i++)",
        "int i = 0;",
        "unsigned",
    ];
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut random = |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    for _ in 0..1_000 {
        let length = random(40);
        let text: Vec<&str> = (0..length).map(|_| words[random(words.len())]).collect();
        let text = text.join(" ");
        problems(&text);
        problems(&in_function(&text));
    }
}

#[test]
fn many_declarations_of_all_kinds_compile() {
    let members: String = (0..2_000).map(|it| format!("int m{it};")).collect();
    let found = problems(&format!("struct p {{ {members} }}; void f(void) {{ }}"));
    assert!(
        matches!(
            found.as_slice(),
            [Problem::Declaration(
                DeclarationProblem::TooManyMembers { .. }
            )]
        ),
        "{found:?}"
    );
    let types: String = (0..500)
        .map(|it| {
            format!(
                "typedef int t{it}; enum {{ e{it} = {it} }}; static const int c{it} = e{it} + 1;\n"
            )
        })
        .collect();
    assert_eq!(
        problems(&format!(
            "{types} void f(t7 n, double a[n]) {{ a[0] = c499; }}"
        )),
        []
    );
    let pointers = "{ double *p = a + n; *p++ = 1; p[n] -= *p; }\n".repeat(500);
    assert_eq!(problems(&in_function(&pointers)), []);
    let conditions = "#if 1 + 1 == 2 && defined(X)\n#else\n#endif\n".repeat(1_000);
    assert_eq!(problems(&format!("{conditions} void f(void) {{ }}")), []);
    let uses = "a[0] = MAX(MAX(n, 1), MAX(2, n));\n".repeat(100);
    let source = format!(
        "#define MAX(x, y) ((x) > (y) ? (x) : (y))\n{}",
        in_function(&uses)
    );
    assert_eq!(problems(&source), []);
}

#[test]
fn deep_declarations_and_pointers_are_answered() {
    let braces = format!("int t[1] = {}1{};", "{".repeat(300), "}".repeat(300));
    let stars = format!("a[0] = {}a;", "*".repeat(150));
    let addresses = format!("a[0] = {}a[0];", "*&".repeat(90));
    let swapped = format!("a[0] = {}a{};", "(int)0[".repeat(80), "]".repeat(80));
    for body in [braces, stars, swapped] {
        assert!(!problems(&in_function(&body)).is_empty(), "{}", &body[..30]);
    }
    assert_eq!(problems(&in_function(&addresses)), []);
}

#[test]
fn a_table_that_many_kernels_use_has_a_limit() {
    let kernels: String = (0..1_000)
        .map(|it| format!("void f{it}(double a[9]) {{ a[0] = table[{it}]; }}\n"))
        .collect();
    let source = format!(
        "static const int table[4000] = {{{}}};\n{kernels}",
        "1,".repeat(4000)
    );
    let found = problems(&source);
    assert!(
        matches!(
            found.as_slice(),
            [Problem::Initializer(
                InitializerProblem::ConstantsTooLong { .. }
            )]
        ),
        "{found:?}"
    );
}

#[test]
fn words_that_macros_paste_have_a_limit() {
    let (open, close) = ("Q(".repeat(60), ")".repeat(60));
    let source =
        format!("#define P(x) x##x\n#define Q(x) P(x)\nvoid f(int n) {{ int {open}a{close}; }}");
    let (_, diagnostics) = compile(&source);
    let first = diagnostics.first().map(|it| it.code());
    assert_eq!(first, Some("E005"));
}

#[test]
fn products_of_the_greatest_constants_wrap() {
    for product in [
        "18446744073709551615u * 18446744073709551615u",
        "18446744073709551615u + 18446744073709551615u",
        "0u - 18446744073709551615u",
    ] {
        let found = problems(&in_function(&format!("a[0] = ({product}) % 7u;")));
        assert_eq!(found, [], "{product}");
    }
}
