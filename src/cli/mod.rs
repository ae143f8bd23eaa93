//! One file for each command, and what they share. The only part of strew that prints.

mod args;
mod array;
mod bench;
mod calibrate;
mod calibration;
mod check;
mod circumstances;
mod console;
mod data;
mod decimal;
mod emit;
mod examples;
mod excerpt;
mod explain;
mod explain_report;
mod failure;
mod generate;
mod html;
mod indexing;
mod indexing_report;
mod inputs;
mod interrupt;
mod job;
mod library;
mod load;
mod map;
mod npy;
mod opt;
mod outputs;
mod progress;
mod report;
mod run;
mod shell;
mod sources;
mod statistics;
mod summary;
mod tune;
mod version;

use args::{Arguments, Command};
use clap::Parser;
use console::Console;
use failure::Failure;
use std::process::ExitCode;

/// The exit status of a defect, from BSD's `sysexits.h`.
const SOFTWARE: u8 = 70;

/// Runs the command that the process was started with.
pub(crate) fn main() -> ExitCode {
    let mut console = Console::new();
    // Nothing that a panic may leave half done is used afterwards.
    let run = std::panic::AssertUnwindSafe(|| match Arguments::try_parse() {
        // Help, or what is wrong with the flags.
        Err(message) => console.of_flags(&message),
        Ok(arguments) => match &arguments.command {
            Some(it) => command(it, &mut console),
            // Without a command and without flags, that was the help.
            None => console.data(&version::text()),
        },
    });
    let outcome = std::panic::catch_unwind(run);
    match outcome {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(failure)) => {
            console.complain(&failure);
            if failure.is_stop() {
                interrupt::end_if_stopped();
            }
            ExitCode::from(failure.status())
        }
        Err(_) => {
            console.talk("this is a defect of strew; please report it together with the kernel");
            ExitCode::from(SOFTWARE)
        }
    }
}

fn command(command: &Command, console: &mut Console) -> Result<(), Failure> {
    match command {
        Command::Run(flags) => run::run(flags, console),
        Command::Check(flags) => check::check(flags, console),
        Command::Opt(flags) => opt::opt(flags, console),
        Command::Emit(flags) => emit::emit(flags, console),
        Command::Explain(flags) => explain::explain(flags, console),
        Command::Indexing(flags) => indexing::indexing(flags, console),
        Command::Bench(flags) => bench::bench(flags, console),
        Command::Tune(flags) => tune::tune(flags, console),
        Command::Completions(flags) => shell::completions(flags, console),
        Command::Man(flags) => shell::man(flags, console),
        Command::Calibrate(flags) => calibrate::calibrate(flags, console),
        Command::Map(flags) => map::map(flags, console),
    }
}
