//! Loops over keys and over rows.

use super::source;
use crate::data::Problem;
use crate::grid::Cell;
use crate::random::Random;

pub(super) fn histogram(
    cell: &Cell,
    random: &mut Random,
    n: usize,
    bytes: usize,
) -> Option<Problem> {
    let m = bytes / 4;
    // Whole numbers of 24 bits, so that every sample is in the middle of no two bins.
    let keys = random.keys(cell.input, n, m)?;
    let samples: Vec<f32> = keys.into_iter().map(|key| key as f32).collect();
    let problem = Problem::new("k01_hist_bin", source!("k01_hist_bin"))
        .int64("n", n)
        .int32("m", m)
        .single("lo", 0.0)
        .single("inv", 1.0)
        .input("x", samples)
        .output("h", vec![0_u32; m]);
    Some(problem)
}

pub(super) fn scatter_add(
    cell: &Cell,
    random: &mut Random,
    n: usize,
    bytes: usize,
) -> Option<Problem> {
    let text = source!("k02_scatter_add");
    let start = |text: &str, m, keys: Vec<i32>| {
        Problem::new("k02_scatter_add", text)
            .int64("n", n)
            .int32("m", m)
            .input("idx", keys)
    };
    let m = bytes / if cell.element == "f64" { 8 } else { 4 };
    let keys = random.keys(cell.input, n, m)?;
    Some(match cell.element {
        "f64" => start(text, m, keys)
            .input("w", random.fractions(n))
            .output("out", vec![0.0_f64; m]),
        "f32" => start(&text.replace("double", "float"), m, keys)
            .input("w", random.singles(n))
            .output("out", vec![0.0_f32; m]),
        "i32" => start(&text.replace("double", "int32_t"), m, keys)
            .input("w", random.uniform(n, 100))
            .output("out", vec![0_i32; m]),
        _ => return None,
    })
}

pub(super) fn segment_sum(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    let d = cell.width;
    let (n, m) = (updates / d, bytes / 4 / d);
    let problem = Problem::new("k03_segment_sum", source!("k03_segment_sum"))
        .int64("n", n)
        .int32("m", m)
        .int32("d", d)
        .input("seg", random.keys(cell.input, n, m)?)
        .input("x", random.singles(n * d))
        .output("out", vec![0.0_f32; m * d]);
    Some(problem)
}

pub(super) fn segment_argmax(
    cell: &Cell,
    random: &mut Random,
    n: usize,
    bytes: usize,
) -> Option<Problem> {
    let m = bytes / 12;
    let problem = Problem::new("k04_segment_argmax", source!("k04_segment_argmax"))
        .int64("n", n)
        .int32("m", m)
        .input("seg", random.keys(cell.input, n, m)?)
        .input("x", random.singles(n))
        .output("best", vec![f32::NEG_INFINITY; m])
        .output("arg", vec![-1_i64; m]);
    Some(problem)
}

/// Points around `k` centres, which are spread in a cube.
pub(super) fn kmeans(
    cell: &Cell,
    random: &mut Random,
    updates: usize,
    bytes: usize,
) -> Option<Problem> {
    /// A point takes this many times `k * d` as long as an update.
    const WORK: usize = 16;
    let d = cell.width;
    let k = bytes / 8 / d;
    let n = (updates * WORK).checked_div(k * d)?;
    let centres = random.singles(k * d);
    let mut points = Vec::with_capacity(n * d);
    for _ in 0..n {
        let centre = random.below(k as i32) as usize * d;
        let centre = centres.get(centre..centre + d)?;
        points.extend(centre.iter().map(|it| it + 0.1 * random.fraction() as f32));
    }
    let problem = Problem::new("k11_kmeans", source!("k11_kmeans"))
        .int64("n", n)
        .int32("k", k)
        .int32("d", d)
        .input("x", points)
        .input("cen", centres)
        .output("sum", vec![0.0_f64; k * d])
        .output("cnt", vec![0_i64; k]);
    Some(problem)
}
