use std::num::NonZeroUsize;
use std::sync::Arc;
use strew_runtime::{Runtime, Settings as RuntimeSettings, TooManyThreads};

/// Where a call runs and how.
#[derive(Clone, Debug, Default)]
pub(crate) struct Settings {
    pub(crate) runtime: RuntimeSettings,
    pub(crate) workers: Workers,
    pub(crate) oob: strew_jit::Oob,
}

/// Whose threads a call uses.
#[derive(Clone, Debug)]
pub(crate) enum Workers {
    /// This many; as many as there are cores when `None`.
    Threads(Option<NonZeroUsize>),
    /// Those of a pool that the caller keeps.
    Pool(Runtime),
}

impl Default for Workers {
    fn default() -> Self {
        Self::Threads(None)
    }
}

impl Workers {
    /// A caller's count, 0 meaning all cores.
    pub(crate) fn threads(count: usize) -> Self {
        Self::Threads(NonZeroUsize::new(count))
    }

    /// The threads to run on, started when they are first used and kept for all calls of the
    /// process.
    pub(crate) fn runtime(&self) -> Result<&Runtime, TooManyThreads> {
        match self {
            Self::Threads(count) => Runtime::shared(*count),
            Self::Pool(runtime) => Ok(runtime),
        }
    }

    /// The threads of `pool`.
    pub(crate) fn pool(pool: Arc<rayon::ThreadPool>) -> Self {
        Self::Pool(Runtime::with_pool(pool))
    }
}

/// The methods that set how calls run: the same on the compiler, on a kernel and on a single call,
/// each of which has `settings_mut`.
macro_rules! settings_methods {
    () => {
        /// How float results may depend on the order of combination;
        /// [`Mode::Stable`](crate::Mode::Stable) unless set.
        pub fn mode(mut self, mode: $crate::Mode) -> Self {
            self.settings_mut().runtime.mode = mode;
            self
        }

        /// How conflicting updates meet; found at run time unless set.
        pub fn strategy(mut self, strategy: $crate::Strategy) -> Self {
            self.settings_mut().runtime.strategy = strategy;
            self
        }

        /// How updates are combined; found at run time unless set.
        pub fn body(mut self, body: $crate::Body) -> Self {
            self.settings_mut().runtime.body = body;
            self
        }

        /// At most this many bytes for private buffers, local arrays and copies; a quarter of what
        /// is free unless set.
        pub fn memory(mut self, bytes: u64) -> Self {
            self.settings_mut().runtime.memory = Some(bytes);
            self
        }

        /// What an index out of range does: [`Oob::Error`]($crate::Oob::Error), an error that
        /// leaves every array as it was, unless set.
        pub fn oob(mut self, oob: $crate::Oob) -> Self {
            self.settings_mut().oob = oob;
            self
        }

        /// The number of threads; as many as there are cores unless set, or when 0.
        pub fn threads(mut self, count: usize) -> Self {
            self.settings_mut().workers = $crate::settings::Workers::threads(count);
            self
        }

        /// Runs on the threads of `pool`.
        pub fn pool(mut self, pool: std::sync::Arc<rayon::ThreadPool>) -> Self {
            self.settings_mut().workers = $crate::settings::Workers::pool(pool);
            self
        }

        /// What work is expected to cost, which chooses among strategies with the same bits; as on
        /// a usual machine unless set.
        pub fn calibration(mut self, costs: $crate::Calibration) -> Self {
            self.settings_mut().runtime.machine.costs = costs;
            self
        }

        /// Tells `progress` how far it is, for another thread to look at.
        pub fn progress(mut self, progress: $crate::Progress) -> Self {
            self.settings_mut().runtime.progress = Some(progress);
            self
        }

        /// Tells `timeline` which thread is at work when.
        pub fn timeline(mut self, timeline: $crate::Timeline) -> Self {
            self.settings_mut().runtime.timeline = Some(timeline);
            self
        }

        /// Ends early when `token` is set from another thread. All arrays are then as they were,
        /// unless the token is [abandoning]($crate::StopToken::abandoning).
        pub fn cancel(mut self, token: $crate::StopToken) -> Self {
            self.settings_mut().runtime.stop = Some(token);
            self
        }
    };
}
pub(crate) use settings_methods;
