//! What a schedule is for.

/// What is known about the machine that a schedule is for.
///
/// Nothing in it may change a result: the number of chunks, which decides how float sums are
/// grouped, does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// How many index loads and updates to keep in flight at once, in one turn of an unrolled loop.
    pub updates_in_flight: u64,
}

impl Default for Machine {
    /// Four: enough to hide the latency of a load that hits the first level of cache.
    fn default() -> Self {
        Self {
            updates_in_flight: 4,
        }
    }
}
