//! Index arithmetic that comes to nothing is not computed, and what it names is the same.

use crate::common::{array, check, kernel, scalar};
use strew_jit::{Options, compile};

/// The divisions in the code of a kernel over `a`, of rows of `m` times `k` elements.
fn divisions(source: &str) -> usize {
    let code = compile(&kernel(source), &Options::default()).expect("code");
    code.clif(strew_runtime::Mode::Stable)
        .expect("its text")
        .matches("sdiv")
        .count()
}

fn over(body: &str) -> String {
    format!("kernel @k(n: i64, m: i64, k: i64, a: f64[n, m, k], out: f64[n, m]) {{ {body} }}")
}

#[track_caller]
fn runs(source: &str) {
    for (n, m, k) in [(3_usize, 4, 5), (1, 1, 1), (5, 3, 2), (0, 2, 2), (2, 0, 2)] {
        let sizes = [n, m, k].map(|it| scalar(it as i64));
        let cells = |count: usize| -> Vec<f64> { (0..count).map(|it| it as f64 * 0.75).collect() };
        let [a, out] = [array(&cells(n * m * k)), array(&cells(n * m))];
        let given = [&sizes[..], &[a, out]].concat();
        let outcome = check(source, &given);
        assert!(outcome.is_ok(), "{outcome:?}\n{source}");
    }
}

#[test]
fn collapsed_dimensions_are_not_taken_apart() {
    for body in [
        "view rows = collapse(a, [[0, 1], [2]]) affine.for i in 0..n * m { affine.for j in 0..k { out[i floordiv m, i mod m] reduce(add) rows[i, j] } }",
        "view flat = collapse(a, [[0, 1, 2]]) view sums = collapse(out, [[0, 1]]) affine.for i in 0..n * m { affine.for j in 0..k { sums[i] = flat[i * k + j] } }",
        "view flat = collapse(a, [[0, 1, 2]]) affine.for i in 0..n * m * k { flat[n * m * k - 1 - i] = f64(i) }",
    ] {
        let source = over(body);
        runs(&source);
        assert_eq!(divisions(&source), 0, "{source}");
    }
}

#[test]
fn other_quotients_are_computed() {
    for body in [
        "affine.for i in 0..n * m { out[i floordiv m, m - 1 - i mod m] = 1.0 }",
        "affine.for i in 0..n * m { affine.for j in 0..k { a[i floordiv m, (i + 1) mod m, j] = 2.0 } }",
    ] {
        let source = over(body);
        runs(&source);
        assert_ne!(divisions(&source), 0, "{source}");
    }
}
