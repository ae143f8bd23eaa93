//! Rows that keys pick, as those of the right factor of a product of sparse matrices: where all
//! keys are in range nothing is copied before the loop, and where one is not, nothing is left that
//! the loop did.

use strew::{ArrayElement, Compiler, Kernel};

/// The product of two sparse matrices, of which the rows of the right one are walked by `walk`.
fn product(walk: &str) -> Kernel {
    product_by("int", walk)
}

/// The same with keys of type `key`.
fn product_by(key: &str, walk: &str) -> Kernel {
    let source = format!(
        "#include <stdint.h>
         void product(int n, int inner, int m, long ea, long eb, const long ra[n + 1], const {key} ca[ea], const double va[ea],
                      const int rb[inner + 1], const short cb[eb], const double vb[eb], double c[n][m]) {{
           for (int i = 0; i < n; i++)
             for (long k = ra[i]; k < ra[i + 1]; k++) {{ {walk} }}
         }}"
    );
    let program = Compiler::new().threads(2).compile("product.c", &source);
    let kernel = program.expect("a program").kernel("product");
    kernel.expect("a kernel")
}

const WALKS: [&str; 6] = [
    "for (int l = rb[ca[k]]; l < rb[ca[k] + 1]; l++) c[i][cb[l]] += va[k] * vb[l];",
    "int row = ca[k]; for (int l = rb[row]; l < rb[row + 1]; l++) c[i][cb[l]] += va[k] * vb[l];",
    "long row = ca[k]; for (long l = rb[row]; l < rb[row + 1]; l++) { int j = cb[l]; c[i][j] += va[k] * vb[l]; }",
    "int row = ca[k], first = rb[row], behind = rb[row + 1]; for (int l = first; l < behind; l++) c[i][cb[l]] += va[k] * vb[l];",
    // What is added and taken away again is not looked through.
    "for (int l = rb[ca[k] - 1 + 1]; l < rb[1 + ca[k]]; l++) c[i][cb[l] + 1 - 1] += va[k] * vb[l];",
    "int row = ca[k] + 1; for (int l = rb[row - 1]; l < rb[row]; l++) c[i][cb[l]] += va[k] * vb[l];",
];

struct Factors {
    ra: Vec<i64>,
    ca: Vec<i32>,
    rb: Vec<i32>,
    cb: Vec<i16>,
}

const N: usize = 300;
const INNER: usize = 200;
const M: usize = 400;

/// What each element of the product is before.
const START: f64 = 0.5;

impl Factors {
    /// Four entries in each row, and four more behind them that no row has.
    fn new() -> Self {
        let rows = |count: usize| (0..=count).map(|it| it * 4);
        let ends = |count: usize, below: usize, by: usize| {
            let entries = 0..count * 4 + 4;
            entries.map(move |it| (it * by) % below)
        };
        Self {
            ra: rows(N).map(|it| it as i64).collect(),
            ca: ends(N, INNER, 7919).map(|it| it as i32).collect(),
            rb: rows(INNER).map(|it| it as i32).collect(),
            cb: ends(INNER, M, 104_729).map(|it| it as i16).collect(),
        }
    }

    /// The product with entries of 1 and 2, added to [`START`]; `None` where an index is out of
    /// range.
    fn product(&self) -> Option<Vec<f64>> {
        let mut c = vec![START; N * M];
        for i in 0..N {
            for k in self.ra[i]..self.ra[i + 1] {
                let row = usize::try_from(*self.ca.get(usize::try_from(k).ok()?)?).ok()?;
                for l in *self.rb.get(row)?..*self.rb.get(row + 1)? {
                    let column = usize::try_from(*self.cb.get(usize::try_from(l).ok()?)?).ok()?;
                    *c[i * M..][..M].get_mut(column)? += 2.0;
                }
            }
        }
        Some(c)
    }

    /// Runs `kernel` and compares; how many bytes it had for itself.
    fn check(&self, kernel: &Kernel, what: &str) -> u64 {
        self.check_by(kernel, &self.ca, what)
    }

    /// The same with keys that are the same numbers, or as wrong.
    fn check_by<K: ArrayElement>(&self, kernel: &Kernel, keys: &[K], what: &str) -> u64 {
        let (va, vb) = (vec![1.0; self.ca.len()], vec![2.0; self.cb.len()]);
        let mut c = vec![START; N * M];
        let call = kernel
            .bind()
            .array("ra", &self.ra)
            .array("ca", keys)
            .array("rb", &self.rb)
            .array("cb", &self.cb);
        let call = call.array("va", &va).array("vb", &vb);
        let call = call
            .array_mut("c", &mut c)
            .shape("c", &[N as u64, M as u64]);
        let report = call.run_with_report();
        match (self.product(), &report) {
            (Some(expected), Ok(_)) => assert_eq!(c, expected, "{what}"),
            (None, Err(_)) => assert!(c.iter().all(|it| *it == START), "{what}: {report:?}"),
            (expected, _) => panic!("{what}: {report:?} where {:?}", expected.is_some()),
        }
        report.map_or(0, |it| it.record.private_bytes)
    }
}

#[test]
fn nothing_is_copied_where_all_keys_are_in_range() {
    for walk in &WALKS[..4] {
        let copied = Factors::new().check(&product(walk), walk);
        assert_eq!(copied, 0, "{walk}");
    }
}

/// Runs `walk` with keys of type `key`, which `of` makes of numbers, in range and out of it.
fn check_keys<K: ArrayElement>(key: &str, of: fn(i64) -> K, bad: &[i64]) {
    for (walk, row) in [
        ("for (int l = rb[ca[k]]; l < rb[ca[k] + 1]; l++)", ""),
        ("for (int l = rb[row]; l < rb[row + 1]; l++)", "int"),
        ("for (int l = rb[row]; l < rb[row + 1]; l++)", "unsigned"),
        ("for (int l = rb[row]; l < rb[row + 1]; l++)", "int64_t"),
    ] {
        let name = match row {
            "" => String::new(),
            ty => format!("{ty} row = ca[k];"),
        };
        let kernel = product_by(key, &format!("{name} {walk} c[i][cb[l]] += va[k] * vb[l];"));
        let mut factors = Factors::new();
        let keys = |factors: &Factors| -> Vec<K> {
            let keys = factors.ca.iter();
            keys.map(|it| of((*it).into())).collect()
        };
        let what = format!("{key} {name} {walk}");
        let good = keys(&factors);
        assert_eq!(factors.check_by(&kernel, &good, &what), 0, "{what}");
        factors.ca[N * 4 - 1] = -1;
        for bad in bad {
            let mut keys = keys(&Factors::new());
            keys[N * 4 - 1] = of(*bad);
            factors.check_by(&kernel, &keys, &format!("{what}: {bad}"));
        }
    }
}

#[test]
fn keys_may_be_of_any_integer_type() {
    check_keys("int16_t", |it| it as i16, &[-1, 200, i16::MAX.into()]);
    check_keys("uint16_t", |it| it as u16, &[200, u16::MAX.into()]);
    check_keys("int64_t", |it| it, &[-1, 200, 1 << 31, i64::MAX]);
    check_keys("uint32_t", |it| it as u32, &[200, 1 << 31]);
    check_keys("uint64_t", |it| it as u64, &[200, 1 << 31, -1]);
}

/// `-1` as an unsigned number, and one more in a wider type, is no row; in the same type it is the
/// first one, as in C.
#[test]
fn keys_that_wrap_are_what_they_are_in_c() {
    for (row, is_bad) in [("uint32_t", false), ("int64_t", true)] {
        let walk = format!(
            "uint32_t key = ca[k]; {row} row = key; row = ({row})(row + 1); for (int l = rb[row]; l < rb[row] + 1; l++) c[i][cb[l]] += va[k] * vb[l];"
        );
        let same = format!(
            "uint32_t key = ca[k]; for (int l = rb[({row})key + 1]; l < rb[({row})key + 1] + 1; l++) c[i][cb[l]] += va[k] * vb[l];"
        );
        for walk in [walk, same] {
            let kernel = product(&walk);
            let mut factors = Factors::new();
            factors.ca.fill(-1);
            let (va, vb) = (vec![1.0; factors.ca.len()], vec![1.0; factors.cb.len()]);
            let mut c = vec![0.0; N * M];
            let call = kernel.bind().array("ra", &factors.ra).array("va", &va);
            let call = call.array("ca", &factors.ca).array("rb", &factors.rb);
            let call = call.array("cb", &factors.cb).array("vb", &vb);
            let call = call
                .array_mut("c", &mut c)
                .shape("c", &[N as u64, M as u64]);
            assert_eq!(call.run().is_err(), is_bad, "{walk}");
            let sum: f64 = c.iter().sum();
            let all = if is_bad { 0.0 } else { N as f64 * 4.0 };
            assert_eq!(sum, all, "{walk}");
        }
    }
}

#[test]
fn a_key_out_of_range_leaves_nothing_changed() {
    let last = (N * 4 - 1, INNER * 4 - 1);
    for walk in WALKS {
        let kernel = product(walk);
        for bad in [-1, INNER as i32 - 1, INNER as i32, i32::MAX, i32::MIN] {
            let mut factors = Factors::new();
            factors.ca[last.0] = bad;
            factors.check(&kernel, &format!("{walk}: row {bad}"));
        }
        for bad in [-1, M as i16 - 1, M as i16, i16::MAX, i16::MIN] {
            let mut factors = Factors::new();
            factors.cb[last.1] = bad;
            factors.check(&kernel, &format!("{walk}: column {bad}"));
        }
        for bad in [INNER as i32 * 4 + 4, INNER as i32 * 4 + 5] {
            let mut factors = Factors::new();
            factors.rb[INNER] = bad;
            factors.check(&kernel, &format!("{walk}: rows up to {bad}"));
        }
    }
}

#[test]
fn a_key_that_nobody_reads_may_be_out_of_range() {
    for walk in WALKS {
        let kernel = product(walk);
        let mut factors = Factors::new();
        factors.ca[N * 4] = i32::MAX;
        factors.cb[INNER * 4] = -1;
        factors.check(&kernel, walk);
    }
}
