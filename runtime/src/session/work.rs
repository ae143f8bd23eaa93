//! How far a call is.

use super::Session;
use crate::abi::{ForallCall, Work};
use crate::settings::Progress;
use std::sync::atomic::Ordering;

impl<'r> Session<'r> {
    /// Where is counted how far the call is.
    pub(crate) fn work(&self) -> &'r Work {
        let progress = self.settings().progress.as_ref();
        progress.map_or(self.unseen(), Progress::work)
    }

    /// Where is counted what is no step towards the end of the call.
    pub(crate) fn unseen(&self) -> &'r Work {
        &self.shared.unseen
    }

    /// How much is done.
    pub(crate) fn work_done(&self) -> u64 {
        self.work().done.load(Ordering::Relaxed)
    }

    /// Forgets what was done since [`work_done`](Self::work_done) said `done`, for a forall that
    /// begins anew.
    pub(crate) fn begin_again(&self, done: u64) {
        if !self.is_nested {
            self.work().done.store(done, Ordering::Relaxed);
        }
    }

    /// Counts all as done: some of what a strategy did besides was not told, nor were the last
    /// turns of loops.
    pub(crate) fn end_work(&self) {
        if let Some(progress) = &self.settings().progress {
            let work = progress.work();
            let total = work.total.load(Ordering::Relaxed);
            work.done.fetch_max(total, Ordering::Relaxed);
        }
    }

    /// Counts the iterations of a forall that begins, unless they are part of those of another.
    pub(crate) fn begin_work(&self, forall: &ForallCall) {
        if !self.is_nested {
            self.work()
                .total
                .fetch_add(forall.work(), Ordering::Relaxed);
        }
    }
}
