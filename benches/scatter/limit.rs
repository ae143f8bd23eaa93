//! How long a strategy takes at least, because memory gives and takes no more bytes a second.

use crate::measure::Measurement;
use crate::peers::Bandwidth;
use strew::Record;

/// Bytes that a run reads from memory, and writes to it, at least.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) read: u64,
    pub(crate) write: u64,
}

impl Traffic {
    /// Every input is read; private memory is written and read once (bins, or copies that are
    /// filled and merged); outputs are read and written once, however often an update comes back to
    /// a cache line.
    pub(crate) fn of(measurement: &Measurement, record: &Record) -> Self {
        let (inputs, outputs) = measurement.bytes;
        let (inputs, outputs) = (inputs as u64, outputs as u64);
        let passes = measurement.passes as u64;
        Self {
            read: (inputs + record.private_bytes + outputs) * passes,
            write: (record.private_bytes + outputs) * passes,
        }
    }

    /// Nanoseconds that this takes.
    pub(crate) fn time(self, bandwidth: Bandwidth) -> f64 {
        self.read as f64 / bandwidth.read + self.write as f64 / bandwidth.write
    }
}
