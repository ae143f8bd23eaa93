//! What is refused, with which code and words, and where.

mod calls;
mod control_flow;
mod declarations;
mod expressions;
mod pointers;
mod preprocessing;
mod reductions;
mod structures;
mod syntax;
mod undefined;
mod unsupported;

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

/// What to do about each diagnostic.
fn helps(source: &str) -> Vec<String> {
    let (_, diagnostics) = compile(source);
    diagnostics.iter().filter_map(|it| it.help()).collect()
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
