//! One key, a row of updates.

use super::{check, kernel, length, over_keys};
use crate::data::Data;

/// Lengths of rows.
const WIDTHS: [i32; 4] = [0, 1, 3, 8];

#[test]
fn k03_segment_sum() {
    for d in WIDTHS {
        let cases = over_keys(|random, keys, m| {
            Data::default()
                .scalar("n", length::<_, i64>(keys))
                .scalar("m", m)
                .scalar("d", d)
                .array("seg", keys)
                .array("x", &random.singles(keys.len() * d as usize, -1.0, 1.0))
                .array("out", &random.singles((m * d) as usize, -1.0, 1.0))
        });
        check(kernel!("k03_segment_sum"), "k03_segment_sum", &cases);
    }
}
