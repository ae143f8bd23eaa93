//! What a command reads, that nothing which it writes takes the place of it.

use crate::cli::args::{Assignment, KernelChoice, ScheduleChoice};
use crate::cli::console::is_standard_output;
use crate::cli::data::DataFile;
use crate::cli::failure::Failure;
use crate::cli::generate::Generator;
use crate::cli::outputs::place;
use std::path::{Path, PathBuf};

/// The files that a command reads, each with what comes from it.
#[derive(Debug)]
pub(crate) struct Sources(Vec<(String, PathBuf)>);

impl Sources {
    /// The file of a kernel.
    pub(crate) fn of(kernel: &KernelChoice) -> Self {
        Self(vec![("the kernel".to_owned(), kernel.file.clone())])
    }

    /// And that of its schedule.
    pub(crate) fn and_schedule(mut self, schedule: &ScheduleChoice) -> Self {
        let path = schedule.path.iter().cloned();
        self.0
            .extend(path.map(|it| ("the schedule".to_owned(), it)));
        self
    }

    /// And those of its data.
    pub(crate) fn and_inputs(mut self, inputs: &[Assignment]) -> Self {
        let files = inputs.iter().filter_map(|it| {
            if Generator::parse(&it.text).is_some() {
                return None;
            }
            let file = DataFile::parse(&it.text).ok()?;
            Some((format!("--in {}", it.name), file.on_disk()?.to_owned()))
        });
        self.0.extend(files);
        self
    }

    /// That what `flag` writes to `output` overwrites none of them.
    pub(crate) fn are_spared_by(&self, flag: &str, output: &Path) -> Result<(), Failure> {
        if is_standard_output(output) {
            return Ok(());
        }
        let Ok(target) = place(output) else {
            // Whoever writes says why it cannot.
            return Ok(());
        };
        let is_target =
            |path: &Path| !is_standard_output(path) && place(path).is_ok_and(|it| it == target);
        let overwritten = self.0.iter().find(|(_, path)| is_target(path));
        overwritten.map_or(Ok(()), |(what, _)| {
            let why = format!("would be overwritten by {flag}, but {what} is read from it");
            Err(Failure::file(output, why))
        })
    }
}
