//! The threads that share the work of a call, and the memory they keep warm.

use crate::arena::Arena;
use crate::helpers::{Helpers, LOOKING_OUT};
use crate::pace::Paces;
use crate::portions::Portions;
use crate::{memory, panics};
use rayon::ThreadPool;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

/// The largest number of threads a runtime is made with.
pub const MAX_THREADS: usize = 1024;

/// More threads were asked for than a runtime is made with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyThreads {
    /// How many were asked for.
    pub asked: usize,
}

impl fmt::Display for TooManyThreads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} threads were asked for; at most {MAX_THREADS} are possible",
            self.asked
        )
    }
}

impl std::error::Error for TooManyThreads {}

/// Threads and warm buffers. Clones share both; many calls may use one at the same time.
#[derive(Clone, Debug)]
pub struct Runtime(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    team: Team,
    arena: Arena,
}

impl Runtime {
    /// A runtime with `threads` threads, the calling one among them; as many as the machine has
    /// when `None`.
    ///
    /// No thread is started before a parallel loop needs it, and none at all for one thread.
    ///
    /// # Errors
    /// More than [`MAX_THREADS`].
    pub fn new(threads: Option<NonZeroUsize>) -> Result<Self, TooManyThreads> {
        let threads = threads.map_or_else(all_threads, NonZeroUsize::get);
        if threads > MAX_THREADS {
            return Err(TooManyThreads { asked: threads });
        }
        Ok(Self::own(threads))
    }

    fn own(threads: usize) -> Self {
        Self::from_threads(Threads::Own {
            threads,
            helpers: OnceLock::new(),
        })
    }

    /// A runtime that runs parallel loops on `pool` alone. A thread that calls from outside of the
    /// pool waits for it.
    pub fn with_pool(pool: Arc<ThreadPool>) -> Self {
        Self::from_threads(Threads::Lent(pool))
    }

    /// The runtime that all callers in this process with the same number of threads share; as
    /// [`new`](Self::new) otherwise.
    ///
    /// # Errors
    /// More than [`MAX_THREADS`].
    pub fn shared(threads: Option<NonZeroUsize>) -> Result<&'static Self, TooManyThreads> {
        // Every call looks here, so no lock guards them all.
        static SHARED: [OnceLock<Runtime>; MAX_THREADS + 1] =
            [const { OnceLock::new() }; MAX_THREADS + 1];
        let threads = threads.map_or_else(all_threads, NonZeroUsize::get);
        let shared = SHARED.get(threads);
        let shared = shared.ok_or(TooManyThreads { asked: threads })?;
        Ok(shared.get_or_init(|| Self::own(threads)))
    }

    fn from_threads(threads: Threads) -> Self {
        let team = Team {
            threads,
            paces: Paces::default(),
            created: Instant::now(),
            expected: AtomicU64::new(0),
        };
        let arena = Arena::new(memory::free_bytes() / 4);
        Self(Arc::new(Inner { team, arena }))
    }

    /// How many threads take part in a parallel loop.
    pub fn threads(&self) -> usize {
        self.0.team.threads()
    }

    /// How many bytes of buffers are kept for later calls.
    pub fn kept_bytes(&self) -> u64 {
        self.0.arena.kept_bytes()
    }

    /// Gives the buffers that are kept for later calls back to the system.
    pub fn trim(&self) {
        self.0.arena.shrink(0);
    }

    pub(crate) fn team(&self) -> &Team {
        &self.0.team
    }

    pub(crate) fn arena(&self) -> &Arena {
        &self.0.arena
    }
}

/// Asked of the system once: it reads files of the control group for it, which takes some thirty
/// microseconds.
fn all_threads() -> usize {
    static ALL: OnceLock<usize> = OnceLock::new();
    let ask = || std::thread::available_parallelism().map_or(1, |all| all.get().min(MAX_THREADS));
    *ALL.get_or_init(ask)
}

/// The threads of a runtime.
#[derive(Debug)]
pub(crate) struct Team {
    threads: Threads,
    /// How fast loops ran on them lately.
    paces: Paces,
    created: Instant,
    /// When more work was expected last, in nanoseconds from then.
    expected: AtomicU64,
}

#[derive(Debug)]
enum Threads {
    /// The caller and `threads - 1` helpers, started when they are needed; `None` inside when they
    /// could not be.
    Own {
        threads: usize,
        helpers: OnceLock<Option<Helpers>>,
    },
    /// The threads of a pool that somebody else keeps.
    Lent(Arc<ThreadPool>),
}

impl Team {
    fn threads(&self) -> usize {
        match &self.threads {
            Threads::Own { threads, .. } => *threads,
            Threads::Lent(pool) => pool.current_num_threads(),
        }
    }

    /// The helpers, started if they were not; `None` where there are none.
    fn helpers(&self) -> Option<&Helpers> {
        match &self.threads {
            Threads::Own { threads, helpers } if *threads > 1 => helpers
                .get_or_init(|| Helpers::start(threads - 1, all_threads()))
                .as_ref(),
            Threads::Own { .. } | Threads::Lent(_) => None,
        }
    }

    /// How fast loops ran lately.
    pub(crate) fn paces(&self) -> &Paces {
        &self.paces
    }

    /// Whether a thread looks out for work, so that little of it is worth sharing.
    pub(crate) fn is_awake(&self) -> bool {
        match &self.threads {
            Threads::Own { helpers, .. } => {
                let started = helpers.get().and_then(Option::as_ref);
                started.is_some_and(Helpers::are_awake)
            }
            Threads::Lent(_) => false,
        }
    }

    /// Is told of work that is too little to wake a thread for. Where there was some a moment ago,
    /// too, it wakes one: what comes twice will come again.
    pub(crate) fn expect_more(&self) {
        let now = u64::try_from(self.created.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let before = self.expected.swap(now, Ordering::Relaxed);
        let passed = Duration::from_nanos(now.saturating_sub(before));
        if passed < LOOKING_OUT
            && before > 0
            && let Some(helpers) = self.helpers()
        {
            helpers.wake();
        }
    }

    /// Calls `work` once with each number below `tasks`, and returns when all calls have. A panic
    /// in one of them goes on in the caller after the others have ended. Of tasks that are shared
    /// again, each thread gets those that it had before.
    pub(crate) fn for_each(&self, tasks: usize, work: &(dyn Fn(usize) + Sync)) {
        let few = u32::try_from(tasks).ok();
        let (Some(few), true) = (few, tasks > 1 && self.threads() > 1) else {
            return (0..tasks).for_each(work);
        };
        let (noted, is_noted) = (Mutex::new(None), AtomicBool::new(false));
        // After a panic of a combiner, tasks that begin later call none.
        let work = |task: u32| {
            let is_after = is_noted.load(Ordering::Relaxed);
            let before = is_after.then(|| memory::lock(&noted).clone()).flatten();
            let ((), after) = panics::collect(before, || work(task as usize));
            if let Some(note) = after {
                memory::lock(&noted).get_or_insert(note);
                is_noted.store(true, Ordering::Relaxed);
            }
        };
        let threads = self.threads().min(tasks);
        let portions = Portions::new(few, threads);
        self.share(threads, &|thread| portions.take(thread, work));
        panics::pass_on(noted.into_inner().unwrap_or_default());
    }

    /// Calls `work` on up to `threads` threads, with the number of each.
    fn share(&self, threads: usize, work: &(dyn Fn(usize) + Sync)) {
        match &self.threads {
            Threads::Own { .. } => match self.helpers() {
                Some(helpers) => helpers.share(threads - 1, work),
                None => work(0),
            },
            Threads::Lent(pool) => share_in(pool, threads, work),
        }
    }
}

/// Calls `work` on up to `threads` threads of `pool`. A caller that is one of them works too: it
/// would have to wait on its own pool otherwise.
fn share_in(pool: &ThreadPool, threads: usize, work: &(dyn Fn(usize) + Sync)) {
    let number = || pool.current_thread_index();
    let caller = number();
    pool.in_place_scope(|scope| {
        for _ in usize::from(caller.is_some())..threads {
            scope.spawn(|_| work(number().unwrap_or(0)));
        }
        if let Some(caller) = caller {
            work(caller);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use rayon::ThreadPoolBuilder;
    use std::sync::atomic::AtomicU32;

    fn runtime(threads: usize) -> Runtime {
        Runtime::new(NonZeroUsize::new(threads)).unwrap()
    }

    fn counts(runtime: &Runtime, tasks: usize) -> Vec<u32> {
        let counts: Vec<_> = (0..tasks).map(|_| AtomicU32::new(0)).collect();
        runtime.team().for_each(tasks, &|task| {
            counts[task].fetch_add(1, Ordering::Relaxed);
        });
        counts.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_task_runs_once() {
        for threads in [1, 2, 3, 8] {
            let runtime = runtime(threads);
            for tasks in [0, 1, 2, 7, 100] {
                assert_eq!(counts(&runtime, tasks), vec![1; tasks]);
            }
        }
    }

    #[test]
    fn tasks_may_share_out_tasks_of_their_own() {
        let runtime = runtime(4);
        let total = AtomicU32::new(0);
        runtime.team().for_each(9, &|_| {
            runtime.team().for_each(11, &|_| {
                total.fetch_add(1, Ordering::Relaxed);
            });
        });
        assert_eq!(total.into_inner(), 99);
    }

    #[test]
    fn a_lent_pool_does_all_the_work() {
        let pool = Arc::new(ThreadPoolBuilder::new().num_threads(3).build().unwrap());
        let runtime = Runtime::with_pool(Arc::clone(&pool));
        assert_eq!(runtime.threads(), 3);
        runtime.team().for_each(50, &|_| {
            assert!(pool.current_thread_index().is_some());
        });
        pool.install(|| assert_eq!(counts(&runtime, 20), vec![1; 20]));
    }

    #[test]
    fn a_panic_reaches_the_caller_and_the_team_stays_usable() {
        let runtime = runtime(2);
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            runtime.team().for_each(8, &|task| assert_ne!(task, 5));
        }));
        assert!(caught.is_err());
        assert_eq!(counts(&runtime, 8), vec![1; 8]);
    }

    #[test]
    fn shared_runtimes_are_one() {
        let threads = NonZeroUsize::new(3);
        let (first, second) = (Runtime::shared(threads), Runtime::shared(threads));
        assert!(Arc::ptr_eq(&first.unwrap().0, &second.unwrap().0));
    }

    #[test]
    fn too_many_threads_are_refused() {
        let refused = Runtime::new(NonZeroUsize::new(MAX_THREADS + 1)).unwrap_err();
        assert_eq!(refused.asked, MAX_THREADS + 1);
        assert!(refused.to_string().contains("at most 1024"));
    }

    #[test]
    fn threads_start_when_they_are_needed() {
        let runtime = runtime(2);
        counts(&runtime, 1);
        runtime.team().expect_more();
        let started = |runtime: &Runtime| match &runtime.team().threads {
            Threads::Own { helpers, .. } => helpers.get().is_some(),
            Threads::Lent(_) => true,
        };
        assert!(!started(&runtime));
        counts(&runtime, 2);
        assert!(started(&runtime));
    }
}
