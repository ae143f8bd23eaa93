use crate::settings::{Settings, settings_methods};
use crate::stages::Plan;
use crate::{Error, Program, Source};
use strew_transforms::Schedule;

/// Compiles sources. What is set here holds for every kernel, unless the kernel or the call sets it again.
#[derive(Clone, Debug, Default)]
pub struct Compiler {
    plan: Plan,
    settings: Settings,
}

impl Compiler {
    /// A compiler that finds schedules itself, runs on all cores and gives the same bits at any number of threads.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies `schedule` instead of finding one; an empty one leaves the loops as they were written.
    pub fn schedule(mut self, schedule: Schedule) -> Self {
        self.plan = Plan::Explicit(schedule);
        self
    }

    settings_methods!(settings);

    /// Compiles `source`, the text of the file `name`: kernel text when the name ends in `.nest`, else C.
    ///
    /// # Errors
    /// The errors in the text, all that were found, with their lines.
    pub fn compile(
        &self,
        name: impl Into<String>,
        source: impl Into<String>,
    ) -> Result<Program, Error> {
        let parsed = Source::new(name, source).parse()?;
        Ok(Program::new(
            parsed,
            self.plan.clone(),
            self.settings.clone(),
        ))
    }
}
