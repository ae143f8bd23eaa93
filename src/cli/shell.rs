//! `strew completions` and `strew man`: what shells and `man` need to know of the command line.

use crate::cli::args::{Arguments, Completions, Man};
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use clap::{Command, CommandFactory as _};
use std::path::Path;

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
            .and_then(|()| write_pages(&root, folder))
            .map_err(|error| Failure::file(folder, format!("cannot be written to: {error}")));
    }
    let mut page = &root;
    for name in &flags.command {
        page = page.find_subcommand(name).ok_or_else(|| {
            let names: Vec<_> = page
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            let why = match names.as_slice() {
                [] => format!("`{}` has no commands of its own", page.get_name()),
                names => format!("there are {}", names.join(", ")),
            };
            Failure::usage(format!("there is no command `{name}`; {why}"))
        })?;
    }
    let page = manual_page(page);
    console.data_with(|sink| sink.write_all(page.as_bytes()))
}

/// The pages of a command and of those in it, each in a file of its own.
fn write_pages(command: &Command, folder: &Path) -> std::io::Result<()> {
    let name = command.get_display_name().unwrap_or(command.get_name());
    std::fs::write(folder.join(format!("{name}.1")), manual_page(command))?;
    let mut shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    shown.try_for_each(|it| write_pages(it, folder))
}

/// The page of a command. What makes it leaves the values of options out of the synopsis.
fn manual_page(command: &Command) -> String {
    let mut page = Vec::new();
    // Writing to a vector does not fail.
    let _ = clap_mangen::Man::new(command.clone()).render(&mut page);
    let mut page = String::from_utf8_lossy(&page).into_owned();
    for option in command.get_opts() {
        let names = option.get_value_names().unwrap_or_default();
        let values: Vec<_> = names.iter().map(|it| format!("\\fI<{it}>\\fR")).collect();
        if let Some(long) = option.get_long()
            && !values.is_empty()
        {
            let name = format!("\\-\\-{}\\fR", long.replace('-', "\\-"));
            let (bare, values) = (format!("{name}]"), values.join(" "));
            page = page.replacen(&bare, &format!("{name} {values}]"), 1);
        }
    }
    page
}
