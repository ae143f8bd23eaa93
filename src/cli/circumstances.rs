//! What ran, and why so, in words.

use crate::cli::report::{mode_name, predicted};
use std::time::Duration;
use strew::{Body, Gathered, Mode, Record, Report, Sample};

/// What a call did; `compile` is the time from source text to callable code.
pub(crate) fn explanation(report: &Report, compile: Duration) -> String {
    let schedule = if report.schedule.is_empty() {
        "none".to_owned()
    } else {
        report.schedule.join("\n          ")
    };
    let head = [("kernel", report.kernel.clone()), ("schedule", schedule)];
    let lines = head.into_iter().chain(circumstances(report, compile));
    let lines: Vec<_> = lines.map(|(what, text)| in_columns(what, &text)).collect();
    lines.join("\n")
}

/// `what` and `text` beside each other.
pub(crate) fn in_columns(what: &str, text: &str) -> String {
    format!("{what:<10}{text}")
}

/// What was seen, expected and taken, and how long it took, each with a word for it.
pub(crate) fn circumstances(report: &Report, compile: Duration) -> Vec<(&'static str, String)> {
    let record = &report.record;
    let mut lines = Vec::new();
    lines.extend(
        record
            .sample
            .map(|it| ("saw", seen(&it) + &read(record.gathered))),
    );
    lines.extend(expected(record).map(|it| ("expected", it)));
    lines.push(("strategy", strategy(report)));
    lines.push(("mode", mode(report)));
    let compiled = format!("in {:.3} ms", compile.as_secs_f64() * 1e3);
    lines.push(("compiled", compiled + &made_for(&report.sizes)));
    lines.push(("ran", ran(record)));
    if record.skipped > 0 {
        let skipped = format!("{} statements with an index out of range", record.skipped);
        lines.push(("skipped", skipped));
    }
    lines
}

/// What was seen of the keys.
fn seen(sample: &Sample) -> String {
    let skewed = if sample.is_skewed {
        ", some far more often than others"
    } else {
        ""
    };
    format!(
        "{} updates: {:.0} % go to the element of the one before, {:.1} % unforeseen to another, {:.2} cache lines each, {:.1} % leap to others, within {} elements in one place, to {} in all{skewed}",
        sample.updates,
        sample.repeated * 100.0,
        sample.unforeseen * 100.0,
        sample.scattered,
        sample.leaps * 100.0,
        sample.span,
        sample.elements,
    )
}

/// What was seen of keys by which the loop reads.
fn read(gathered: Gathered) -> String {
    match gathered.waits {
        0 => String::new(),
        waits => format!(
            "; what is read by keys waits for {waits} cache lines, {} bytes are read anywhere",
            gathered.bytes
        ),
    }
}

/// The sizes that the code is for, if it is for these alone.
fn made_for(sizes: &[(String, i64)]) -> String {
    let sizes: Vec<_> = sizes
        .iter()
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    match sizes.is_empty() {
        true => String::new(),
        false => format!(", and again for {}", sizes.join(", ")),
    }
}

/// What each strategy was expected to take, the cheapest first, if that was thought about.
fn expected(record: &Record) -> Option<String> {
    let mut costs: Vec<_> = predicted(record.costs?).into_iter().collect();
    costs.sort_by_key(|(_, nanoseconds)| *nanoseconds);
    let costs = costs.iter();
    let costs: Vec<_> = costs
        .map(|(strategy, nanoseconds)| format!("{strategy} {:.3} ms", *nanoseconds as f64 / 1e6))
        .collect();
    Some(costs.join(", "))
}

fn strategy(report: &Report) -> String {
    let body = match report.record.body {
        Body::RunLength => ", repeated elements in a register",
        Body::Partials => ", repeated elements in registers by turns",
        Body::Tables => ", several tables by turns",
        Body::Auto | Body::Direct => "",
    };
    format!("{}{body}: {}", report.record.strategy, report.why())
}

fn mode(report: &Report) -> String {
    let itself = match (report.mode, report.record.strategy) {
        (Mode::Exact, "serial") => " by running the loop as it is written",
        _ => "",
    };
    let threads = match report.record.threads {
        1 => "1 thread".to_owned(),
        count => format!("{count} threads"),
    };
    format!("{}{itself}, {threads}", mode_name(report.mode))
}

fn ran(record: &Record) -> String {
    let seconds = record.total.as_secs_f64().max(1e-9);
    format!(
        "in {:.3} ms, {} updates, {:.1} million updates/s",
        record.total.as_secs_f64() * 1e3,
        record.updates,
        record.updates as f64 / seconds / 1e6,
    )
}
