//! Values that are gathered from far: loops that sort their updates ask for them ahead. Results are
//! those of plain loops, and what is out of range is found as ever.

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

/// Keys in fields of records lie apart from each other: what is looked at of them is nothing
/// beyond.
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

/// So many iterations that keys are looked at.
const MANY: usize = 1_300_000;

/// The kernel of an example, which has the name of its file.
fn example(name: &str) -> Kernel {
    let path = format!("{}/examples/kernels/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let source = std::fs::read_to_string(path).expect("an example");
    let program = Compiler::new().compile("k.c", &source).expect("a program");
    program.kernel(name).expect("a kernel")
}

/// The outputs that `run` leaves have the bits of `expected` in mode `exact`, and in mode `stable`
/// the same at any number of threads, near these.
fn gives<T>(expected: &[T], kernel: &Kernel, run: impl Fn(&Kernel) -> Vec<T>)
where
    T: Copy + PartialEq + Into<f64> + std::fmt::Debug,
{
    for threads in [1, 2] {
        let exact = kernel.clone().mode(strew::Mode::Exact).threads(threads);
        assert!(run(&exact) == expected, "{threads} threads");
    }
    let stable = [1, 2, 3].map(|it| run(&kernel.clone().threads(it)));
    assert!(stable[0] == stable[1] && stable[0] == stable[2]);
    for (found, wanted) in stable[0].iter().zip(expected) {
        let (found, wanted): (f64, f64) = ((*found).into(), (*wanted).into());
        assert!(
            (found - wanted).abs() <= 1e-3 * (1.0 + wanted.abs()),
            "{found} {wanted}"
        );
    }
}

#[test]
fn rows_that_are_read_by_keys() {
    let (m, d) = (20_000, 12);
    let n = MANY / d;
    let (row, col) = (keys(n, m, 1), keys(n, m, 2));
    let floats = |count| {
        values(count)
            .into_iter()
            .map(|it| it as f32)
            .collect::<Vec<_>>()
    };
    let (val, x) = (floats(n), floats(m * d));
    let mut expected = vec![0.0_f32; m * d];
    for ((row, col), val) in row.iter().zip(&col).zip(&val) {
        for j in 0..d {
            expected[*row as usize * d + j] += val * x[*col as usize * d + j];
        }
    }
    gives(&expected, &example("sparse_times_rows"), |kernel| {
        let mut y = vec![0.0_f32; m * d];
        let call = kernel.bind().scalar("d", d as i32).scalar("m", m as i32);
        let call = call
            .array("row", &row)
            .array("col", &col)
            .array("val", &val);
        call.array("x", &x)
            .array_mut("y", &mut y)
            .run()
            .expect("a run");
        y
    });
}

#[test]
fn elements_that_are_read_by_keys() {
    let (row, col, val) = (keys(MANY, FAR, 1), keys(MANY, FAR, 2), values(MANY));
    let x = values(FAR);
    let mut expected = vec![0.0; FAR];
    for ((row, col), val) in row.iter().zip(&col).zip(&val) {
        expected[*row as usize] += val * x[*col as usize];
    }
    gives(&expected, &example("sparse_product"), |kernel| {
        let mut y = vec![0.0; FAR];
        let call = kernel.bind().array("row", &row).array("col", &col);
        let call = call.array("val", &val).array("x", &x);
        call.array_mut("y", &mut y).run().expect("a run");
        y
    });
}

#[test]
fn several_elements_that_are_read_by_several_keys() {
    let n = MANY / 4;
    let (node, factor, u) = (keys(n * 4, FAR, 3), values(n), values(FAR));
    let mut expected = vec![0.0; FAR];
    for (nodes, factor) in node.chunks_exact(4).zip(&factor) {
        for a in 0..4 {
            let each = (0..4).map(|b| (if a == b { 3.0 } else { -1.0 }) * u[nodes[b] as usize]);
            let sum = each.fold(0.0, |sum, it| sum + it);
            expected[nodes[a] as usize] += factor * sum;
        }
    }
    gives(&expected, &example("stiffness"), |kernel| {
        let mut force = vec![0.0; FAR];
        let call = kernel
            .bind()
            .array("node", &node)
            .array("factor", &factor)
            .array("u", &u);
        call.array_mut("force", &mut force).run().expect("a run");
        force
    });
}

#[test]
fn several_outputs_of_what_is_read_by_keys() {
    let n = MANY / 6;
    let (one, other) = (keys(n, FAR, 3), keys(n, FAR, 4));
    let [x, y, z] = [5, 6, 7].map(|seed| {
        let numbers = keys(FAR, 1000, seed).into_iter();
        numbers.map(|it| f64::from(it) / 100.0).collect::<Vec<_>>()
    });
    let mut expected = [vec![0.0; FAR], vec![0.0; FAR], vec![0.0; FAR]];
    for (a, b) in one.iter().zip(&other) {
        let (a, b) = (*a as usize, *b as usize);
        let d = [&x, &y, &z].map(|it| it[a] - it[b]);
        let r = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.1;
        let f = 1.0 / (r * r);
        for (force, d) in expected.iter_mut().zip(d) {
            force[a] += f * d;
        }
        for (force, d) in expected.iter_mut().zip(d) {
            force[b] -= f * d;
        }
    }
    gives(&expected.concat(), &example("pair_forces"), |kernel| {
        let mut forces = [vec![0.0; FAR], vec![0.0; FAR], vec![0.0; FAR]];
        let [fx, fy, fz] = &mut forces;
        let call = kernel.bind().array("one", &one).array("other", &other);
        let call = call.array("x", &x).array("y", &y).array("z", &z);
        let call = call
            .array_mut("fx", fx)
            .array_mut("fy", fy)
            .array_mut("fz", fz);
        call.run().expect("a run");
        forces.concat()
    });
}
