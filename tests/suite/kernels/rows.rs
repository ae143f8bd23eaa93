//! One key, a row of updates.

use super::{SIZES, check, kernel, length, over_keys};
use crate::data::Data;

/// Lengths of rows.
const WIDTHS: [i32; 4] = [0, 1, 3, 8];

#[test]
fn k03_segment_sum() {
    for d in WIDTHS {
        let cases = over_keys(&SIZES, |random, keys, m| {
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

/// Numbers of points and centres.
const POINTS: [(usize, i32); 5] = [(0, 3), (1, 1), (3, 2), (150, 1), (150, 12)];

#[test]
fn k11_kmeans() {
    for d in WIDTHS {
        let cases = over_keys(&POINTS, |random, keys, k| {
            let centres = random.singles((k * d) as usize, -1.0, 1.0);
            // Near the centre that the key names, and here and there nowhere: no distance to a NaN
            // is less than any.
            let centre = |key: &i32| &centres[(key * d) as usize..((key + 1) * d) as usize];
            let mut points: Vec<f32> = keys.iter().flat_map(centre).copied().collect();
            for point in &mut points {
                *point += 0.05 * random.fraction() as f32;
            }
            if let Some(last) = points.last_mut() {
                *last = f32::NAN;
            }
            Data::default()
                .scalar("n", length::<_, i64>(keys))
                .scalar("k", k)
                .scalar("d", d)
                .array("x", &points)
                .array("cen", &centres)
                .array("sum", &random.floats((k * d) as usize, -1.0, 1.0))
                .array("cnt", &vec![7_i64; k as usize])
        });
        check(kernel!("k11_kmeans"), "k11_kmeans", &cases);
    }
}
