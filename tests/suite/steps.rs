//! Steps in machine code: what a step makes of a kernel computes what the kernel does.

use crate::data::{Data, is_close};
use crate::engines::{agree, breaks_assumption, compiled, interpreted, scheduled_by};
use crate::mutations::arguments;
use crate::random::Random;
use std::collections::BTreeSet;
use strew::Source;
use strew::ir::interpret::ForallOrder;

const KERNELS: [&str; 8] = [
    "kernel @product(n: i64, m: i64, p: i64, a: f64[n, p], b: f64[p, m], c: f64[n, m]) {
  affine.for i in 0..n { affine.for j in 0..m { affine.for k in 0..p { c[i, j] reduce(add) a[i, k] * b[k, j] } } }
}",
    "kernel @stencil(n: i64, t: i64, a: f64[n + 2]) {
  affine.for i in 0..t { affine.for j in 1..n + 1 { a[j] = a[j - 1] + a[j] * 0.5 + a[j + 1] } }
}",
    "kernel @triangle(n: i64, x: f64[n, n], y: f64[n], s: f64[1]) {
  L1: affine.for i in 0..n {
    affine.for j in i..n { y[j] reduce(add) x[i, j] * f64(i) }
  }
  affine.for k in 0..n { s[0] reduce(add) y[k] }
}",
    "kernel @scatter(n: i64, m: i64, key: i32[n], x: f64[n], y: f64[n], out: f64[m]) {
  var t: f64 = 0.0
  affine.for i in 0..n {
    t = x[i] * 2.0
    y[i] = t
    out[key[i]] reduce(add) t
  }
  affine.for k in 0..n { x[k] = y[k] + 1.0 }
}",
    "kernel @pair(n: i64, m: i64, key: i32[n], x: f64[n], y: f64[n], out: f64[m]) {
  affine.for i in 0..n { y[i] = x[i] * 2.0 out[key[i]] reduce(add) y[i] }
}",
    "kernel @window(n: i64, x: f64[n + 2], y: f64[n], z: f64[n, 3]) {
  alloc w: f64[3]
  affine.for i in 0..n {
    affine.for j in 0..3 { w[j] = x[i + j] }
    affine.for k in 0..2 { y[i] reduce(max) w[k] * w[k + 1] z[i, k] = w[k] }
  }
}",
    "kernel @solve(n: i64, l: f64[n, n], x: f64[n]) {
  affine.for i in 0..n {
    affine.for j in 0..i { x[i] reduce(add) l[i, j] * x[j] }
    x[i] = x[i] * l[i, i]
  }
}",
    "kernel @flat(n: i64, m: i64, a: f64[n * m], x: f64[n, m], q: f64[n]) {
  affine.for i in 0..n {
    affine.for j in 0..m {
      let f: f64 = q[i] * 3.0
      a[i * m + j] = f + x[i, j]
      affine.if (j < i) { x[i, j] = 1.0 }
    }
  }
}",
];

const SCRIPTS: [&str; 35] = [
    "tile(i = 2, j = 3)",
    "tile(i = 2, j = 2, k = 3); separate(i_t); separate(j_t)",
    "tile(i = n, j = 2)",
    "tile(i = 2, j = 2, k = 2); pack(b, k_t); pack(a, k_t)",
    "strip_mine(i = 3); separate(i_t)",
    "strip_mine(j = n / 2 + 1)",
    "interchange(i, j)",
    "interchange(L1, j)",
    "permute(k, i, j)",
    "skew(j by i, 1); interchange(i, j_s)",
    "skew(j by i, 2); interchange(i, j_s); parallelize(i)",
    "reverse(i)",
    "fuse(i, k)",
    "fuse(i, k, shift = 1)",
    "distribute(i)",
    "expand(f, j); distribute(j)",
    "expand(t, i); distribute(i); parallelize(i)",
    "expand(w, i); distribute(i)",
    "privatize(w, i); parallelize(i)",
    "privatize(t, i)",
    "parallelize(i)",
    "parallelize(j)",
    "coalesce(i, j)",
    "peel(i, first = 1); peel(j, last = 1)",
    "split(i, at = n / 2)",
    "separate(j)",
    "unroll(k, 2)",
    "unroll_and_jam(i, 2)",
    "permute(k, j, i); scalar_replace(b)",
    "hoist(S1, j)",
    "sink(j); permute(j, i); strip_mine(j = 3); permute(i, j_p); split(i, at = j_t + 3); parallelize(i_r); separate(j_p_1)",
    "scalar_replace(c)",
    "shift(S2, i, 1)",
    "delinearize(a, [n, m]); interchange(i, j)",
    "tile_indirection_using_forall(i, chunks = 3)",
];

#[test]
fn what_steps_make_computes_the_same() {
    let mut accepted = BTreeSet::new();
    for (number, text) in (0..).zip(KERNELS) {
        let parsed = Source::new("k.nest", text).parse().expect("a kernel");
        let parsed = parsed.kernel(None).expect("one kernel");
        for script in SCRIPTS {
            let Some(scheduled) = scheduled_by(script, parsed) else {
                continue;
            };
            accepted.insert(script);
            let mut random = Random(number);
            for _ in 0..3 {
                let data = arguments(&scheduled, &mut random).expect("arguments");
                let after = scheduled.compiled().kernel();
                let after = interpreted(after, &data, ForallOrder::Backward);
                if breaks_assumption(&after) {
                    continue;
                }
                let expected = interpreted(parsed.kernel(), &data, ForallOrder::Forward);
                let found = compiled(&scheduled.clone().threads(2), &data);
                if expected.is_ok() || after.is_ok() || found.is_ok() {
                    agree(script, &after, &expected, is_close);
                    agree(script, &found, &expected, is_close);
                }
            }
        }
    }
    let refused: Vec<_> = SCRIPTS
        .iter()
        .filter(|it| !accepted.contains(*it))
        .collect();
    assert!(refused.is_empty(), "no kernel takes {refused:?}");
}

/// An array that is as long as that of the call gets rows; where there are too few of them, or some
/// are left over, a call says so.
#[test]
fn bare_pointers_get_rows() {
    const SOURCE: &str = "void k(int64_t n, int64_t m, const double x[n][m], double *a) \
         { for (int64_t i = 0; i < n; i++) for (int64_t j = 0; j < m; j++) a[i * m + j] += x[i][j]; }";
    let parsed = Source::new("k.c", SOURCE).parse().expect("a source");
    let parsed = parsed.kernel(None).expect("one kernel");
    let script = "delinearize(a, [n, m]); interchange(i, j); parallelize(j)";
    let scheduled = scheduled_by(script, parsed).expect("a schedule");
    for (n, m, length, is_right) in [
        (3_i64, 4_i64, 12, true),
        (3, 4, 20, true),
        (0, 4, 0, true),
        (3, 4, 8, false),
    ] {
        let data = Data::default()
            .scalar("n", n)
            .scalar("m", m)
            .array("x", &vec![1.5; (n * m) as usize])
            .array("a", &(0..length).map(f64::from).collect::<Vec<_>>());
        let expected = interpreted(parsed.kernel(), &data, ForallOrder::Forward);
        assert_eq!(expected.is_ok(), is_right);
        let found = compiled(&scheduled.clone().threads(2), &data);
        agree(script, &found, &expected, is_close);
    }
}
