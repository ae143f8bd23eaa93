//! The threads that share the work of a call, and the memory they keep warm.

use crate::arena::Arena;
use crate::{memory, panics};
use crossbeam::utils::{Backoff, CachePadded};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

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
    /// A runtime with `threads` threads, the calling one among them; as many as the machine has when `None`.
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
        Ok(Self::from_team(Team::Own {
            threads,
            helpers: OnceLock::new(),
        }))
    }

    /// A runtime that runs parallel loops on `pool` alone. A thread that calls from outside of the pool waits for it.
    pub fn with_pool(pool: Arc<ThreadPool>) -> Self {
        Self::from_team(Team::Lent(pool))
    }

    /// The runtime that all callers in this process with the same number of threads share; as [`new`](Self::new) otherwise.
    ///
    /// # Errors
    /// More than [`MAX_THREADS`].
    pub fn shared(threads: Option<NonZeroUsize>) -> Result<Self, TooManyThreads> {
        static SHARED: Mutex<BTreeMap<usize, Runtime>> = Mutex::new(BTreeMap::new());
        let threads = threads.or_else(|| NonZeroUsize::new(all_threads()));
        let number = threads.map_or(1, NonZeroUsize::get);
        let mut shared = memory::lock(&SHARED);
        if let Some(runtime) = shared.get(&number) {
            return Ok(runtime.clone());
        }
        let runtime = Self::new(threads)?;
        shared.insert(number, runtime.clone());
        Ok(runtime)
    }

    fn from_team(team: Team) -> Self {
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

/// Asked of the system once: it reads files of the control group for it, which takes some thirty microseconds.
fn all_threads() -> usize {
    static ALL: OnceLock<usize> = OnceLock::new();
    let ask = || std::thread::available_parallelism().map_or(1, |all| all.get().min(MAX_THREADS));
    *ALL.get_or_init(ask)
}

/// The threads of a runtime.
#[derive(Debug)]
pub(crate) enum Team {
    /// The caller and `threads - 1` helpers, started when they are needed; `None` inside when they could not be.
    Own {
        threads: usize,
        helpers: OnceLock<Option<ThreadPool>>,
    },
    /// The threads of a pool that somebody else keeps.
    Lent(Arc<ThreadPool>),
}

impl Team {
    fn threads(&self) -> usize {
        match self {
            Self::Own { threads, .. } => *threads,
            Self::Lent(pool) => pool.current_num_threads(),
        }
    }

    /// The pool, how many of its threads may help with `tasks` tasks, and whether the caller takes tasks too.
    ///
    /// A caller that is a thread of the pool always works: it would have to wait on its own pool otherwise.
    fn helpers(&self, tasks: usize) -> Option<(&ThreadPool, usize, bool)> {
        if tasks < 2 || self.threads() < 2 {
            return None;
        }
        let (pool, caller_works) = match self {
            Self::Own { threads, helpers } => {
                let pool = helpers.get_or_init(|| start(threads - 1)).as_ref()?;
                (pool, true)
            }
            Self::Lent(pool) => (&**pool, pool.current_thread_index().is_some()),
        };
        let callers = usize::from(caller_works);
        Some((pool, self.threads().min(tasks) - callers, caller_works))
    }

    /// Calls `work` once with each number below `tasks`, in rising order where one thread takes several, and returns when all
    /// calls have. A panic in one of them goes on in the caller after the others have ended.
    pub(crate) fn for_each(&self, tasks: usize, work: &(dyn Fn(usize) + Sync)) {
        let Some((pool, helpers, caller_works)) = self.helpers(tasks) else {
            return (0..tasks).for_each(work);
        };
        let (noted, is_noted) = (Mutex::new(None), AtomicBool::new(false));
        // After a panic of a combiner, tasks that begin later call none.
        let work = |task: usize| {
            let is_after = is_noted.load(Ordering::Relaxed);
            let before = is_after.then(|| memory::lock(&noted).clone()).flatten();
            let ((), after) = panics::collect(before, || work(task));
            if let Some(note) = after {
                memory::lock(&noted).get_or_insert(note);
                is_noted.store(true, Ordering::Relaxed);
            }
        };
        let next = CachePadded::new(AtomicUsize::new(0));
        let ended = CachePadded::new(AtomicUsize::new(0));
        let take_tasks = || {
            loop {
                let task = next.fetch_add(1, Ordering::Relaxed);
                if task >= tasks {
                    return;
                }
                work(task);
            }
        };
        pool.in_place_scope(|scope| {
            for _ in 0..helpers {
                scope.spawn(|_| {
                    take_tasks();
                    ended.fetch_add(1, Ordering::Release);
                });
            }
            if caller_works {
                take_tasks();
                wait_a_little(|| ended.load(Ordering::Acquire) == helpers);
            }
        });
        panics::pass_on(noted.into_inner().unwrap_or_default());
    }
}

fn start(threads: usize) -> Option<ThreadPool> {
    ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|number| format!("strew-{number}"))
        .build()
        .ok()
}

/// To sleep and be woken costs more than the ends of well balanced tasks lie apart; so look for a while first.
fn wait_a_little(is_over: impl Fn() -> bool) {
    let backoff = Backoff::new();
    while !is_over() && !backoff.is_completed() {
        backoff.snooze();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let started = |runtime: &Runtime| match runtime.team() {
            Team::Own { helpers, .. } => helpers.get().is_some(),
            Team::Lent(_) => true,
        };
        assert!(!started(&runtime));
        counts(&runtime, 2);
        assert!(started(&runtime));
    }
}
