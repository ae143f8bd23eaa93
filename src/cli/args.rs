//! The command line as data: flags and help, no behaviour.

mod value;

use super::examples::{
    BENCH_EXAMPLE, CALIBRATE_EXAMPLE, CHECK_EXAMPLE, COMPLETIONS_EXAMPLE, COMPOSE_EXAMPLE,
    EMIT_EXAMPLE, EVALUATE_EXAMPLE, EXAMPLES, EXPLAIN_EXAMPLE, INDEXING_EXAMPLE, INVERT_EXAMPLE,
    MAN_EXAMPLE, MAP_EXAMPLE, OPT_EXAMPLE, RANGE_EXAMPLE, RUN_EXAMPLE, SIMPLIFY_EXAMPLE,
    TUNE_EXAMPLE,
};
use clap::{Args, Parser, Subcommand, ValueEnum};
use std::path::PathBuf;
use strew::{Body, Strategy};
pub(crate) use value::{Assignment, ByteCount, Point, TileSizes, Vary};
use value::{at_least_one, bodies, seconds, strategies};

/// Compiles and runs C loops that scatter: proved, parallel, deterministic.
#[derive(Debug, Parser)]
#[command(about, max_term_width = 100, arg_required_else_help = true, after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
pub(crate) struct Arguments {
    /// Print version, features, and what was found of the processor
    #[arg(short = 'V', long)]
    pub(crate) version: bool,
    #[command(subcommand)]
    pub(crate) command: Option<Command>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compile a kernel and run it on arrays
    #[command(after_help = RUN_EXAMPLE)]
    Run(Run),
    /// Report errors and warnings, and do nothing else
    #[command(after_help = CHECK_EXAMPLE)]
    Check(Check),
    /// Apply schedule steps and print the kernel text
    #[command(after_help = OPT_EXAMPLE)]
    Opt(Opt),
    /// Print a stage of the compilation
    #[command(after_help = EMIT_EXAMPLE)]
    Emit(Emit),
    /// Say what a kernel accesses, what depends on what, and which loops may run in parallel
    #[command(after_help = EXPLAIN_EXAMPLE)]
    Explain(Explain),
    /// Print which elements of their operands operations on arrays read
    Indexing(Indexing),
    /// Measure a kernel serial, by each strategy, in each mode, on several threads, and as a C
    /// compiler makes it
    #[command(after_help = BENCH_EXAMPLE)]
    Bench(Bench),
    /// Search for a schedule that is faster on given data
    #[command(after_help = TUNE_EXAMPLE)]
    Tune(Tune),
    /// Measure what work costs on this machine, and keep it for later runs
    #[command(after_help = CALIBRATE_EXAMPLE)]
    Calibrate(Calibrate),
    /// Calculate with indexing maps: which element of an array is which element of another
    #[command(after_help = MAP_EXAMPLE)]
    Map(Map),
    /// Print what a shell needs to complete strew's commands
    #[command(after_help = COMPLETIONS_EXAMPLE)]
    Completions(Completions),
    /// Print a manual page
    #[command(after_help = MAN_EXAMPLE)]
    Man(Man),
}

/// A kernel, how it is scheduled and run, and its data.
#[derive(Clone, Debug, Args)]
pub(crate) struct Work {
    #[command(flatten)]
    pub(crate) kernel: KernelChoice,
    #[command(flatten)]
    pub(crate) schedule: ScheduleChoice,
    /// Give a scalar parameter its value
    #[arg(long = "set", value_name = "NAME=VALUE")]
    pub(crate) scalars: Vec<Assignment>,
    /// Fill an array from a file (a.npy, a.npz:MEMBER, or a.npz with one member, a.csv:COLUMN,
    /// a.mtx:row, a.mtx:col, a.mtx:val, a.png, raw elements as a.bin:f32 or with any ending),
    /// standard input (- as a .npy file, -:f32, csv:-:COLUMN and so on) or a generator: zeros,
    /// fill(2), iota, uniform(LOW, HIGH, seed=1), zipf(S, M, seed=1), sorted(M), constant(K),
    /// two(A, B, seed=1), clustered(RUN, WINDOW, M, seed=1)
    #[arg(long = "in", value_name = "NAME=SOURCE")]
    pub(crate) inputs: Vec<Assignment>,
    /// Give the dimensions of an array that no file and no size tells
    #[arg(long = "shape", value_name = "NAME=D,D")]
    pub(crate) shapes: Vec<Assignment>,
    /// Use this many threads; as many as there are cores when left out
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = at_least_one::<std::num::NonZeroUsize>)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// Combine updates in memory (direct), in a register for as long as they go to one element
    /// (run_length), in several registers by turns for as long as they do (partials), or in several
    /// tables by turns (tables), instead of as seems best
    #[arg(long, value_name = "B", value_parser = bodies())]
    pub(crate) body: Option<Body>,
    /// Let conflicting updates meet by this strategy instead of the one found best
    #[arg(long, value_name = "S", value_parser = strategies())]
    pub(crate) strategy: Option<Strategy>,
    /// How float results may depend on the order of combination
    #[arg(long, value_name = "MODE", default_value = "stable")]
    pub(crate) mode: ModeName,
    /// What an index out of range does
    #[arg(long, value_name = "POLICY", default_value = "error")]
    pub(crate) oob: OobName,
    /// Take at most this much memory for private buffers, local arrays and copies, as 512M or 2G; a
    /// quarter of what is free when left out
    #[arg(long, value_name = "SIZE")]
    pub(crate) memory: Option<ByteCount>,
    /// Leave the elements of .npy and .bin files where they are, and load what the kernel touches;
    /// whoever wants to change such a file waits meanwhile
    #[arg(long)]
    pub(crate) mmap: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) work: Work,
    /// Write an array to a file after the run (a.npy, a.csv, a.bin); without --in it starts as
    /// zeros
    #[arg(long = "out", value_name = "NAME=PATH")]
    pub(crate) outputs: Vec<Assignment>,
    /// Run this often, each time from the same contents
    #[arg(long, value_name = "R", default_value = "1", allow_negative_numbers = true, value_parser = at_least_one::<std::num::NonZeroU32>)]
    pub(crate) repeat: std::num::NonZeroU32,
    /// Report to standard output as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Bench {
    #[command(flatten)]
    pub(crate) work: Work,
    /// What strew is set beside: the file as the C compiler makes it, as cc -O3 -march=native and
    /// with -fopenmp; CC names another compiler, as "ccache gcc"
    #[arg(long, value_name = "WHAT", value_delimiter = ',', default_value = "cc")]
    pub(crate) against: Vec<Against>,
    /// Measure once for each of these values of a scalar parameter, as m=1000,10000,100000
    #[arg(long, value_name = "NAME=V,V")]
    pub(crate) vary: Option<Vary>,
    /// Let all variants run by turns at most this often
    #[arg(long, value_name = "R", default_value = "15", allow_negative_numbers = true, value_parser = at_least_one::<std::num::NonZeroU32>)]
    pub(crate) rounds: std::num::NonZeroU32,
    /// Begin no round after so many seconds, but for the first one; each value of --vary has them
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Report to standard output as JSON
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Report to standard output as a table of comma-separated values
    #[arg(long)]
    pub(crate) csv: bool,
    /// Draw time against threads, or against the scalar that varies, as SVG
    #[arg(long, value_name = "PATH")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Tune {
    #[command(flatten)]
    pub(crate) work: Work,
    /// Try schedules for so many seconds
    #[arg(long, value_name = "S", default_value = "10", allow_negative_numbers = true, value_parser = seconds)]
    pub(crate) seconds: f64,
    /// Write the schedule to this file instead of standard output, which is - too
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Completions {
    /// The shell that is to complete
    #[arg(value_name = "SHELL")]
    pub(crate) shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
pub(crate) struct Man {
    /// The command whose page to print; strew's own when left out
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Vec<String>,
    /// Write the pages of all commands to this folder instead
    #[arg(long, value_name = "FOLDER", conflicts_with = "command")]
    pub(crate) folder: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    #[command(flatten)]
    pub(crate) kernel: KernelChoice,
    /// Report to standard output as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Opt {
    #[command(flatten)]
    pub(crate) kernel: KernelChoice,
    #[command(flatten)]
    pub(crate) schedule: ScheduleChoice,
    /// Print the kernel after every step
    #[arg(long)]
    pub(crate) print_ir_after_all: bool,
    /// Report a refusal to standard output as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Emit {
    #[command(flatten)]
    pub(crate) kernel: KernelChoice,
    #[command(flatten)]
    pub(crate) schedule: ScheduleChoice,
    /// What to print
    #[arg(long, value_name = "STAGE")]
    pub(crate) stage: Stage,
    /// Write to this file instead of standard output, which is - too
    #[arg(short, long, value_name = "PATH")]
    pub(crate) output: Option<PathBuf>,
    /// Write the static library that programs with such an object are linked with, too: cargo makes
    /// it from the sources of this strew
    #[arg(long, value_name = "PATH")]
    pub(crate) library: Option<PathBuf>,
    /// How float results of the code may depend on the order of combination; stable when left out
    #[arg(long, value_name = "MODE")]
    pub(crate) mode: Option<ModeName>,
    /// What an index out of range does in an object; error when left out
    #[arg(long, value_name = "POLICY")]
    pub(crate) oob: Option<OobName>,
    /// Which processors an object is for; native when left out
    #[arg(long, value_name = "CPU")]
    pub(crate) cpu: Option<CpuName>,
}

#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub(crate) kernel: KernelChoice,
    #[command(flatten)]
    pub(crate) schedule: ScheduleChoice,
    /// Run the kernel, too, and say what was seen of the data and what was taken for it
    #[arg(long)]
    pub(crate) run: bool,
    /// Give a scalar parameter its value for the run
    #[arg(long = "set", value_name = "NAME=VALUE", requires = "run")]
    pub(crate) scalars: Vec<Assignment>,
    /// Fill an array for the run from a file or a generator, as for `strew run`
    #[arg(long = "in", value_name = "NAME=SOURCE", requires = "run")]
    pub(crate) inputs: Vec<Assignment>,
    /// Give the dimensions of an array that no file and no size tells
    #[arg(long = "shape", value_name = "NAME=D,D", requires = "run")]
    pub(crate) shapes: Vec<Assignment>,
    /// Use this many threads for the run; as many as there are cores when left out
    #[arg(long, value_name = "N", requires = "run", allow_negative_numbers = true, value_parser = at_least_one::<std::num::NonZeroUsize>)]
    pub(crate) threads: Option<std::num::NonZeroUsize>,
    /// How float results may depend on the order of combination
    #[arg(long, value_name = "MODE", default_value = "stable")]
    pub(crate) mode: ModeName,
    /// Write a page with source, verdicts, dependences, schedule and run to this file, for a
    /// browser; - is standard output
    #[arg(long, value_name = "PATH", conflicts_with = "json")]
    pub(crate) html: Option<PathBuf>,
    /// Report to standard output as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = INDEXING_EXAMPLE)]
pub(crate) struct Indexing {
    /// A file with HLO-like text, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Print the maps of every instruction instead of those of the root
    #[arg(long)]
    pub(crate) all: bool,
    /// Say how much of each operand is read, how far apart neighbours read, and what a tile of the
    /// result with these sizes reads
    #[arg(long, value_name = "SIZES")]
    pub(crate) tile: Option<TileSizes>,
    /// Report to standard output as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Calibrate {
    /// Print the costs and keep nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the costs to standard output as JSON, as they are kept
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Map {
    #[command(subcommand)]
    pub(crate) command: MapCommand,
}

#[derive(Debug, Subcommand)]
pub(crate) enum MapCommand {
    /// Write maps as small as can be had, with bounds as tight as can be had
    #[command(after_help = SIMPLIFY_EXAMPLE)]
    Simplify(ShapedMaps),
    /// Apply one map after the other: takes pairs, the first applied first
    #[command(after_help = COMPOSE_EXAMPLE)]
    Compose(ShapedMaps),
    /// Apply maps to a point
    #[command(after_help = EVALUATE_EXAMPLE)]
    Evaluate(EvaluateMap),
    /// Print the least and the greatest value of each result
    #[command(after_help = RANGE_EXAMPLE)]
    Range(MapInput),
    /// Print the maps that lead from the results back to the dimensions
    #[command(after_help = INVERT_EXAMPLE)]
    Invert(ShapedMaps),
}

#[derive(Debug, Args)]
pub(crate) struct ShapedMaps {
    #[command(flatten)]
    pub(crate) input: MapInput,
    /// Drop variables that occur nowhere, have one value only, or are equal to another one
    #[arg(long)]
    pub(crate) remove_unused: bool,
}

#[derive(Debug, Args)]
pub(crate) struct EvaluateMap {
    #[command(flatten)]
    pub(crate) input: MapInput,
    /// The values of the variables; those with one value only can be left out
    #[arg(long, value_name = "d0=3,s0=1", allow_hyphen_values = true)]
    pub(crate) at: Option<Point>,
}

#[derive(Debug, Args)]
pub(crate) struct MapInput {
    /// A map, or - for those of standard input, where blank lines stand between them
    #[arg(value_name = "MAP", required = true)]
    pub(crate) maps: Vec<String>,
    /// Answer as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What strew is measured beside.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// The C compiler
    Cc,
    /// The C compiler, which follows the `#pragma omp` lines of the file, or those that would do
    Openmp,
    /// Nothing
    None,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct KernelChoice {
    /// A .c, .nest or .mlir file, or - for standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The kernel, when the file holds several
    #[arg(long = "kernel", value_name = "K")]
    pub(crate) name: Option<String>,
}

#[derive(Clone, Debug, Args)]
pub(crate) struct ScheduleChoice {
    /// Take the schedule from this file, or - for standard input
    #[arg(long = "schedule", value_name = "PATH", conflicts_with = "steps")]
    pub(crate) path: Option<PathBuf>,
    /// Add a step to the schedule, as "unroll(i, 4)"
    #[arg(long = "step", value_name = "STEP")]
    pub(crate) steps: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ModeName {
    /// Any order: the results of float sums may differ from run to run
    Fast,
    /// One order, whatever the number of threads
    Stable,
    /// The order of the serial loop
    Exact,
}

impl From<ModeName> for strew::Mode {
    fn from(name: ModeName) -> Self {
        match name {
            ModeName::Fast => Self::Fast,
            ModeName::Stable => Self::Stable,
            ModeName::Exact => Self::Exact,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum OobName {
    /// It ends the run, and every array is as it was
    Error,
    /// The statement that it is in does nothing
    Skip,
}

impl From<OobName> for strew::Oob {
    fn from(name: OobName) -> Self {
        match name {
            OobName::Error => Self::Error,
            OobName::Skip => Self::Skip,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum CpuName {
    /// Those that have what this one has
    Native,
    /// All of the architecture
    Baseline,
}

impl From<CpuName> for strew::Target {
    fn from(name: CpuName) -> Self {
        match name {
            CpuName::Native => Self::Native,
            CpuName::Baseline => Self::Baseline,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Stage {
    /// The syntax tree of the C source
    Ast,
    /// The kernel text as it comes from the source
    Nest,
    /// The kernel text after the schedule
    Scheduled,
    /// What the code generator is given
    Clif,
    /// The machine code, disassembled
    Asm,
    /// The kernel as MLIR, after the steps that are given
    Mlir,
    /// A relocatable object for C programs, and beside it the header
    Object,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_flags_do_not_contradict_each_other() {
        Arguments::command().debug_assert();
    }
}
