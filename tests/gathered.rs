//! Values that are gathered from far: loops that sort their updates ask for them ahead. Results are those of plain loops, and what is out
//! of range is found as ever.

use strew::{Compiler, Error, Kernel};

const SOURCE: &str = "
void flux(int64_t n, int32_t m, const int32_t a[n], const int32_t b[n], const double u[m], double out[m]) {
  for (int64_t e = 0; e < n; e++) {
    double f = u[a[e]] - u[b[e]];
    out[a[e]] -= f;
    out[b[e]] += f;
  }
}
void corners(int64_t n, int32_t m, const int32_t a[n][3], const double xy[m][2], double out[m]) {
  for (int64_t e = 0; e < n; e++)
    for (int32_t i = 0; i < 3; i++) {
      int32_t j = a[e][(i + 1) % 3];
      out[a[e][i]] += xy[j][0] * 0.5 - xy[j][1];
    }
}
void lists(int64_t n, int64_t l, int32_t m, const int64_t row[n + 1], const int32_t a[l], const double u[m], double out[m]) {
  for (int64_t e = 0; e < n; e++)
    for (int64_t k = row[e]; k < row[e + 1]; k++)
      out[a[k]] += u[a[row[e]]] + u[a[k]];
}";

/// Farther than the second cache: asking pays.
const FAR: usize = 300_000;

fn keys(count: usize, below: usize, seed: u64) -> Vec<i32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize % below) as i32
    };
    (0..count).map(|_| next()).collect()
}

fn values(count: usize) -> Vec<f64> {
    (0..count).map(|it| 1.0 / (it as f64 + 3.0)).collect()
}

/// Calls `check` with the kernel `name` by each strategy that sorts, with so many iterations.
fn by_sorting(name: &str, check: impl Fn(&Kernel, usize, usize)) {
    for strategy in ["binned", "planned"] {
        let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
        let program = compiler.compile("k.c", SOURCE).expect("a program");
        let kernel = program.kernel(name).expect("a kernel");
        for (threads, size) in [(1, FAR), (2, FAR), (3, 100)] {
            let kernel = kernel.clone().threads(threads);
            for count in [0, 1, 15, 16, 17, 18, 33, 100_001] {
                check(&kernel, count, size);
            }
        }
    }
}

#[test]
fn by_one_key_each() {
    by_sorting("flux", |kernel, count, size| {
        let (a, b) = (keys(count, size, 1), keys(count, size, 2));
        let u = values(size);
        let (mut expected, mut found) = (vec![0.5; size], vec![0.5; size]);
        for (a, b) in a.iter().zip(&b) {
            let f = u[*a as usize] - u[*b as usize];
            expected[*a as usize] -= f;
            expected[*b as usize] += f;
        }
        let call = kernel.bind().array("a", &a).array("b", &b);
        let call = call.array("u", &u).array_mut("out", &mut found);
        call.run().expect("a run");
        assert!(found == expected, "{count} to {size}");
    });
}

#[test]
fn rows_by_keys_of_short_loops() {
    by_sorting("corners", |kernel, count, size| {
        let a = keys(3 * count, size, 3);
        let xy = values(2 * size);
        let (mut expected, mut found) = (vec![0.5; size], vec![0.5; size]);
        for corners in a.chunks(3) {
            for i in 0..3 {
                let j = corners[(i + 1) % 3] as usize;
                expected[corners[i] as usize] += xy[2 * j] * 0.5 - xy[2 * j + 1];
            }
        }
        let call = kernel.bind().array("a", &a).array("xy", &xy);
        let call = call.scalar("n", count as i64).scalar("m", size as i32);
        call.array_mut("out", &mut found).run().expect("a run");
        assert!(found == expected, "{count} to {size}");
    });
}

#[test]
fn keys_of_lists() {
    by_sorting("lists", |kernel, count, size| {
        let row: Vec<i64> = (0..=count as i64).map(|it| it * 3).collect();
        let a = keys(3 * count, size, 4);
        let u = values(size);
        let (mut expected, mut found) = (vec![0.5; size], vec![0.5; size]);
        for list in a.chunks(3) {
            for key in list {
                expected[*key as usize] += u[list[0] as usize] + u[*key as usize];
            }
        }
        let call = kernel.bind().array("row", &row).array("a", &a);
        let call = call.array("u", &u).array_mut("out", &mut found);
        call.run().expect("a run");
        assert!(found == expected, "{count} to {size}");
    });
}

#[test]
fn a_key_out_of_range_is_a_fault() {
    by_sorting("flux", |kernel, count, size| {
        let (a, mut b) = (keys(count, size, 1), keys(count, size, 2));
        let u = values(size);
        let Some(last) = b.last_mut() else {
            return;
        };
        *last = i32::MAX;
        let mut found = vec![0.5; size];
        let call = kernel.bind().array("a", &a).array("b", &b);
        let failure = call.array("u", &u).array_mut("out", &mut found).run();
        assert!(matches!(failure, Err(Error::Fault(_))), "{failure:?}");
        assert!(found.iter().all(|it| *it == 0.5), "{count} to {size}");
    });
}

strew::record! {
    /// Twelve bytes, and no key of eight in them.
    struct Link {
        weight: f32,
        spare: i32,
        node: i32,
    }
}

/// Keys in fields of records lie apart from each other: what is looked at of them is nothing beyond.
#[test]
fn keys_in_records_are_no_array_of_keys() {
    const LINKS: &str = "
struct link { float weight; int spare; int node; };
void links(int32_t n, int32_t m, int32_t k, const struct link l[n], const int32_t q[n], const double x[m], double y[k]) {
  for (int32_t i = 0; i < n; i++) y[q[i]] += l[i].weight * x[l[i].node];
}";
    let (n, k) = (1_300_000, 50);
    let program = Compiler::new().compile("k.c", LINKS).expect("a program");
    let nodes = keys(n, FAR, 5).into_iter();
    let links: Vec<_> = nodes
        .map(|node| Link {
            weight: 0.5,
            spare: -1,
            node,
        })
        .collect();
    let (q, x) = (keys(n, k, 6), values(FAR));
    let mut expected = vec![0.0; k];
    for (link, to) in links.iter().zip(&q) {
        expected[*to as usize] += f64::from(link.weight) * x[link.node as usize];
    }
    let mut y = vec![0.0; k];
    let call = program
        .kernel("links")
        .expect("a kernel")
        .mode(strew::Mode::Exact)
        .bind();
    let call = call.array("l", &links).array("q", &q).array("x", &x);
    call.array_mut("y", &mut y).run().expect("a run");
    assert_eq!(y, expected);
}
