//! Which statements are reductions by a combiner that the file declares.

use strew_affine::text;
use strew_affine::verify::verify;
use strew_frontend::compile;

const FILE: &str = "
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
static double lae(double a, double b) {
  if (a == -INFINITY) return b;
  if (b == -INFINITY) return a;
  double m = a > b ? a : b;
  double d = fabs(a - b);
  return m + log1p(exp(-d));
}
static unsigned either(unsigned a, unsigned b) {
  unsigned both = a;
  both *= b;
  if (both > 7)
    both += 0;
  return a + b + a * b;
}
#pragma strew declare reduction(lae : double : lae(a, b)) identity(-INFINITY)
#pragma strew declare reduction(either : unsigned : a + b + a * b) identity(0)
";

fn lines(code: &str) -> Vec<String> {
    let source = format!(
        "{FILE}void f(int n, const int k[n], const double x[n], const float y[n], const unsigned u[n], double out[n], unsigned h[n], float z[n]) {{ {code} }}"
    );
    let (kernels, diagnostics) = compile(&source);
    let errors: Vec<_> = diagnostics
        .iter()
        .filter(|it| it.code().starts_with('E'))
        .collect();
    assert!(errors.is_empty(), "{code}\n{errors:#?}");
    let mut kernels = kernels.into_iter().map(|it| it.kernel);
    let kernel = kernels.find(|it| it.name == "f").expect("a kernel");
    let printed = kernel.to_string();
    assert!(verify(kernel).is_ok(), "{printed}");
    let read = text::parse(&printed).expect("a kernel");
    assert_eq!(read[0].to_string(), printed);
    let lines = printed
        .lines()
        .map(str::trim)
        .filter(|it| !it.starts_with("reduction"));
    let lines: Vec<_> = lines.map(str::to_owned).collect();
    lines[1..lines.len() - 1].to_vec()
}

#[test]
fn what_a_call_computes_is_the_reduction_that_is_declared() {
    for (code, expected) in [
        ("out[0] = lae(out[0], x[1]);", "out[0] reduce(lae) x[1]"),
        (
            "out[k[1]] = lae(out[k[1]], x[1]);",
            "out[k[1]] reduce(lae) x[1]",
        ),
        (
            "out[k[1]] = lae(out[k[1]], y[1]);",
            "out[k[1]] reduce(lae) f64(y[1])",
        ),
        (
            "out[k[1]] = lae(out[k[1]], x[1] * 2);",
            "out[k[1]] reduce(lae) x[1] * 2.0",
        ),
        (
            "out[k[1]] = lae(out[k[1]], 2);",
            "out[k[1]] reduce(lae) 2.0",
        ),
        (
            "h[n - 1] = h[n - 1] + u[0] + h[n - 1] * u[0];",
            "h[n - 1] reduce(either) u[0]",
        ),
        (
            "h[k[0]] = either(h[k[0]], u[0]);",
            "h[k[0]] reduce(either) u[0]",
        ),
    ] {
        assert_eq!(
            lines(code).last().map(String::as_str),
            Some(expected),
            "{code}"
        );
    }
    let local = lines("double s = 0; for (int i = 0; i < n; i++) s = lae(s, x[i]); out[0] = s;");
    assert!(
        local.contains(&"s reduce(lae) x[i]".to_owned()),
        "{local:?}"
    );
    let guarded =
        lines("for (int i = 0; i < n; i++) if (x[i] > 0) out[k[i]] = lae(out[k[i]], x[i]);");
    assert!(
        guarded.contains(&"out[k[i]] reduce(lae) x[i]".to_owned()),
        "{guarded:?}"
    );
}

#[test]
fn what_computes_something_else_stays_in_order() {
    for code in [
        // Operands in the other order: nobody knows whether they may be exchanged.
        "out[0] = lae(x[1], out[0]);",
        "out[0] = lae(out[1], x[1]);",
        "out[0] = lae(out[0], out[1]);",
        "out[0] = lae(out[0], x[1]) + 0.5;",
        "out[k[0]] = lae(out[k[0]], out[k[1]]);",
        "h[0] = h[0] + u[0] + h[0] * u[1];",
        // Rounded to `float` at every step.
        "z[0] = lae(z[0], x[1]);",
        // `u[k[0]]` is only read where `h[0]` is small.
        "h[0] = h[0] > 7 ? h[0] : h[0] + u[k[0]] + h[0] * u[k[0]];",
    ] {
        let text = lines(code).join("\n");
        assert!(
            !text.contains("reduce(lae)") && !text.contains("reduce(either)"),
            "{code}\n{text}"
        );
    }
}

#[test]
fn faults_of_what_is_evaluated_stay() {
    let source = lines("int t = k[1] % 3; out[t] = lae(out[t], x[n - 1] / k[0]);").join("\n");
    assert!(
        source.contains("reduce(lae)") && source.contains("k[0]"),
        "{source}"
    );
}
