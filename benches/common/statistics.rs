//! Medians and their spread.

#[path = "../../src/cli/statistics.rs"]
mod spread;

pub(crate) use spread::Spread;

/// `None` of nothing.
pub(crate) fn geometric_mean(numbers: &[f64]) -> Option<f64> {
    let sum: f64 = numbers.iter().map(|it| it.ln()).sum();
    (!numbers.is_empty()).then(|| (sum / numbers.len() as f64).exp())
}
