//! strew against what there is, over a grid of cells: twelve kernels, orders of keys, sizes of
//! outputs, types.
//!
//! `cargo bench --bench scatter` measures all cells, in which serial C, OpenMP, rayon by hand and
//! strew in its modes and strategies take turns, runs the worst ten again, and prints one table and
//! what follows from it. `-- --help` lists the flags.

#![forbid(unsafe_code)]

mod arguments;
mod by_hand;
#[path = "../common/check.rs"]
mod check;
#[path = "../common/console.rs"]
mod console;
#[path = "../common/data.rs"]
#[expect(dead_code, reason = "the bench of nests needs more of it")]
mod data;
#[path = "../../tests/suite/generators.rs"]
mod generators;
mod grid;
mod limit;
mod measure;
#[path = "../common/pair.rs"]
mod pair;
#[path = "../common/peers.rs"]
#[expect(dead_code, reason = "the bench of nests needs more of it")]
mod peers;
mod problems;
#[path = "../common/random.rs"]
mod random;
mod report;
#[path = "../common/statistics.rs"]
mod statistics;
mod summary;
mod table;
mod variant;
mod way;

use arguments::Arguments;
use console::{ended, print, say};
use grid::Cell;
use measure::{Measurement, measure};
use pair::Pair;
use peers::{Bandwidth, Peers, Unit};
use problems::Scale;
use std::process::ExitCode;
use std::time::Instant;
use table::{Format, table};
use variant::Variant;

/// Threads of everything that is parallel.
pub(crate) const THREADS: usize = 2;

/// Cells that are measured twice.
const AGAIN: usize = 10;

/// What bandwidth is measured on: more than the caches hold.
const BANDWIDTH_BYTES: usize = 1 << 30;
const BANDWIDTH_BYTES_SMOKE: usize = 1 << 20;

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), String> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    let cells = grid::cells()?;
    let cells: Vec<_> = cells
        .into_iter()
        .filter(|cell| arguments.wants(cell.name))
        .collect();
    if arguments.is_list {
        cells.iter().for_each(|cell| print(cell.name));
        return Ok(());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS);
    pool.build_global().map_err(|error| error.to_string())?;
    let mut peers = Peers::start(&units(), THREADS)?;
    if peers.is_none() {
        say("skipped: there is no cc, so no serial C, no OpenMP and no bandwidth to compare with");
    }
    let start = Instant::now();
    let smoke = arguments.effort.scale == Scale::Smoke;
    let bytes = if smoke {
        BANDWIDTH_BYTES_SMOKE
    } else {
        BANDWIDTH_BYTES
    };
    let before = bandwidth(&mut peers, bytes)?;
    let (mut measurements, mut pairs) = (Vec::new(), Vec::new());
    for cell in cells {
        pairs.push(Pair::look(smoke));
        let measurement = measure(cell, peers.as_mut(), arguments.effort)?;
        say(&line(&measurement));
        measurements.push(measurement);
    }
    if arguments.effort.scale == Scale::Full {
        measure_again(&mut measurements, &mut peers, &arguments)?;
    }
    let after = bandwidth(&mut peers, bytes)?;
    let bandwidth = before.zip(after).map(|(a, b)| a.or_more(b));
    print(&table(&measurements, bandwidth, arguments.format));
    let summary = summary::summary(&measurements, bandwidth);
    let took = start.elapsed().as_secs();
    let cells = measurements.len();
    let seen = pair::seen(&pairs);
    let closing = format!("{summary}\n{seen}\n\n{cells} cells on {THREADS} threads in {took} s");
    if arguments.format == Format::Markdown {
        print(&closing);
    } else {
        say(&closing);
    }
    Ok(())
}

/// The kernels in C, each way in a file, with the rounding of the kernels.
fn units() -> [Unit; 1] {
    let files = [
        "serial.c",
        "reduction.c",
        "atomic.c",
        "races.c",
        "scatter.c",
    ];
    [Unit::new(&files).with(&["-ffp-contract=off"])]
}

fn bandwidth(peers: &mut Option<Peers>, bytes: usize) -> Result<Option<Bandwidth>, String> {
    let measure = |peers: &mut Peers| peers.bandwidth(bytes);
    peers.as_mut().map(measure).transpose()
}

/// The cells in which strew gains least get as many rounds again.
fn measure_again(
    measurements: &mut [Measurement],
    peers: &mut Option<Peers>,
    arguments: &Arguments,
) -> Result<(), String> {
    let gain = |it: &Measurement| it.speedup(Variant::STABLE).map_or(f64::MAX, |it| it.median);
    let mut worst: Vec<_> = measurements.iter_mut().collect();
    worst.sort_by(|a, b| gain(a).total_cmp(&gain(b)));
    say("the worst once more");
    for measurement in worst.into_iter().take(AGAIN) {
        let again = measure(measurement.cell, peers.as_mut(), arguments.effort)?;
        say(&line(&again));
        measurement.extend(again);
    }
    Ok(())
}

/// What a cell gave, for whoever waits.
fn line(measurement: &Measurement) -> String {
    let Cell { name, .. } = measurement.cell;
    let number = |number: Option<f64>| number.map_or("–".to_owned(), |it| format!("{it:.2}"));
    let median = |variant| measurement.speedup(variant).map(|it| it.median);
    let strategy = measurement.record().map_or("–", |it| it.strategy);
    format!(
        "{name:<24} stable {:>6} fast {:>6} exact {:>6} regret {:>5} {strategy}",
        number(median(Variant::STABLE)),
        number(median(Variant::FAST)),
        number(median(Variant::EXACT)),
        number(measurement.regret()),
    )
}
