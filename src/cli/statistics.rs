//! Medians and their spread. The benches have this file, too.

/// The middle of some numbers, and the quarters below and above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Spread {
    pub(crate) low: f64,
    pub(crate) median: f64,
    pub(crate) high: f64,
}

impl Spread {
    /// `None` of nothing.
    pub(crate) fn of(numbers: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut numbers: Vec<f64> = numbers.into_iter().collect();
        numbers.sort_by(f64::total_cmp);
        let at = |share: f64| {
            let place = (numbers.len().checked_sub(1)?) as f64 * share;
            let (below, above) = (
                numbers.get(place.floor() as usize)?,
                numbers.get(place.ceil() as usize)?,
            );
            Some(below + (above - below) * place.fract())
        };
        Some(Self {
            low: at(0.25)?,
            median: at(0.5)?,
            high: at(0.75)?,
        })
    }
}
