//! `strew completions` and `strew man`: what shells and `man` need to know of the command line.

use crate::cli::args::{Arguments, Completions, Man};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use clap::CommandFactory as _;

pub(crate) fn completions(flags: &Completions, console: &mut Console) -> Result<(), Failure> {
    // What writes the script takes no errors: a closed pipe is for the console.
    let mut script = Vec::new();
    clap_complete::generate(flags.shell, &mut Arguments::command(), "strew", &mut script);
    console.data_with(|sink| sink.write_all(&script))
}

pub(crate) fn man(flags: &Man, console: &mut Console) -> Result<(), Failure> {
    let mut root = Arguments::command().disable_help_subcommand(true);
    root.build();
    if let Some(folder) = &flags.folder {
        return std::fs::create_dir_all(folder)
            .and_then(|()| clap_mangen::generate_to(root, folder))
            .map_err(|error| Failure::file(folder, format!("cannot be written to: {error}")));
    }
    let mut page = &root;
    for name in &flags.command {
        page = page.find_subcommand(name).ok_or_else(|| {
            let names: Vec<_> = page
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            let names = names.join(", ");
            Failure::usage(format!("there is no command `{name}`; there are {names}"))
        })?;
    }
    let page = clap_mangen::Man::new(page.clone());
    console.data_with(|sink| page.render(sink))
}
