//! Reading what the flags name: sources and schedules.

use crate::cli::args::{KernelChoice, ScheduleChoice};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use std::io::Read;
use std::path::Path;
use std::sync::OnceLock;
use strew::{Error, Language, Parsed, ParsedKernel, Plan, Schedule, Source};

/// Nobody writes a kernel or a schedule this long; whatever it is, it was named by mistake.
const LARGEST_SOURCE: u64 = 64 << 20;

/// What is read from standard input, which gives its text once.
static STANDARD_INPUT: OnceLock<&str> = OnceLock::new();

/// The text of `path`, or of standard input for `-`.
pub(crate) fn source(path: &Path) -> Result<Source, Failure> {
    let (name, text) = text(path, "kernel")?;
    Ok(match tells_language(path) {
        true => Source::new(name, text),
        false => Source::in_language(language_of(&text), name, text),
    })
}

/// The `what` at `path`, or on standard input for `-`, and what it is called in messages.
fn text(path: &Path, what: &'static str) -> Result<(String, String), Failure> {
    let (name, bytes) = if path == Path::new("-") {
        if STANDARD_INPUT.set(what).is_err() {
            let first = STANDARD_INPUT.get().unwrap_or(&what);
            return Err(Failure::usage(format!(
                "standard input is the {first} already: give one of both as a file"
            )));
        }
        ("<stdin>".to_owned(), read(std::io::stdin().lock()))
    } else {
        let opened = std::fs::File::open(path);
        (path.display().to_string(), opened.and_then(read))
    };
    let bytes = bytes.map_err(|error| Failure::usage(format!("cannot read {name}: {error}")))?;
    if bytes.len() as u64 > LARGEST_SOURCE {
        return Err(Failure::usage(format!(
            "{name} is larger than 64 MiB, is it a {what}?"
        )));
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let position = error.utf8_error().valid_up_to();
        Failure::usage(format!("{name} is not text: byte {position} is not UTF-8"))
    })?;
    Ok((name, text))
}

/// What was read from standard input.
pub(crate) fn of_standard_input() -> Option<&'static str> {
    STANDARD_INPUT.get().copied()
}

/// Whether the ending of `path` says what is in the file.
fn tells_language(path: &Path) -> bool {
    let ending = path.extension().and_then(|it| it.to_str());
    matches!(ending, Some("c" | "h" | "nest" | "mlir"))
}

/// What has no ending that tells the language; the words that kernel text and MLIR begin with start
/// no C file.
fn language_of(text: &str) -> Language {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.lines().map(str::trim_start);
    let first = lines.find(|line| !line.is_empty() && !line.starts_with("//"));
    match first {
        Some(line) if line.starts_with("kernel @") || line.starts_with("reduction @") => {
            Language::KernelText
        }
        Some(line) if line.starts_with("module {") => Language::Mlir,
        // `mlir-opt` puts maps and sets in front.
        Some(line) if line.starts_with('#') && line.contains(" = affine_") => Language::Mlir,
        _ => Language::C,
    }
}

fn read(from: impl Read) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(LARGEST_SOURCE + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The source that `choice` means, for the sake of the kernel that it names.
pub(crate) fn chosen(choice: &KernelChoice) -> Result<Source, Failure> {
    let source = source(&choice.file)?;
    Ok(match &choice.name {
        Some(name) => source.for_kernel(name),
        None => source,
    })
}

/// The kernels of `choice`'s source. Where there are none for what stands beside some, these are
/// named, unless one was.
pub(crate) fn parse(source: Source, choice: &KernelChoice) -> Result<Parsed, Failure> {
    source.parse().map_err(|error| {
        let alone = match &error {
            Error::Source(it) if choice.name.is_none() => it.source().kernels_alone(),
            _ => Vec::new(),
        };
        if alone.is_empty() {
            return error.into();
        }
        let note = format!(
            "alone, {} could be compiled: choose with --kernel",
            alone.join(", ")
        );
        Failure::Noted(Box::new(error), vec![note])
    })
}

/// The kernels that `choice` may mean, the warnings about their source shown.
pub(crate) fn parsed(choice: &KernelChoice, console: &mut Console) -> Result<Parsed, Failure> {
    let parsed = parse(chosen(choice)?, choice)?;
    warn(&parsed, console);
    Ok(parsed)
}

/// Shows the warnings about a source.
pub(crate) fn warn(parsed: &Parsed, console: &mut Console) {
    let warnings = parsed.warnings();
    if !warnings.list().is_empty() {
        let text = warnings.render(console.style());
        console.talk_once(&text);
    }
}

/// The kernel that `choice` means.
pub(crate) fn kernel<'p>(
    parsed: &'p Parsed,
    choice: &KernelChoice,
) -> Result<&'p ParsedKernel, Failure> {
    Ok(parsed.kernel(choice.name.as_deref())?)
}

/// The schedule that the flags give, if they give one.
pub(crate) fn schedule(choice: &ScheduleChoice) -> Result<Option<Schedule>, Failure> {
    if let Some(path) = &choice.path {
        let (name, text) = text(path, "schedule")?;
        return script(&name, &text).map(Some);
    }
    if choice.steps.is_empty() {
        return Ok(None);
    }
    let mut schedule = Schedule::new();
    for step in &choice.steps {
        schedule.extend(script("--step", step)?.steps().iter().cloned());
    }
    Ok(Some(schedule))
}

fn script(name: &str, text: &str) -> Result<Schedule, Failure> {
    strew::parse_schedule(name, text).map_err(Failure::Library)
}

/// What a run does: the schedule of the flags, else that of the source.
pub(crate) fn plan(choice: &ScheduleChoice) -> Result<Plan, Failure> {
    Ok(schedule(choice)?.map_or(Plan::Source, Plan::Explicit))
}
