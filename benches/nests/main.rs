//! strew against serial C over affine nests: the kernels of `tests/nests`, in the first cache, in
//! the second and in memory.
//!
//! `cargo bench --bench nests` measures all cells, in which C by several compilers and strew in its
//! modes take turns, and prints one table and what follows from it. `-- --help` lists the flags.

#![forbid(unsafe_code)]

mod arguments;
#[path = "../common/check.rs"]
mod check;
#[path = "../common/console.rs"]
mod console;
#[path = "../common/data.rs"]
#[expect(dead_code, reason = "the scatter bench needs more of it")]
mod data;
mod kernels;
mod measure;
#[path = "../common/pair.rs"]
mod pair;
#[path = "../common/peers.rs"]
#[expect(dead_code, reason = "the scatter bench needs more of it")]
mod peers;
mod problem;
#[path = "../common/random.rs"]
mod random;
mod report;
#[path = "../common/statistics.rs"]
mod statistics;
mod variant;

use arguments::Arguments;
use console::{ended, print, say};
use kernels::{LEVELS, NESTS};
use measure::{Cell, measure};
use pair::Pair;
use peers::{Peers, Unit};
use std::process::{Command, ExitCode};

/// Of everything that is parallel.
const THREADS: usize = 2;

fn main() -> ExitCode {
    ended(run())
}

fn run() -> Result<(), String> {
    let arguments = Arguments::parse(std::env::args().skip(1))?;
    // To see that all of it works takes little data.
    let levels = if arguments.effort.is_smoke {
        1
    } else {
        LEVELS.len()
    };
    let cells = NESTS
        .iter()
        .flat_map(|nest| (0..levels).map(move |level| Cell { nest, level }));
    let cells: Vec<Cell> = cells.filter(|it| arguments.wants(&it.name())).collect();
    if arguments.is_list {
        cells.iter().for_each(|cell| print(&cell.name()));
        return Ok(());
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(THREADS);
    pool.build_global().map_err(|error| error.to_string())?;
    let mut peers = Peers::start(&units(), THREADS)?;
    if peers.is_none() {
        say("skipped: there is no cc, so nothing to compare with");
    }
    let (mut measurements, mut pairs) = (Vec::new(), Vec::new());
    for cell in cells {
        pairs.push(Pair::look(arguments.effort.is_smoke));
        let measurement = measure(cell, peers.as_mut(), arguments.effort)?;
        say(&report::line(&measurement));
        measurements.push(measurement);
    }
    print(&report::report(&measurements));
    print(&pair::seen(&pairs));
    Ok(())
}

/// The kernels in C: as `cc` compiles them for this processor, the same with vectors no wider than
/// strew's, by clang where it has Polly, and as they are written; and in Rust.
fn units() -> Vec<Unit> {
    let nests = Unit::new(&["nests.c"]);
    let mut units = vec![
        nests.clone().with(&["-DWAY=native"]),
        nests
            .clone()
            .with(&["-DWAY=narrow", "-mprefer-vector-width=128"]),
        nests
            .clone()
            .with(&["-DWAY=plain", "-O2", "-ffp-contract=off"]),
    ];
    if has_polly() {
        units.push(nests.by("clang").with(&["-DWAY=polly", "-mllvm", "-polly"]));
    } else {
        say("skipped: there is no clang with Polly");
    }
    let ways = Unit::new(&["nests_ways.c"]);
    if has_rustc() {
        // What calls a library stands in front of it.
        units.extend([ways.with(&["-DRUSTC"]), Unit::rust(&["nests.rs"])]);
    } else {
        say("skipped: there is no rustc");
        units.push(ways);
    }
    units
}

fn has_rustc() -> bool {
    let output = Command::new("rustc").arg("--version").output();
    output.is_ok_and(|it| it.status.success())
}

fn has_polly() -> bool {
    let mut clang = Command::new("clang");
    let asked = clang.args(["-mllvm", "-polly", "-x", "c", "-c", "/dev/null"]);
    let output = asked.args(["-o", "/dev/null"]).output();
    output.is_ok_and(|it| it.status.success())
}
