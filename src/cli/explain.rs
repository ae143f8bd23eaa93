//! `strew explain`: what a kernel accesses, what depends on what, which loops may run in parallel,
//! and what is done about it.

use crate::cli::args::{Explain, OobName, Work};
use crate::cli::circumstances::{circumstances, in_columns};
use crate::cli::console::Console;
use crate::cli::explain_report::{
    AccessReport, DependenceReport, KernelReport, LoopReport, Made, Measured, PrivateReport,
};
use crate::cli::failure::Failure;
use crate::cli::html::{self, Explained};
use crate::cli::job::tried;
use crate::cli::report::RunReport;
use crate::cli::sources::Sources;
use crate::cli::{load, report};
use serde::Serialize;
use std::fmt::Write as _;
use std::time::Instant;
use strew::{Kernel, Parsed, ParsedKernel, Plan, Source, Timeline};

#[derive(Serialize)]
struct ExplainReport {
    kernels: Vec<KernelReport>,
}

pub(crate) fn explain(flags: &Explain, console: &mut Console) -> Result<(), Failure> {
    if let Some(path) = &flags.html {
        let sources = Sources::of(&flags.kernel).and_schedule(&flags.schedule);
        let sources = sources.and_inputs(&flags.inputs);
        sources.are_spared_by("--html", path)?;
    }
    let plan = load::plan(&flags.schedule)?;
    let parsed = load::parsed(&flags.kernel, console)?;
    let mut kernels = Vec::new();
    let mut reports = Vec::new();
    for kernel in wanted(flags, &plan, &parsed)? {
        let (mut report, made) = KernelReport::of(&parsed, kernel, &plan, flags.mode.into())?;
        if let (true, Some(made)) = (flags.run, made) {
            report.run = Some(on_data(flags, made, console)?);
        }
        reports.push(report);
        kernels.push(kernel);
    }
    let refusals = reports.iter().filter_map(|it| it.refusal.clone());
    let mut failures: Vec<Failure> = refusals
        .map(|it| strew::Error::Refused(it).into())
        .collect();
    if let Some(path) = &flags.html {
        let page = page(parsed.source(), kernels.into_iter().zip(reports))?;
        console.data_to(Some(path), &page)?;
    } else if flags.json {
        console.data(&report::json(&ExplainReport { kernels: reports }))?;
    } else {
        let texts: Vec<String> = reports.iter().map(text).collect();
        console.data(&texts.join("\n"))?;
    }
    // What is known of the others is told all the same.
    let last = failures.pop();
    failures.iter().for_each(|it| console.complain(it));
    last.map_or(Ok(()), Err)
}

/// The page on `kernels`.
fn page<'p>(
    source: &Source,
    kernels: impl Iterator<Item = (&'p ParsedKernel, KernelReport)>,
) -> Result<String, Failure> {
    let explained = kernels.map(|(kernel, report)| Explained::new(kernel, report));
    let explained: Vec<Explained> = explained.collect::<Result<_, strew::Error>>()?;
    Ok(html::page(source, &explained))
}

/// The kernel that is named, or all: runs and schedules are of one.
fn wanted<'p>(
    flags: &Explain,
    plan: &Plan,
    parsed: &'p Parsed,
) -> Result<Vec<&'p ParsedKernel>, Failure> {
    Ok(match (&flags.kernel.name, plan) {
        (None, Plan::Source) if !flags.run => parsed.kernels().iter().collect(),
        _ => vec![load::kernel(parsed, &flags.kernel)?],
    })
}

/// What the kernel under its schedule saw of the data, and what it did.
fn on_data(
    flags: &Explain,
    (scheduled, scheduling): Made,
    console: &mut Console,
) -> Result<Measured, Failure> {
    let started = Instant::now();
    let compiled = scheduled.compile()?;
    let compile = scheduling + started.elapsed();
    let timeline = Timeline::new();
    let kernel = Kernel::from(compiled).timeline(timeline.clone());
    let mut run = RunReport::new(&kernel, flags.mode.into());
    let report = tried(kernel, &as_work(flags), console)?;
    run.add(&report, compile);
    Ok(Measured {
        run,
        lines: circumstances(&report, compile),
        lanes: timeline.lanes(),
    })
}

/// The data of `flags`, as those of `strew run`.
fn as_work(flags: &Explain) -> Work {
    Work {
        kernel: flags.kernel.clone(),
        schedule: flags.schedule.clone(),
        scalars: flags.scalars.clone(),
        inputs: flags.inputs.clone(),
        shapes: flags.shapes.clone(),
        threads: flags.threads,
        body: None,
        strategy: None,
        mode: flags.mode,
        oob: OobName::Error,
        memory: None,
        mmap: false,
    }
}

/// One kernel for people.
fn text(report: &KernelReport) -> String {
    let mut text = format!("kernel {}\n", report.kernel);
    let indented = |it: &LoopReport| "  ".repeat(it.depth) + &of_loop(it);
    section(&mut text, "loops", report.loops.iter().map(indented));
    if !report.privates.is_empty() {
        let privates = report.privates.iter().map(of_private);
        section(&mut text, "private", privates);
    }
    section(&mut text, "accesses", report.accesses.iter().map(of_access));
    section(
        &mut text,
        "dependences",
        report.dependences.iter().map(of_dependence),
    );
    let refused = report.refusal.iter().flat_map(of_refusal);
    let steps = report.schedule.steps().iter().map(ToString::to_string);
    section(&mut text, "schedule", steps.chain(refused));
    if !report.why.is_empty() {
        section(&mut text, "why", report.why.iter().cloned());
    }
    if let Some(Measured { lines, .. }) = &report.run {
        let lines = lines.iter().map(|(what, text)| in_columns(what, text));
        section(&mut text, "run", lines);
    }
    text
}

/// What is wrong with a step, and what to do.
pub(crate) fn of_refusal(refusal: &strew::Refusal) -> impl Iterator<Item = String> + use<> {
    let diagnostic = refusal.diagnostic();
    [Some(diagnostic.message), diagnostic.help]
        .into_iter()
        .flatten()
}

pub(crate) fn of_private(report: &PrivateReport) -> String {
    format!(
        "{} in {} (line {}): {}",
        report.variable,
        called(report.name.as_deref()),
        report.line,
        report.reason
    )
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

pub(crate) fn of_loop(report: &LoopReport) -> String {
    let name = called(report.name.as_deref());
    format!("{name} (line {}): {}", report.line, report.reason)
}

/// What a loop is called, by its iterator.
pub(crate) fn called(iterator: Option<&str>) -> &str {
    iterator.unwrap_or("while")
}

pub(crate) fn of_access(report: &AccessReport) -> String {
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

pub(crate) fn of_dependence(report: &DependenceReport) -> String {
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
