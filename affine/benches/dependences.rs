//! How long the dependences of kernels take.

use criterion::{Criterion, criterion_group, criterion_main};
use strew_affine::dependence::Analyzed;
use strew_affine::text::parse;

/// Ten statements: stencils, a triangular solve, a matrix product, a scatter.
const TEN: &str = "kernel @ten(n: i64, m: i64, a: f64[n, n], b: f64[n, n], c: f64[n, n], x: f64[n], y: f64[n], key: i32[n], out: f64[m]) {
  affine.for t in 0..m {
    affine.for i in 1..n - 1 {
      affine.for j in 1..n - 1 {
        b[i, j] = (a[i, j] + a[i - 1, j] + a[i + 1, j] + a[i, j - 1] + a[i, j + 1]) * 0.2
      }
    }
    affine.for i2 in 1..n - 1 {
      affine.for j2 in 1..n - 1 {
        a[i2, j2] = b[i2, j2]
      }
    }
  }
  affine.for i3 in 0..n {
    x[i3] = y[i3]
    affine.for j3 in 0..i3 {
      x[i3] = x[i3] - c[i3, j3] * x[j3]
    }
    x[i3] = x[i3] / c[i3, i3]
  }
  affine.for i4 in 0..n {
    affine.for j4 in 0..n {
      c[i4, j4] = 0.0
      affine.for k in 0..n {
        c[i4, j4] reduce(add) a[i4, k] * b[k, j4]
      }
    }
  }
  affine.for i5 in 0..n {
    out[key[i5]] reduce(add) x[i5]
    affine.if (i5 < n - 1) { y[i5 + 1] = y[i5] * 0.5 } else { y[0] = x[i5] }
  }
}";

const SKEWED: &str = "kernel @skewed(n: i64, x: f64[n], y: f64[n, n]) {
  affine.for i in 0..n {
    affine.for j in i..n {
      affine.for k in max(0, j - i)..min(n, j + 2) {
        affine.for l in 0..n - k {
          y[i + l, 2 * j - k] = x[2 * i + 3 * l - k] + y[k - l, i + 2 * l]
        }
      }
    }
  }
}";

fn dependences(criterion: &mut Criterion) {
    for (name, text) in [("ten statements", TEN), ("skewed", SKEWED)] {
        let kernels = parse(text).unwrap_or_default();
        for kernel in &kernels {
            criterion.bench_function(name, |bencher| {
                bencher.iter(|| Analyzed::new(kernel).dependences().len());
            });
        }
    }
}

criterion_group!(benches, dependences);
criterion_main!(benches);
