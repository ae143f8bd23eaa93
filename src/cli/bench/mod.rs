//! `strew bench`: a kernel serial, by each strategy, in each mode, on several threads, and as a C
//! compiler makes it, by turns.

mod compare;
mod compiler;
mod measure;
mod openmp;
mod peer;
mod plot;
mod table;
mod variant;

use crate::cli::args::{Assignment, Bench, Vary, Work};
use crate::cli::console::{Console, is_standard_output};
use crate::cli::failure::Failure;
use crate::cli::interrupt::{self, Temporaries};
use crate::cli::job::{self, Data};
use crate::cli::outputs::writable;
use crate::cli::progress::{Turns, with_bar};
use crate::cli::report::json;
use crate::cli::sources::Sources;
use measure::{Contest, Rounds, Row};
use serde::Serialize;
use std::path::Path;
use strew::ir::spelling::counted;
use variant::Variant;

/// What is measured, and what came of it.
#[derive(Debug, Serialize)]
struct BenchReport {
    kernel: String,
    /// Updates of one call; of the last where sizes vary.
    updates: u64,
    rows: Vec<Row>,
}

pub(crate) fn bench(flags: &Bench, console: &mut Console) -> Result<(), Failure> {
    if let Some(path) = &flags.plot {
        is_picture(path)?;
        let work = &flags.work;
        let sources = Sources::of(&work.kernel).and_schedule(&work.schedule);
        let sources = sources.and_inputs(&work.inputs);
        sources.are_spared_by("--plot", path)?;
        writable(path)?;
    }
    if let Some(Vary { name, .. }) = &flags.vary
        && flags.work.scalars.iter().any(|it| it.name == *name)
    {
        return Err(Failure::usage(format!(
            "--vary {name} and --set {name} both give `{name}` its value: leave one of them out"
        )));
    }
    let temporaries = interrupt::handle(None);
    let mut rows = Vec::new();
    let mut kernel = String::new();
    for point in points(flags) {
        let (kernel_of, data) = job::ready(&point, console)?;
        kernel_of.name().clone_into(&mut kernel);
        rows.extend(measured(
            flags,
            &point,
            (kernel_of, data),
            &temporaries,
            console,
        )?);
    }
    let updates = rows.last().map_or(0, |it| it.updates);
    let report = BenchReport {
        kernel,
        updates,
        rows,
    };
    if let Some(path) = &flags.plot {
        let picture = plot::svg(&report.kernel, &report.rows, flags.vary.as_ref());
        let picture = picture.map_err(Failure::Refused)?;
        std::fs::write(path, picture).map_err(|error| Failure::unwritable(path, error))?;
    }
    match (flags.json, flags.csv) {
        (true, _) => console.data(&json(&report)),
        (_, true) => console.data(&table::csv(&report.rows)),
        _ => console.data(&table::text(&report.kernel, &report.rows)),
    }
}

/// Whether there can be a picture at `path`, whose name does not say another format.
fn is_picture(path: &Path) -> Result<(), Failure> {
    if is_standard_output(path) {
        let why = "--plot: pictures do not go to standard output, which has the table; name a file, as out.svg";
        return Err(Failure::usage(why));
    }
    match path.extension() {
        Some(ending) if !ending.eq_ignore_ascii_case("svg") => {
            let named = path.with_extension("svg");
            let why = format!("pictures are written as SVG: name it {}", named.display());
            Err(Failure::file(path, why))
        }
        _ => Ok(()),
    }
}

/// The work at each value of the scalar that varies; as it is where none does.
fn points(flags: &Bench) -> Vec<Work> {
    let Some(Vary { name, values }) = &flags.vary else {
        return vec![flags.work.clone()];
    };
    let at = values.iter().map(|value| {
        let mut work = flags.work.clone();
        work.scalars.push(Assignment {
            name: name.clone(),
            text: value.to_string(),
        });
        work
    });
    at.collect()
}

fn measured(
    flags: &Bench,
    work: &Work,
    (kernel, data): (strew::Kernel, Data),
    temporaries: &Temporaries,
    console: &mut Console,
) -> Result<Vec<Row>, Failure> {
    let most = work.threads.map_or_else(
        || std::thread::available_parallelism().map_or(1, usize::from),
        std::num::NonZeroUsize::get,
    );
    let everywhere = flags.plot.is_some() && flags.vary.is_none();
    let mut variants = variant::of_strew(&kernel, work, most, everywhere)?;
    let peers = peer::variants(flags, &kernel, (&data, most), temporaries, console);
    variants.extend(peers);
    let mut contest = Contest::new(data);
    let (declined, rounds) = contested(&mut contest, &mut variants, flags)?;
    for (name, why) in declined {
        console.talk_once(&format!("note: {name} is left out: {why}"));
    }
    for variant in &variants {
        if let Some(what) = &variant.differs {
            let (name, threads) = (&variant.name, variant.threads);
            console.talk(&format!(
                "warning: {name} on {threads} threads computes something else: {what}"
            ));
        }
    }
    if rounds.len() < flags.rounds.get() as usize {
        console.talk_once(&format!(
            "note: the {} seconds of --seconds were over after {} of {}",
            flags.seconds,
            counted(rounds.len(), "round"),
            flags.rounds
        ));
    }
    Ok(measure::rows(
        &variants,
        &rounds,
        &contest,
        flags.vary.as_ref().and(work.scalars.last()),
    ))
}

/// Variants that declined, with their reasons, and the times of the others.
type Contested = (Vec<(String, String)>, Rounds);

/// Lets `variants` take turns for as long as `flags` say. What warms up belongs to that time.
fn contested(
    contest: &mut Contest,
    variants: &mut Vec<Variant>,
    flags: &Bench,
) -> Result<Contested, Failure> {
    let most = flags.rounds.get() as usize;
    let turns = Turns::within(flags.seconds, "calls");
    let expect = |variants: usize| turns.expect(2 * variants, (most + 1).saturating_mul(variants));
    expect(variants.len());
    with_bar(&turns, || {
        let declined = contest.warm_up(variants, &turns)?;
        expect(variants.len());
        Ok((declined, contest.rounds(variants, most, &turns)?))
    })
}
