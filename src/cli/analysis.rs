//! `strew explain`: what a kernel accesses, what depends on what, which loops may run in parallel, and what is done about it.

use crate::cli::analysis_report::{AccessReport, DependenceReport, KernelReport, LoopReport};
use crate::cli::args::Explain;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::{load, report};
use serde::Serialize;
use std::fmt::Write as _;
use strew::{Parsed, ParsedKernel};

#[derive(Serialize)]
struct Explained {
    kernels: Vec<KernelReport>,
}

pub(crate) fn explain(flags: &Explain, console: &mut Console) -> Result<(), Failure> {
    let parsed = load::parsed(&flags.kernel.file, console)?;
    let kernels = wanted(flags, &parsed)?;
    let mut reports = Vec::new();
    for kernel in kernels {
        reports.push(KernelReport::of(&parsed, kernel, flags.mode.into())?);
    }
    if flags.json {
        let explained = Explained { kernels: reports };
        return console.data(&report::json(&explained));
    }
    let texts: Vec<String> = reports.iter().map(text).collect();
    console.data(&texts.join("\n"))
}

/// The kernel that is named, or all.
fn wanted<'p>(flags: &Explain, parsed: &'p Parsed) -> Result<Vec<&'p ParsedKernel>, Failure> {
    Ok(match flags.kernel.name {
        Some(_) => vec![load::kernel(parsed, &flags.kernel)?],
        None => parsed.kernels().iter().collect(),
    })
}

/// One kernel for people.
fn text(report: &KernelReport) -> String {
    let mut text = format!("kernel {}\n", report.kernel);
    section(&mut text, "loops", report.loops.iter().map(of_loop));
    section(&mut text, "accesses", report.accesses.iter().map(of_access));
    section(
        &mut text,
        "dependences",
        report.dependences.iter().map(of_dependence),
    );
    section(&mut text, "schedule", report.schedule.iter().cloned());
    text
}

fn section(text: &mut String, title: &str, lines: impl Iterator<Item = String>) {
    let lines: Vec<String> = lines.collect();
    if lines.is_empty() {
        let _ = writeln!(text, "  {title}: none");
        return;
    }
    let _ = writeln!(text, "  {title}:");
    for line in lines {
        let _ = writeln!(text, "    {line}");
    }
}

fn of_loop(report: &LoopReport) -> String {
    let indent = "  ".repeat(report.depth);
    let name = report.name.as_deref().unwrap_or("while");
    format!("{indent}{name} (line {}): {}", report.line, report.reason)
}

fn of_access(report: &AccessReport) -> String {
    let AccessReport {
        array,
        line,
        kind,
        map,
        runtime,
    } = report;
    let mut text = format!("line {line}: {kind} {array}");
    if let Some(map) = map {
        let _ = write!(text, " {map}");
    }
    for variable in runtime {
        if let Some(array) = &variable.array {
            let _ = write!(text, "; {} from {array}", variable.name);
        }
        if let Some(map) = &variable.map {
            let _ = write!(text, " {map}");
        }
    }
    text
}

fn of_dependence(report: &DependenceReport) -> String {
    let vector: Vec<String> = report
        .direction
        .iter()
        .zip(&report.distance)
        .map(|(direction, distance)| match distance {
            Some(distance) => distance.to_string(),
            None => (*direction).to_owned(),
        })
        .collect();
    let mut text = format!(
        "{} {} from line {} to line {}, ({})",
        report.kind,
        report.array,
        report.source_line,
        report.sink_line,
        vector.join(", ")
    );
    match &report.carried_by {
        Some(carried) => text += &format!(", carried by {carried}"),
        None => text += ", loop-independent",
    }
    if !report.must {
        text += ", may";
    }
    if report.reduction {
        text += ", of a reduction";
    }
    if let Some(witness) = &report.example {
        text += &format!("; {witness}");
    }
    for array in &report.unless_monotone {
        text += &format!("; not if {array} never falls");
    }
    text
}
