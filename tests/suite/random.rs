//! Numbers that look random and are the same in every run.

use strew::ir::{Type, Value};

/// SplitMix64.
#[derive(Debug)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A value of type `ty` in `low..high`.
    pub(crate) fn value(&mut self, ty: Type, low: i64, high: i64) -> Value {
        let span = i128::from(high) - i128::from(low);
        let offset = (i128::from(self.next()) * span) >> 64;
        if ty.is_float() {
            // Sixteenths, so that sums have something to round.
            let fraction = (self.next() >> 60) as f64 / 16.0;
            Value::float(ty, (i128::from(low) + offset) as f64 + fraction / 3.0)
        } else {
            Value::integer(ty, i128::from(low) + offset)
        }
    }
}

/// What `check` says of each seed, of `count` or as many as the environment has in a variable, from
/// `STREW_RANDOM_SEED` on. If it panics for some, these are shown with the `text` that each is
/// about.
#[track_caller]
#[expect(clippy::print_stderr, reason = "a failure tells what it was about")]
pub(crate) fn each_seed<T>(
    (of, count): (&str, u64),
    check: impl Fn(u64) -> T + std::panic::RefUnwindSafe,
    text: impl Fn(u64) -> String,
) -> Vec<T> {
    let setting = |name: &str| std::env::var(name).ok().and_then(|it| it.parse().ok());
    let first: u64 = setting("STREW_RANDOM_SEED").unwrap_or(0);
    let count = setting(of).unwrap_or(count);
    let mut said = Vec::new();
    let mut failed = Vec::new();
    for seed in first..first + count {
        match std::panic::catch_unwind(|| check(seed)) {
            Ok(done) => said.push(done),
            Err(_) => failed.push(seed),
        }
    }
    for seed in &failed {
        eprintln!("seed {seed}:\n{}", text(*seed));
    }
    assert!(failed.is_empty(), "{} of {count} fail", failed.len());
    said
}
