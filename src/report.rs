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
    /// Strategy, threads, memory, updates and times.
    pub record: Record,
    /// The value that the call returned, if the kernel returns one.
    pub returned: Option<Value>,
}
