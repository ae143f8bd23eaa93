//! Threads that take part in work of others, and look out for more of it for a while before they
//! sleep.
//!
//! To wake a thread takes tens of microseconds, as long as many a loop. So a thread that has run
//! out of work stays awake for a little, and whoever has work shares it without waiting: who comes
//! too late finds it done, and nobody waits for threads that have not begun.

use crate::memory;
use crate::processor::Occupied;
use crossbeam::utils::CachePadded;
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::any::Any;
use std::fmt;
use std::hint;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// So long a helper without work looks out for some: kernels that are called one after the other
/// find it awake.
pub(crate) const LOOKING_OUT: Duration = Duration::from_micros(200);

/// So long one whose own part is done looks whether its helpers have ended, before it sleeps: about
/// what it takes to be woken.
const PATIENCE: Duration = Duration::from_micros(50);

/// Threads that help.
#[derive(Debug)]
pub(crate) struct Helpers {
    pool: ThreadPool,
    board: Arc<Board>,
}

/// Where work is offered. Numbers that several look at are changed in one order for all of them:
/// one who goes to sleep and one who offers work cannot miss each other.
#[derive(Debug)]
struct Board {
    offers: Mutex<Vec<Arc<Offer>>>,
    /// How many more helpers all offers want.
    wanted: CachePadded<AtomicUsize>,
    /// How many helpers look out.
    idle: CachePadded<AtomicUsize>,
    /// How many do not sleep: these, those at work, and those that are about to wake up.
    awake: AtomicUsize,
    /// Where the one runs who called for help last: helpers look out and work somewhere else.
    caller: Occupied,
    /// How many there are.
    helpers: usize,
    /// How long a helper looks out.
    looking_out: Duration,
}

/// What several threads do together, each with a number: 0 for the one who asked for help, from 1
/// on for helpers.
type Work<'w> = dyn Fn(usize) + Sync + 'w;

/// Work in which others may take part.
struct Offer {
    work: &'static Work<'static>,
    /// How many more may. It changes while the offers are locked.
    wanted: AtomicUsize,
    /// How many have begun and not ended.
    inside: AtomicUsize,
    /// The first panic of those.
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    ended: Condvar,
}

impl fmt::Debug for Offer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wanted = self.wanted.load(Ordering::Relaxed);
        f.debug_struct("Offer").field("wanted", &wanted).finish()
    }
}

impl Helpers {
    /// So many threads, which sleep. They look out for work only where `cores` are enough for them
    /// and one who asks for help. `None` when threads cannot be started.
    pub(crate) fn start(helpers: usize, cores: usize) -> Option<Self> {
        let pool = ThreadPoolBuilder::new()
            .num_threads(helpers)
            .thread_name(|number| format!("strew-{number}"))
            .build()
            .ok()?;
        let looking_out = match helpers < cores {
            true => LOOKING_OUT,
            false => Duration::ZERO,
        };
        let board = Board {
            offers: Mutex::default(),
            wanted: CachePadded::default(),
            idle: CachePadded::default(),
            awake: AtomicUsize::new(0),
            caller: Occupied::default(),
            helpers,
            looking_out,
        };
        Some(Self {
            pool,
            board: Arc::new(board),
        })
    }

    /// Whether one of them looks out for work right now.
    pub(crate) fn are_awake(&self) -> bool {
        self.board.idle.load(Ordering::Relaxed) > 0
    }

    /// Wakes one for work that is soon to come, unless it would sleep again at once.
    pub(crate) fn wake(&self) {
        if !self.board.looking_out.is_zero() {
            self.call(1);
        }
    }

    /// Calls `work` on this thread and, while it runs, on up to `wanted` helpers; returns when all
    /// calls have. A panic of one of them goes on here, after the others have ended.
    pub(crate) fn share(&self, wanted: usize, work: &Work<'_>) {
        // SAFETY: helpers call the work only while they are inside of the offer. Dropping `open`,
        // which happens before this function returns or unwinds, takes the offer down, so that
        // nobody enters any more, and waits until nobody is inside.
        let for_helpers = unsafe { std::mem::transmute::<&Work<'_>, &'static Work<'static>>(work) };
        let open = Open {
            board: &self.board,
            offer: self.board.put_up(wanted, for_helpers),
        };
        self.call(wanted);
        work(0);
        let offer = Arc::clone(&open.offer);
        drop(open);
        let panic = memory::lock(&offer.panic).take();
        if let Some(panic) = panic {
            resume_unwind(panic);
        }
    }

    /// Wakes as many as are missing of `wanted` that look out.
    fn call(&self, wanted: usize) {
        // One who helps others and calls for help himself would send helpers to whom he helps.
        if self.pool.current_thread_index().is_none() {
            self.board.caller.by_this_thread();
        }
        let idle = self.board.idle.load(Ordering::SeqCst);
        let mut has_called = false;
        for _ in idle..wanted {
            if !self.board.gets_up() {
                break;
            }
            let board = Arc::clone(&self.board);
            self.pool.spawn(move || board.help());
            has_called = true;
        }
        if has_called {
            // One that was woken on the processor of this thread would wait for milliseconds to get
            // there; now it leaves at once.
            std::thread::yield_now();
        }
    }
}

impl Board {
    fn put_up(&self, wanted: usize, work: &'static Work<'static>) -> Arc<Offer> {
        let offer = Arc::new(Offer {
            work,
            wanted: AtomicUsize::new(wanted),
            inside: AtomicUsize::new(0),
            panic: Mutex::default(),
            ended: Condvar::new(),
        });
        let mut offers = memory::lock(&self.offers);
        offers.push(Arc::clone(&offer));
        self.wanted.fetch_add(wanted, Ordering::SeqCst);
        offer
    }

    fn take_down(&self, offer: &Arc<Offer>) {
        let mut offers = memory::lock(&self.offers);
        offers.retain(|it| !Arc::ptr_eq(it, offer));
        let unmet = offer.wanted.swap(0, Ordering::Relaxed);
        self.wanted.fetch_sub(unmet, Ordering::SeqCst);
    }

    /// Counts one more that does not sleep, if one does.
    fn gets_up(&self) -> bool {
        let count = |awake| (awake < self.helpers).then_some(awake + 1);
        let counted = self
            .awake
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, count);
        counted.is_ok()
    }

    /// What a helper does that has been woken.
    fn help(&self) {
        let number = rayon::current_thread_index().map_or(0, |it| it + 1);
        loop {
            self.idle.fetch_add(1, Ordering::SeqCst);
            let offer = self.look_out();
            self.idle.fetch_sub(1, Ordering::SeqCst);
            if let Some(offer) = offer {
                self.caller.keep_away();
                offer.take_part(number);
                continue;
            }
            self.awake.fetch_sub(1, Ordering::SeqCst);
            // Whoever offered something in between took this thread for one that looks out.
            if self.wanted.load(Ordering::SeqCst) == 0 || !self.gets_up() {
                return;
            }
        }
    }

    /// Looks for an offer for a while.
    fn look_out(&self) -> Option<Arc<Offer>> {
        let mut offer = None;
        look_until(
            self.looking_out,
            || self.caller.keep_away(),
            || {
                if self.wanted.load(Ordering::SeqCst) > 0 {
                    offer = self.join();
                }
                offer.is_some()
            },
        );
        offer
    }

    /// Enters the first offer that wants somebody.
    fn join(&self) -> Option<Arc<Offer>> {
        let offers = memory::lock(&self.offers);
        let mut all = offers.iter();
        let offer = all.find(|it| it.wanted.load(Ordering::Relaxed) > 0)?;
        offer.wanted.fetch_sub(1, Ordering::Relaxed);
        offer.inside.fetch_add(1, Ordering::Relaxed);
        self.wanted.fetch_sub(1, Ordering::SeqCst);
        Some(Arc::clone(offer))
    }
}

impl Offer {
    /// What one does who has entered.
    fn take_part(&self, number: usize) {
        let done = catch_unwind(AssertUnwindSafe(|| (self.work)(number)));
        let mut panic = memory::lock(&self.panic);
        if let Err(message) = done {
            panic.get_or_insert(message);
        }
        // Under the lock, so that nobody who has seen the others inside goes to sleep behind this.
        self.inside.fetch_sub(1, Ordering::Release);
        self.ended.notify_all();
    }

    /// Waits for all who have entered; nobody may enter any more.
    fn wait(&self) {
        let is_over = || self.inside.load(Ordering::Acquire) == 0;
        if look_until(PATIENCE, || {}, is_over) {
            return;
        }
        let mut panic = memory::lock(&self.panic);
        while !is_over() {
            let woken = self.ended.wait(panic);
            panic = woken.unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// An offer that is on the board.
struct Open<'b> {
    board: &'b Board,
    offer: Arc<Offer>,
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.board.take_down(&self.offer);
        self.offer.wait();
    }
}

/// Looks whether something is over, at least once and for so long at most, and says whether it is.
/// Other threads that could run here get their turn; `settle` is called now and then, and first.
fn look_until(most: Duration, settle: impl Fn(), mut is_over: impl FnMut() -> bool) -> bool {
    let mut since = None;
    loop {
        settle();
        for _ in 0..LOOKS {
            if is_over() {
                return true;
            }
            hint::spin_loop();
        }
        if since.get_or_insert_with(Instant::now).elapsed() >= most {
            return is_over();
        }
        std::thread::yield_now();
    }
}

/// So many looks lie between two at the clock.
const LOOKS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn helpers(count: usize) -> Helpers {
        Helpers::start(count, 64).unwrap()
    }

    /// Offers work for as many, which ends when all have begun.
    fn meet(helpers: &Helpers, wanted: usize) {
        let begun = AtomicUsize::new(0);
        helpers.share(wanted, &|_| {
            begun.fetch_add(1, Ordering::Relaxed);
            while begun.load(Ordering::Relaxed) <= wanted {
                std::thread::yield_now();
            }
        });
        assert_eq!(begun.into_inner(), wanted + 1);
    }

    #[test]
    fn as_many_take_part_as_are_wanted() {
        let helpers = helpers(3);
        for wanted in [0, 1, 3, 2] {
            meet(&helpers, wanted);
        }
    }

    #[test]
    fn helpers_that_went_to_sleep_wake_up_again() {
        let helpers = helpers(2);
        for _ in 0..3 {
            meet(&helpers, 2);
            std::thread::sleep(LOOKING_OUT * 20);
        }
    }

    #[test]
    fn nobody_waits_for_one_who_has_not_begun() {
        let helpers = helpers(1);
        let (busy, is_free) = (AtomicUsize::new(0), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                helpers.share(1, &|_| {
                    busy.fetch_add(1, Ordering::Relaxed);
                    while is_free.load(Ordering::Relaxed) == 0 {
                        std::thread::yield_now();
                    }
                });
            });
            while busy.load(Ordering::Relaxed) < 2 {
                std::thread::yield_now();
            }
            let calls = AtomicUsize::new(0);
            helpers.share(1, &|_| {
                calls.fetch_add(1, Ordering::Relaxed);
            });
            assert_eq!(calls.into_inner(), 1);
            is_free.store(1, Ordering::Relaxed);
        });
    }

    #[test]
    fn many_may_offer_work_at_once() {
        let helpers = helpers(2);
        let calls = AtomicUsize::new(0);
        let call = |_| {
            calls.fetch_add(1, Ordering::Relaxed);
        };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..500).for_each(|_| helpers.share(2, &call)));
            }
        });
        let calls = calls.into_inner();
        assert!((2000..=6000).contains(&calls), "{calls} calls");
        meet(&helpers, 2);
    }

    #[test]
    fn a_panic_of_a_helper_goes_on_where_help_was_wanted() {
        let helpers = helpers(1);
        let caller = std::thread::current().id();
        let caught = catch_unwind(AssertUnwindSafe(|| {
            let begun = AtomicUsize::new(0);
            helpers.share(1, &|_| {
                begun.fetch_add(1, Ordering::Relaxed);
                while begun.load(Ordering::Relaxed) < 2 {
                    std::thread::yield_now();
                }
                assert_eq!(std::thread::current().id(), caller, "a helper");
            });
        }));
        assert!(caught.is_err());
        meet(&helpers, 1);
    }
}
