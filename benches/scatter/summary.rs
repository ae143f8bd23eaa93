//! Worst, median and mean, of all cells and of the groups that are spoken of together.

use crate::grid::Group;
use crate::measure::Measurement;
use crate::peers::Bandwidth;
use crate::statistics::{Spread, geometric_mean};
use crate::variant::Variant;
use std::fmt::Write as _;

/// What is asked of a cell, as a number that had better be large.
struct Figure {
    name: &'static str,
    of: fn(&Measurement) -> Option<f64>,
}

const FIGURES: [Figure; 8] = [
    Figure {
        name: "stable / cc",
        of: |it| it.speedup(Variant::STABLE).map(|it| it.median),
    },
    Figure {
        name: "fast / cc",
        of: |it| it.speedup(Variant::FAST).map(|it| it.median),
    },
    Figure {
        name: "fast / best peer",
        of: |it| it.ratio(it.best_peer()?, Variant::FAST).map(|it| it.median),
    },
    Figure {
        name: "stable / fast",
        of: |it| it.ratio(Variant::FAST, Variant::STABLE).map(|it| it.median),
    },
    Figure {
        name: "races / cc",
        of: |it| it.speedup(Variant::RACES).map(|it| it.median),
    },
    Figure {
        name: "stable 1 / cc",
        of: |it| it.speedup(Variant::STABLE_1).map(|it| it.median),
    },
    Figure {
        name: "exact / cc",
        of: |it| it.speedup(Variant::EXACT).map(|it| it.median),
    },
    Figure {
        name: "exact 1 / cc",
        of: |it| it.speedup(Variant::EXACT_1).map(|it| it.median),
    },
];

/// Two tables as Markdown: speed-ups by group, and how good the choices are.
pub(crate) fn summary(measurements: &[Measurement], bandwidth: Option<Bandwidth>) -> String {
    let mut text = String::from(
        "| group | cells | figure | worst | in | median | geometric mean |\n|---|--:|---|--:|---|--:|--:|\n",
    );
    for group in Group::ALL {
        let inside = measurements.iter().filter(|it| group.contains(&it.cell));
        let inside: Vec<_> = inside.collect();
        for figure in &FIGURES {
            let found = inside
                .iter()
                .filter_map(|it| Some((it.cell.name, (figure.of)(it)?)));
            let found: Vec<_> = found.collect();
            row(&mut text, group, figure.name, &found);
        }
    }
    for figure in &FIGURES {
        behind(&mut text, measurements, figure);
    }
    choices(&mut text, measurements);
    if let Some(bandwidth) = bandwidth {
        limits(&mut text, measurements, bandwidth);
    }
    text
}

// Writing to a string does not fail.
fn row(text: &mut String, group: Group, figure: &str, found: &[(&str, f64)]) {
    let numbers: Vec<f64> = found.iter().map(|(_, it)| *it).collect();
    let worst = found.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let spread = Spread::of(numbers.iter().copied());
    if let (Some((cell, worst)), Some(spread), Some(mean)) =
        (worst, spread, geometric_mean(&numbers))
    {
        let _ = writeln!(
            text,
            "| {} | {} | {figure} | {worst:.2} | {cell} | {:.2} | {mean:.2} |",
            group.name(),
            numbers.len(),
            spread.median,
        );
    }
}

/// The cells in which a figure is below one by more than chance, worst first.
fn behind(text: &mut String, measurements: &[Measurement], figure: &Figure) {
    const CHANCE: f64 = 0.95;
    let found = measurements.iter();
    let found = found.filter_map(|it| Some((it.cell.name, (figure.of)(it)?)));
    let mut found: Vec<_> = found.filter(|(_, it)| *it < CHANCE).collect();
    found.sort_by(|(_, a), (_, b)| a.total_cmp(b));
    let cells = found.iter().map(|(cell, it)| format!("{cell} {it:.2}"));
    let cells: Vec<_> = cells.collect();
    let (count, name) = (cells.len(), figure.name);
    let _ = writeln!(
        text,
        "\n{name} below {CHANCE} in {count}: {}",
        cells.join(", ")
    );
}

fn choices(text: &mut String, measurements: &[Measurement]) {
    let regrets = measurements.iter();
    let regrets: Vec<_> = regrets
        .filter_map(|it| Some((it.cell.name, it.regret()?)))
        .collect();
    let worst = regrets.iter().max_by(|(_, a), (_, b)| a.total_cmp(b));
    let spread = Spread::of(regrets.iter().map(|(_, it)| *it));
    if let (Some((cell, worst)), Some(spread)) = (worst, spread) {
        let _ = writeln!(
            text,
            "\ntime of the strategy that was found over that of the best: median {:.2}, worst {worst:.2} in {cell}",
            spread.median
        );
    }
}

fn limits(text: &mut String, measurements: &[Measurement], bandwidth: Bandwidth) {
    let shares = measurements.iter();
    let shares: Vec<_> = shares
        .filter_map(|it| Some((it.cell.name, it.share_of_limit(bandwidth)?)))
        .collect();
    let _ = writeln!(
        text,
        "\nmemory on all threads: {:.1} GB/s read, {:.1} GB/s written past the caches",
        bandwidth.read, bandwidth.write
    );
    let worst = shares.iter().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let spread = Spread::of(shares.iter().map(|(_, it)| *it));
    if let (Some((cell, worst)), Some(spread)) = (worst, spread) {
        let _ = writeln!(
            text,
            "share of the bandwidth limit from 64 MiB on: median {:.2}, worst {worst:.2} in {cell}",
            spread.median
        );
    }
}
