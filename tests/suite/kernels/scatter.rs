//! One key, one update.

use super::{Case, SIZES, check, kernel, length, over_keys};
use crate::data::Data;

#[test]
fn k01_hist_bin() {
    let (low, inverse) = (-1.5_f32, 3.7_f32);
    let cases = over_keys(&SIZES, |random, keys, m| {
        // The middle of a bin; some lie outside of all bins.
        let sample = |key: &i32| low + (*key as f32 * 1.1 - 0.05 * m as f32 + 0.5) / inverse;
        let samples: Vec<f32> = keys.iter().map(sample).collect();
        let bins: Vec<u32> = (0..m).map(|_| random.next() as u32).collect();
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .scalar("lo", low)
            .scalar("inv", inverse)
            .array("x", &samples)
            .array("h", &bins)
    });
    // With no bins at all the clamp leads to the bin before the first.
    let cases: Vec<Case> = cases
        .into_iter()
        .filter(|(_, data)| data.arrays["x"].is_empty() || !data.arrays["h"].is_empty())
        .collect();
    check(kernel!("k01_hist_bin"), "k01_hist_bin", &cases);
}

#[test]
fn k02_scatter_add() {
    let mut cases = over_keys(&SIZES, |random, keys, m| {
        Data::default()
            .scalar("n", length::<_, i64>(keys))
            .scalar("m", m)
            .array("idx", keys)
            .array("w", &random.floats(keys.len(), -1.0, 1.0))
            .array("out", &random.floats(m as usize, -1.0, 1.0))
    });
    cases.push(special_weights());
    check(kernel!("k02_scatter_add"), "k02_scatter_add", &cases);
}

/// Zeros of both signs, which no identity may turn, and sums that leave the range.
fn special_weights() -> Case {
    let inf = f64::INFINITY;
    let data = Data::default()
        .scalar("n", 9_i64)
        .scalar("m", 6_i32)
        .array("idx", &[0, 1, 2, 2, 3, 3, 4, 4, 4])
        .array(
            "w",
            &[
                -0.0,
                0.0,
                inf,
                -inf,
                f64::MAX,
                f64::MAX,
                5e-324,
                -5e-324,
                f64::NAN,
            ],
        )
        .array("out", &[-0.0, -0.0, 0.0, 0.0, 1.0, -0.0]);
    ("special weights".to_owned(), data)
}

#[test]
fn k04_segment_argmax() {
    let mut cases = over_keys(&SIZES, |random, keys, m| {
        // Few different values, so that there are ties.
        let values: Vec<f32> = keys.iter().map(|_| random.below(20) as f32 - 9.0).collect();
        segments(keys, &values, &vec![f32::NEG_INFINITY; m as usize])
    });
    let (nan, low) = (f32::NAN, f32::NEG_INFINITY);
    let special = [
        nan,
        low,
        2.0,
        nan,
        2.0,
        -0.0,
        0.0,
        low,
        nan,
        1.0,
        f32::INFINITY,
    ];
    let keys = [0, 1, 2, 2, 2, 3, 3, 4, 5, 5, 6];
    for (what, best) in [
        ("nothing", low),
        ("NaN", nan),
        ("a tie", 2.0),
        ("zero", -0.0),
    ] {
        let data = segments(&keys, &special, &[best; 8]);
        cases.push((format!("special values over {what}"), data));
    }
    check(kernel!("k04_segment_argmax"), "k04_segment_argmax", &cases);
}

fn segments(keys: &[i32], values: &[f32], best: &[f32]) -> Data {
    Data::default()
        .scalar("n", length::<_, i64>(keys))
        .scalar("m", length::<_, i32>(best))
        .array("seg", keys)
        .array("x", values)
        .array("best", best)
        .array("arg", &vec![-1_i64; best.len()])
}
