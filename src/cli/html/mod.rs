//! `strew explain --html`: what is known of a file on one page that needs nothing else: no network,
//! no other file.

use crate::cli::explain::{called, of_access, of_dependence, of_loop, of_private, of_refusal};
use crate::cli::explain_report::{KernelReport, LoopReport, Measured};
use similar::{ChangeTag, DiffOp, TextDiff};
use std::fmt::{self, Write as _};
use strew::ir::spelling::counted;
use strew::{Busy, Event, Observer, ParsedKernel, Phase, Plan, Refusal, Source};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// A kernel, what is known of it, and what each step of its schedule makes of it.
pub(crate) struct Explained {
    report: KernelReport,
    steps: Vec<StepDone>,
}

/// A step, and the kernel text before and after it.
struct StepDone {
    step: String,
    before: String,
    after: String,
}

#[derive(Default)]
struct Recorder(Vec<StepDone>);

impl Observer for Recorder {
    fn observe(&mut self, event: Event<'_>) {
        if let Event::Applied {
            step,
            before,
            after,
            ..
        } = event
        {
            self.0.push(StepDone {
                step: step.to_string(),
                before: before.to_string(),
                after: after.to_string(),
            });
        }
    }
}

impl Explained {
    /// `report` of `kernel`, with its schedule step by step.
    ///
    /// # Errors
    /// Those of the schedule.
    pub(crate) fn new(kernel: &ParsedKernel, report: KernelReport) -> Result<Self, strew::Error> {
        let mut recorder = Recorder::default();
        // What was tried on the way to the schedule is left out.
        kernel.schedule(&Plan::Explicit(report.schedule.clone()), &mut recorder)?;
        let steps = recorder.0;
        Ok(Self { report, steps })
    }
}

/// The page on all `kernels` of `source`.
pub(crate) fn page(source: &Source, kernels: &[Explained]) -> String {
    let mut page = String::new();
    // Writing to a `String` does not fail.
    let _ = write_page(&mut page, source, kernels);
    page
}

fn write_page(page: &mut String, source: &Source, kernels: &[Explained]) -> fmt::Result {
    let name = Escaped(source.name());
    write!(
        page,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{name}, explained</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n\
         <p>What strew knows of each kernel and does about it. Dependences and accesses show their lines when the mouse or the \
         keyboard is on them; the arrow keys go from one to the next.</p>\n<div class=\"columns\">\n"
    )?;
    let loops: Vec<&LoopReport> = kernels.iter().flat_map(|it| &it.report.loops).collect();
    write_source(page, source.text(), &loops)?;
    page.push_str("<main>\n");
    for kernel in kernels {
        write_kernel(page, kernel)?;
    }
    write!(
        page,
        "</main>\n</div>\n<script>\n{SCRIPT}</script>\n</body>\n</html>\n"
    )
}

/// The lines, and beside each loop what is said of it.
fn write_source(page: &mut String, text: &str, loops: &[&LoopReport]) -> fmt::Result {
    page.push_str("<div class=\"pane\"><div class=\"scroll\" tabindex=\"0\" aria-label=\"source\">\n<ol class=\"source\">\n");
    for (line, number) in text.lines().zip(1..) {
        let code = Escaped(line);
        write!(
            page,
            "<li data-line=\"{number}\"><span class=\"number\">{number}</span><span class=\"text\">{code}</span><span>"
        )?;
        for it in loops.iter().filter(|it| it.line == number) {
            let (class, words, why) = (it.parallel, verdict(it.parallel), Escaped(&it.reason));
            let name = Escaped(called(it.name.as_deref()));
            write!(
                page,
                "<span class=\"verdict {class}\" title=\"{why}\">{name}: {words}</span>"
            )?;
        }
        page.push_str("</span></li>\n");
    }
    page.push_str("</ol></div></div>\n");
    Ok(())
}

fn verdict(parallel: &str) -> &'static str {
    match parallel {
        "yes" => "parallel",
        "reduction" => "parallel as a reduction",
        _ => "not parallel",
    }
}

fn write_kernel(page: &mut String, kernel: &Explained) -> fmt::Result {
    let report = &kernel.report;
    let name = report.kernel.as_str();
    write!(
        page,
        "<section>\n<h2>Kernel <code>{}</code></h2>\n",
        Escaped(name)
    )?;
    let loops = report.loops.iter();
    let loops = loops.map(|it| (of_loop(it), (it.line, None)));
    write_list(page, (name, "Loops"), loops)?;
    if !report.privates.is_empty() {
        let privates = report
            .privates
            .iter()
            .map(|it| (of_private(it), (it.line, None)));
        write_list(page, (name, "Private variables"), privates)?;
    }
    let dependences = report.dependences.iter();
    let dependences =
        dependences.map(|it| (of_dependence(it), (it.source_line, Some(it.sink_line))));
    write_list(page, (name, "Dependences"), dependences)?;
    let accesses = report
        .accesses
        .iter()
        .map(|it| (of_access(it), (it.line, None)));
    write_list(page, (name, "Accesses"), accesses)?;
    write_steps(page, &kernel.steps, report.refusal.as_ref())?;
    write_reasons(page, &report.why)?;
    if let Some(run) = &report.run {
        write_run(page, run)?;
    }
    page.push_str("</section>\n");
    Ok(())
}

/// Texts with the line that each is about, and where an arrow from there leads.
fn write_list(
    page: &mut String,
    (kernel, title): (&str, &str),
    items: impl Iterator<Item = (String, (usize, Option<usize>))>,
) -> fmt::Result {
    write!(page, "<h3>{title}</h3>\n<ul>\n")?;
    let group = title
        .split_whitespace()
        .last()
        .unwrap_or_default()
        .to_lowercase();
    let mut is_empty = true;
    for ((text, (from, to)), number) in items.zip(1..) {
        is_empty = false;
        let to = to.map_or_else(String::new, |it| format!(" data-to=\"{it}\""));
        let text = Escaped(&text);
        writeln!(
            page,
            "<li><button id=\"{kernel}-{group}-{number}\" data-from=\"{from}\"{to}>{text}</button></li>"
        )?;
    }
    page.push_str(if is_empty {
        "</ul><p>None.</p>\n"
    } else {
        "</ul>\n"
    });
    Ok(())
}

fn write_steps(page: &mut String, steps: &[StepDone], refusal: Option<&Refusal>) -> fmt::Result {
    page.push_str("<h3>Schedule</h3>\n");
    if steps.is_empty() && refusal.is_none() {
        page.push_str("<p>No steps: the loops run in the order in which they are written.</p>\n");
    }
    for (place, done) in steps.iter().enumerate() {
        let open = if place == 0 { " open" } else { "" };
        let step = Escaped(&done.step);
        writeln!(
            page,
            "<details{open}><summary>{}. <code>{step}</code></summary>",
            place + 1
        )?;
        write_difference(page, done)?;
        page.push_str("</details>\n");
    }
    for text in refusal.into_iter().flat_map(of_refusal) {
        writeln!(page, "<p>{}</p>", Escaped(&text))?;
    }
    if let Some(last) = steps.last().filter(|it| is_long(it)) {
        let text = Escaped(&last.after);
        writeln!(
            page,
            "<details><summary>The kernel after all steps</summary>\n<pre class=\"diff\"><span class=\"same\">{text}</span></pre></details>"
        )?;
    }
    Ok(())
}

/// Texts of more lines are shown where they change alone: a page on many loops would have each of
/// them once for every step.
const WHOLE: usize = 60;

/// So many lines around a change.
const AROUND: usize = 3;

fn is_long(done: &StepDone) -> bool {
    done.after.lines().count() > WHOLE
}

/// What a step changes in the text of the kernel.
fn write_difference(page: &mut String, done: &StepDone) -> fmt::Result {
    let difference = TextDiff::from_lines(&done.before, &done.after);
    let around = if is_long(done) { AROUND } else { WHOLE };
    page.push_str("<pre class=\"diff\">");
    let mut shown = 0;
    for group in difference.grouped_ops(around) {
        let first = group.first().map_or(shown, |it| it.old_range().start);
        write_gap(page, first - shown)?;
        for change in group.iter().flat_map(|it| difference.iter_changes(it)) {
            let (class, sign) = match change.tag() {
                ChangeTag::Insert => ("added", '+'),
                ChangeTag::Delete => ("removed", '-'),
                ChangeTag::Equal => ("same", ' '),
            };
            let line = Escaped(change.value().trim_end_matches('\n'));
            write!(page, "<span class=\"{class}\">{sign} {line}</span>")?;
        }
        shown = group.last().map_or(shown, |it: &DiffOp| it.old_range().end);
    }
    write_gap(page, done.before.lines().count().saturating_sub(shown))?;
    page.push_str("</pre>");
    Ok(())
}

/// Lines that are left out.
fn write_gap(page: &mut String, lines: usize) -> fmt::Result {
    match lines {
        0 => Ok(()),
        _ => write!(
            page,
            "<span class=\"gap\">… {} as before</span>",
            counted(lines, "line")
        ),
    }
}

/// Why the schedule is what it is.
fn write_reasons(page: &mut String, reasons: &[String]) -> fmt::Result {
    if reasons.is_empty() {
        return Ok(());
    }
    page.push_str("<ul class=\"plain\">\n");
    for reason in reasons {
        writeln!(page, "<li>{}</li>", Escaped(reason))?;
    }
    page.push_str("</ul>\n");
    Ok(())
}

/// What was expected, what was taken, and where the time went.
fn write_run(page: &mut String, run: &Measured) -> fmt::Result {
    page.push_str("<h3>Run</h3>\n<div class=\"wide\"><table>\n");
    for (what, text) in &run.lines {
        let (what, text) = (Escaped(what), Escaped(text));
        writeln!(
            page,
            "<tr><th scope=\"row\">{what}</th><td>{text}</td></tr>"
        )?;
    }
    page.push_str("</table></div>\n");
    write_costs(page, run)?;
    let Some(seconds) = &run.run.seconds else {
        return Ok(());
    };
    let phases = [
        // What is found out before a loop runs.
        (
            "rest",
            (seconds.total - seconds.prepare - seconds.main - seconds.merge).max(0.0),
        ),
        ("prepare", seconds.prepare),
        ("main", seconds.main),
        ("merge", seconds.merge),
    ];
    let threads = run.run.threads.unwrap_or(1);
    write!(
        page,
        "<h3>Phases</h3>\n<p>One call of {:.3} ms, whose parts run on {}.</p>\n<div class=\"timeline\" role=\"img\" aria-label=\"{}\">",
        seconds.total * 1e3,
        counted(threads, "thread"),
        phases
            .map(|(name, seconds)| format!("{name} {:.3} ms", seconds * 1e3))
            .join(", ")
    )?;
    for (name, part) in phases {
        let share = part / seconds.total.max(1e-12) * 100.0;
        let milliseconds = part * 1e3;
        write!(
            page,
            "<span class=\"{name}\" style=\"width: {share:.2}%\" title=\"{name} {milliseconds:.3} ms\">{name}</span>"
        )?;
    }
    page.push_str("</div>\n");
    write_lanes(page, &run.lanes, seconds.total)?;
    write_legend(page)
}

/// What the colours of the phases mean.
fn write_legend(page: &mut String) -> fmt::Result {
    page.push_str("<ul class=\"legend\">\n");
    for (name, what) in [
        ("rest", "what is found out before a loop runs"),
        ("prepare", "private buffers are filled"),
        ("main", "iterations run"),
        (
            "merge",
            "what they left in private buffers comes into the outputs",
        ),
    ] {
        writeln!(
            page,
            "<li><span class=\"{name}\"></span>{name}: {what}</li>"
        )?;
    }
    page.push_str("</ul>\n");
    Ok(())
}

/// When each thread ran parts of parallel loops, from the beginning of the call to its end.
fn write_lanes(page: &mut String, lanes: &[Vec<Busy>], total: f64) -> fmt::Result {
    let share = |time: f64| time / total.max(1e-12) * 100.0;
    for (number, lane) in lanes.iter().enumerate() {
        let busy = |phase: Phase| {
            let spans = lane.iter().filter(|it| it.phase == phase);
            let seconds = spans.map(|it| (it.end - it.start).as_secs_f64());
            // The sum of none is -0.
            share(seconds.fold(0.0, |sum, it| sum + it))
        };
        let (main, merge) = (busy(Phase::Main), busy(Phase::Merge));
        let name = format!(
            "thread {}: in loops for {main:.0} %, merging for {merge:.0} % of the call",
            number + 1,
        );
        write!(
            page,
            "<div class=\"lane\" role=\"img\" aria-label=\"{name}\" title=\"{name}\">"
        )?;
        for part in joined(lane, total / 1000.0) {
            let (from, width) = (share(part.from), share(part.to - part.from));
            let class = match part.phase {
                Phase::Prepare => "prepare",
                Phase::Main => "main",
                Phase::Merge => "merge",
            };
            write!(
                page,
                "<span class=\"{class}\" style=\"left: {from:.2}%; width: {width:.2}%\"></span>"
            )?;
        }
        page.push_str("</div>\n");
    }
    Ok(())
}

/// What is drawn of a thread's work, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Part {
    phase: Phase,
    from: f64,
    to: f64,
}

/// The parts of a lane, those of one phase joined that lie no further apart than can be seen.
fn joined(lane: &[Busy], apart: f64) -> Vec<Part> {
    let mut all: Vec<Part> = Vec::new();
    for it in lane {
        let (from, to) = (it.start.as_secs_f64(), it.end.as_secs_f64());
        match all.last_mut() {
            Some(last) if last.phase == it.phase && from - last.to <= apart => {
                last.to = last.to.max(to);
            }
            _ => all.push(Part {
                phase: it.phase,
                from,
                to,
            }),
        }
    }
    all
}

/// Expected costs as bars, the cheapest first, and what the strategy that was taken took.
fn write_costs(page: &mut String, run: &Measured) -> fmt::Result {
    let mut costs: Vec<_> = run.run.predicted_ns.iter().collect();
    if costs.is_empty() {
        return Ok(());
    }
    costs.sort_by_key(|(_, nanoseconds)| **nanoseconds);
    let measured = run.run.seconds.as_ref().map_or(0.0, |it| it.total * 1e3);
    // A strategy that is out of the question would leave nothing of the others to be seen: its bar
    // ends open.
    let longest = 10.0 * least(&costs);
    let is_cut = |nanoseconds: u64| nanoseconds as f64 / 1e6 > longest;
    let shown = |nanoseconds: u64| (nanoseconds as f64 / 1e6).min(longest);
    let most = costs.iter().map(|(_, it)| shown(**it)).fold(1e-9, f64::max);
    page.push_str("<h3>Expected costs</h3>\n<div class=\"wide\"><table>\n");
    for (name, nanoseconds) in &costs {
        let is_taken = run.run.strategy == Some(**name);
        let class = if is_taken { " class=\"taken\"" } else { "" };
        let taken = match is_taken {
            true => format!(", taken, measured {measured:.3} ms"),
            false => String::new(),
        };
        let cut = if is_cut(**nanoseconds) { " cut" } else { "" };
        let (milliseconds, width) = (
            **nanoseconds as f64 / 1e6,
            shown(**nanoseconds) / most * 100.0,
        );
        writeln!(
            page,
            "<tr{class}><th scope=\"row\">{name}</th><td class=\"number\">{milliseconds:.3} ms{taken}</td>\
             <td class=\"share\"><span class=\"bar{cut}\" style=\"width: {width:.1}%\"></span></td></tr>"
        )?;
    }
    page.push_str("</table></div>\n");
    if costs.iter().any(|(_, it)| is_cut(**it)) {
        page.push_str(
            "<p>Striped bars are cut off at ten times the cheapest; their numbers are not.</p>\n",
        );
    }
    Ok(())
}

/// The cheapest, in milliseconds.
fn least(costs: &[(&&str, &u64)]) -> f64 {
    costs.first().map_or(0.0, |(_, it)| **it as f64 / 1e6)
}

/// Text that is no markup, also between quotes.
struct Escaped<'t>(&'t str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.chars().try_for_each(|letter| match letter {
            '<' => f.write_str("&lt;"),
            '>' => f.write_str("&gt;"),
            '&' => f.write_str("&amp;"),
            '"' => f.write_str("&quot;"),
            '\'' => f.write_str("&#39;"),
            other => f.write_char(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn parts_that_cannot_be_told_apart_are_one() {
        let busy = |(phase, from, to)| Busy {
            phase,
            start: Duration::from_secs(from),
            end: Duration::from_secs(to),
        };
        let (main, merge) = (Phase::Main, Phase::Merge);
        let lane = [(main, 0, 10), (main, 10, 20), (main, 21, 30)];
        let lane = [&lane[..], &[(merge, 31, 40), (merge, 90, 100)]].concat();
        let lane: Vec<_> = lane.into_iter().map(busy).collect();
        let ends = |apart| {
            let parts = joined(&lane, apart).into_iter();
            parts.map(|it| (it.phase, it.to)).collect::<Vec<_>>()
        };
        assert_eq!(ends(5.0), [(main, 30.0), (merge, 40.0), (merge, 100.0)]);
        assert_eq!(ends(0.5).len(), 4);
    }

    #[test]
    fn text_is_no_markup() {
        let text = Escaped("</script><b x='\"'>&").to_string();
        assert_eq!(text, "&lt;/script&gt;&lt;b x=&#39;&quot;&#39;&gt;&amp;");
    }

    #[test]
    fn the_page_needs_nothing_else() {
        let source = Source::new(
            "a<b>.c",
            "void k(int n, int x[n]) {\n  for (int i = 0; i < n; i++) x[i] = i;\n}\n",
        );
        let page = page(&source, &[]);
        assert!(page.contains("<h1>a&lt;b&gt;.c</h1>"), "{page}");
        let links = ["src=", "href=", "@import", "url(http", "fetch("];
        assert!(links.iter().all(|it| !page.contains(it)), "{page}");
    }
}
