//! The command line of strew: parses flags, runs one command, turns its outcome into an exit
//! status.
#![forbid(unsafe_code)]

mod cli;

fn main() -> std::process::ExitCode {
    cli::main()
}
