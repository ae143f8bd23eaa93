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
