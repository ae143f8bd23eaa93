//! One table, and what follows from it.

use crate::kernels::LEVELS;
use crate::measure::Measurement;
use crate::statistics::{Spread, geometric_mean};
use crate::variant::Variant;
use std::fmt::Write as _;

/// What a cell gave, for whoever waits.
pub(crate) fn line(measurement: &Measurement) -> String {
    let mut text = format!("{:<28}", measurement.cell.name());
    for variant in Variant::ALL {
        let speedup = measurement.speedup(Variant::CC, variant);
        let median = speedup.map_or("–".to_owned(), |it| format!("{:.2}", it.median));
        // Writing to a string does not fail.
        let _ = write!(text, " {} {median}", variant.name());
    }
    text
}

/// As Markdown: all cells, how much faster than `cc` each variant is on average, and what
/// products of matrices reach.
pub(crate) fn report(measurements: &[Measurement]) -> String {
    let names = Variant::ALL.map(|it| it.name()).join(" / cc | ");
    let columns = "--:|".repeat(Variant::ALL.len() + 1);
    let mut text = format!("| cell | cc µs | {names} / cc |\n|---|{columns}\n");
    for it in measurements {
        let time = it.time(Variant::CC).map(|time| time / 1e3);
        let speedups = Variant::ALL.map(|variant| number(speedup(it, variant)));
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            it.cell.name(),
            number(time),
            speedups.join(" | ")
        );
    }
    for level in LEVELS {
        let inside = measurements.iter().filter(|it| it.cell.level() == level);
        summary(&mut text, level, &inside.collect::<Vec<_>>());
    }
    summary(&mut text, "all", &measurements.iter().collect::<Vec<_>>());
    products(&mut text, measurements);
    text
}

/// For each variant the mean, the mean without the three best cells, the worst, and the median.
fn summary(text: &mut String, group: &str, measurements: &[&Measurement]) {
    let _ = writeln!(
        text,
        "\n| {group} | cells | geometric mean | without the best three | median | worst | in |\n|---|--:|--:|--:|--:|--:|---|"
    );
    for variant in Variant::ALL {
        let found = measurements.iter();
        let found = found.filter_map(|it| Some((speedup(it, variant)?, it.cell.name())));
        let mut found: Vec<_> = found.collect();
        found.sort_by(|(one, _), (other, _)| one.total_cmp(other));
        let numbers: Vec<f64> = found.iter().map(|(it, _)| *it).collect();
        let but_three = numbers.len().saturating_sub(3);
        let median = Spread::of(numbers.iter().copied()).map(|it| it.median);
        if let Some((worst, cell)) = found.first() {
            let _ = writeln!(
                text,
                "| {} / cc | {} | {} | {} | {} | {worst:.2} | {cell} |",
                variant.name(),
                numbers.len(),
                number(geometric_mean(&numbers)),
                number(geometric_mean(&numbers[..but_three])),
                number(median),
            );
        }
    }
}

/// What products of matrices reach of the peak.
fn products(text: &mut String, measurements: &[Measurement]) {
    for it in measurements {
        if let Some(share) = it.share_of_peak() {
            let _ = writeln!(
                text,
                "\n{}: {:.2} ({:.2} to {:.2}) of what one thread can multiply and add in vectors of 128 bits",
                it.cell.name(),
                share.median,
                share.low,
                share.high
            );
        }
    }
}

fn speedup(measurement: &Measurement, variant: Variant) -> Option<f64> {
    measurement
        .speedup(Variant::CC, variant)
        .map(|it| it.median)
}

fn number(number: Option<f64>) -> String {
    number.map_or("–".to_owned(), |it| format!("{it:.2}"))
}
