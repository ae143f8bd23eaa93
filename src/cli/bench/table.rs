//! What was measured, for people and for spreadsheets.

use super::measure::Row;
use std::fmt::Write as _;
use strew::ir::spelling::counted;

/// How long the longest bar is, in characters.
const BAR: f64 = 30.0;

/// A table with a bar for each time.
pub(crate) fn text(kernel: &str, rows: &[Row]) -> String {
    let mut text = String::new();
    for rows in rows.chunk_by(|left, right| left.at == right.at) {
        let Some(first) = rows.first() else {
            continue;
        };
        let at = first
            .at
            .as_ref()
            .map_or_else(String::new, |it| format!(", {it}"));
        // Writing to a `String` does not fail.
        let _ = writeln!(
            text,
            "{kernel}{at}: {} updates, {} bytes of outputs, {}",
            first.updates,
            first.output_bytes,
            counted(first.rounds, "round")
        );
        let _ = writeln!(
            text,
            "{:<10} {:<7} {:>7} {:>12} {:>21} {:>10} {:>8}  bar: time",
            "variant", "mode", "threads", "median", "quarters", "ns/update", "speedup"
        );
        let slowest = rows.iter().map(|it| it.median_seconds).fold(0.0, f64::max);
        rows.iter().for_each(|row| text += &line(row, slowest));
    }
    text
}

fn line(row: &Row, slowest: f64) -> String {
    let milliseconds = |seconds: f64| format!("{:.3}", seconds * 1e3);
    let each = row
        .ns_per_update
        .map_or_else(|| "-".to_owned(), |it| format!("{it:.3}"));
    format!(
        "{:<10} {:<7} {:>7} {:>9} ms {:>21} {:>10} {:>7.2}x  {}\n",
        row.variant,
        row.mode.unwrap_or("-"),
        row.threads,
        milliseconds(row.median_seconds),
        format!("{} to {}", milliseconds(row.low), milliseconds(row.high)),
        each,
        row.speedup_over_serial,
        bar(row.median_seconds / slowest),
    )
}

/// A bar of a share of the longest, in eighths of characters.
fn bar(share: f64) -> String {
    let eighths = (share.clamp(0.0, 1.0) * BAR * 8.0).round() as usize;
    let rest = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let rest = rest.get(eighths % 8).copied().unwrap_or_default();
    let bar = "█".repeat(eighths / 8) + rest;
    if bar.is_empty() {
        "▏".to_owned()
    } else {
        bar
    }
}

/// The rows with the names of `--json`.
pub(crate) fn csv(rows: &[Row]) -> String {
    let mut text = "variant,strategy,mode,threads,median_seconds,low,high,ns_per_update,private_bytes,speedup_over_serial,at,updates,output_bytes,rounds\n".to_owned();
    for row in rows {
        let optional = |it: Option<String>| it.unwrap_or_default();
        let cells = [
            row.variant.clone(),
            optional(row.strategy.clone()),
            optional(row.mode.map(str::to_owned)),
            row.threads.to_string(),
            format!("{:e}", row.median_seconds),
            format!("{:e}", row.low),
            format!("{:e}", row.high),
            optional(row.ns_per_update.map(|it| it.to_string())),
            optional(row.private_bytes.map(|it| it.to_string())),
            row.speedup_over_serial.to_string(),
            optional(row.at.clone()),
            row.updates.to_string(),
            row.output_bytes.to_string(),
            row.rounds.to_string(),
        ];
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_have_eighths_and_are_never_nothing() {
        assert_eq!(bar(1.0), "█".repeat(30));
        assert_eq!(bar(0.5), "█".repeat(15));
        assert_eq!(bar(0.02), "▋");
        assert_eq!(bar(0.0), "▏");
    }
}
