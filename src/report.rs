use std::time::Duration;
use strew_affine::Value;
use strew_runtime::{Mode, Record};

/// What a call did.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The kernel.
    pub kernel: String,
    /// Which results were good enough.
    pub mode: Mode,
    /// The steps of the schedule, in order.
    pub schedule: Vec<String>,
    /// The time to make the machine code, which later calls of the same kernel do not spend again.
    pub compile: Duration,
    /// The sizes that the code of this call was made for, each by its name, where it was for these
    /// alone.
    pub sizes: Vec<(String, i64)>,
    /// Strategy, threads, memory, updates and times.
    pub record: Record,
    /// The condition that the arguments of this call did not keep, so that the kernel ran in its
    /// exact version, which assumes nothing.
    pub assumption: Option<String>,
    /// Why it did not run under the schedule that was asked for or found, where it did not: a step
    /// that its exact version cannot have, sizes with which what a step computes leaves 64 bits, or
    /// a budget that has no room for its local arrays.
    pub dropped: Option<String>,
    /// The value that the call returned, if the kernel returns one.
    pub returned: Option<Value>,
}

impl Report {
    /// Why the kernel ran as it did, in words.
    pub fn why(&self) -> String {
        let why = &self.record.why;
        let assumed =
            |condition| format!("{why}; `{condition}` does not hold, so nothing was assumed");
        match (&self.assumption, &self.dropped) {
            (None, None) => why.to_string(),
            (None, Some(dropped)) => format!("{why}; the schedule was dropped: {dropped}"),
            (Some(condition), None) => assumed(condition),
            (Some(condition), Some(dropped)) => {
                format!(
                    "{}, and the schedule was dropped: {dropped}",
                    assumed(condition)
                )
            }
        }
    }
}
