//! One call of a kernel.

mod budget;
mod work;

use crate::abi::{
    ApplyFn, BodyShape, Call, ChunkFn, EntryFn, ForallCall, MergeFn, OnDemand, PrivateCall, Slot,
    Status, Work,
};
use crate::failure::Failure;
use crate::loan::Account;
use crate::local::{Local, LocalMemory, Stock};
use crate::plan::{self, Identity, Plan, Planning};
use crate::record::{Part, Record, Stopwatch, Tally, Why};
use crate::settings::{Settings, StopToken};
use crate::snapshot::{Region, Snapshot};
use crate::strategy;
use crate::team::Runtime;
use crate::timeline::{Phase, Timeline};
use crate::{memory, panics};
use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

/// The state that all parts of one call share. Generated code carries its address from [`run`] to
/// [`run_forall`](crate::run_forall).
#[derive(Clone, Copy, Debug)]
pub struct Session<'r> {
    shared: &'r Shared<'r>,
    is_nested: bool,
}

#[derive(Debug)]
struct Shared<'r> {
    runtime: &'r Runtime,
    settings: &'r Settings,
    on_demand: &'r dyn OnDemand,
    entry: EntryFn,
    /// Memory for local arrays that was taken when the call began.
    stock: Stock,
    /// For what runs again within this call.
    plan: OnceLock<Plan>,
    is_protected: bool,
    budget: OnceLock<u64>,
    account: Account,
    failure: Mutex<Option<Failure>>,
    /// What the record will say, if anybody asks for one.
    tally: Option<&'r Mutex<Tally>>,
    /// The numbers of the foralls that came to an element that they both read and update.
    met: Mutex<Vec<u64>>,
    /// What nobody wants to know.
    unseen: Work,
}

/// The machine code of a kernel.
#[derive(Clone, Copy, Debug)]
pub struct Code<'c> {
    /// The whole of it.
    pub entry: EntryFn,
    /// Whether there are foralls in it. Those with little to do it runs by itself.
    pub has_foralls: bool,
    /// The local arrays that need memory, by their numbers; without them they are taken where they
    /// are made, and whether there is memory is known then.
    pub locals: &'c [Local],
    /// What its foralls may need besides.
    pub on_demand: &'c dyn OnDemand,
}

/// What a kernel that ran to its end leaves, besides its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Completed {
    /// How it ran.
    pub record: Record,
    /// The bits of its result, zero-extended; 0 when it has none.
    pub returned: u64,
}

/// What a run has counted, besides its result.
struct Counted {
    returned: u64,
    updates: u64,
    skipped: u64,
}

/// Runs a compiled kernel to its end, and gives the bits of its result, zero-extended; 0 when it
/// has none.
///
/// `protect` names the memory to put back when the call fails. Nothing is copied when there is
/// none, so the caller must name all that is written before or outside of foralls with
/// [`guarded`](crate::abi::ForallCall::guarded) 0, unless neither the kernel nor a forall in it can
/// fail. A forall with private buffers can always fail, for want of memory.
///
/// # Errors
/// A [`Failure`]; all memory in `protect` and all targets of foralls are then as they were before
/// the call.
///
/// # Safety
/// * The entry of `code`, its merge functions and the functions it hands to
///   [`run_forall`](crate::run_forall) keep what [`abi`](crate::abi) says, and touch no memory but
///   that behind `slots`, their frames and their buffers.
/// * The arrays behind `slots` are valid for the accesses the kernel makes, no other thread touches
///   them during the call, and no two of them that the kernel writes overlap.
/// * Every region of `protect` is valid for reads and writes.
pub unsafe fn run(
    runtime: &Runtime,
    settings: &Settings,
    code: &Code<'_>,
    slots: &[Slot],
    protect: &[Region],
) -> Result<u64, Failure> {
    let shared = Shared::new(runtime, settings, code, protect, None);
    // SAFETY: that of the caller.
    unsafe { shared.run(slots, protect, code.locals) }.map(|counted| counted.returned)
}

/// Runs a compiled kernel as [`run`] does, and tells how it ran.
///
/// # Errors
/// Those of [`run`].
///
/// # Safety
/// That of [`run`].
pub unsafe fn run_with_record(
    runtime: &Runtime,
    settings: &Settings,
    code: &Code<'_>,
    slots: &[Slot],
    protect: &[Region],
) -> Result<Completed, Failure> {
    let start = Instant::now();
    let tally = Mutex::default();
    let shared = Shared::new(runtime, settings, code, protect, Some(&tally));
    // SAFETY: that of the caller.
    let counted = unsafe { shared.run(slots, protect, code.locals) }?;
    let without = match code.has_foralls {
        true => Why::Little,
        false => Why::NoForall,
    };
    let most_loaned = shared.account.most_loaned();
    let record =
        memory::lock(&tally).record(start.elapsed(), counted.updates, most_loaned, without);
    Ok(Completed {
        record: Record {
            skipped: counted.skipped,
            ..record
        },
        returned: counted.returned,
    })
}

impl<'r> Shared<'r> {
    fn new(
        runtime: &'r Runtime,
        settings: &'r Settings,
        code: &Code<'r>,
        protect: &[Region],
        tally: Option<&'r Mutex<Tally>>,
    ) -> Self {
        Self {
            runtime,
            settings,
            on_demand: code.on_demand,
            entry: code.entry,
            stock: Stock::default(),
            plan: OnceLock::new(),
            is_protected: !protect.is_empty(),
            budget: settings.memory.map_or_else(OnceLock::new, OnceLock::from),
            account: Account::default(),
            failure: Mutex::new(None),
            tally,
            met: Mutex::default(),
            unseen: Work::default(),
        }
    }

    /// # Errors
    /// Those of [`run`].
    ///
    /// # Safety
    /// That of [`run`].
    unsafe fn run(
        &'r self,
        slots: &[Slot],
        protect: &[Region],
        locals: &[Local],
    ) -> Result<Counted, Failure> {
        let _listening = self.settings.stop.as_ref().map(StopToken::listen);
        if let Some(timeline) = &self.settings.timeline {
            timeline.restart(Instant::now());
        }
        if self
            .settings
            .stop
            .as_ref()
            .is_some_and(StopToken::is_stopped)
        {
            return Err(Failure::Stopped);
        }
        let session = Session {
            shared: self,
            is_nested: false,
        };
        let _stocked = self.stock.fill(&session, locals, self.runtime.threads())?;
        // SAFETY: the caller vouches for the regions.
        let snapshot = unsafe { session.protect(protect) }?;
        // SAFETY: the caller vouches for the entry and the slots.
        let counted = unsafe { session.enter(slots) };
        if let (Err(_), Some(snapshot)) = (&counted, snapshot) {
            // SAFETY: the caller vouches that nobody else touches the regions, and the kernel has
            // ended.
            unsafe { snapshot.restore(&session) };
        }
        counted
    }
}

impl<'r> Session<'r> {
    /// Copies what is to be put back when the call fails, if there is any.
    ///
    /// # Safety
    /// That of [`Snapshot::take`].
    unsafe fn protect(&self, regions: &[Region]) -> Result<Option<Snapshot<'r>>, Failure> {
        if regions.is_empty() {
            return Ok(None);
        }
        let watch = self.stopwatch();
        // SAFETY: that of the caller.
        let snapshot = unsafe { Snapshot::take(self, regions.iter().copied()) }?;
        if let Some(tally) = self.shared.tally {
            memory::lock(tally).prepared(watch.elapsed());
        }
        Ok(Some(snapshot))
    }

    /// Runs the whole kernel.
    ///
    /// # Safety
    /// That of [`run`].
    unsafe fn enter(&self, slots: &[Slot]) -> Result<Counted, Failure> {
        let mut memory = LocalMemory::default();
        let stop = self.settings().stop_flag();
        let mut call = self.call(slots.as_ptr(), stop, &mut memory);
        let entry = self.shared.entry;
        // SAFETY: the caller vouches for `entry` and the slots; `self`, `memory` and `call` outlive
        // the call.
        let (status, noted) = panics::collect(None, || unsafe { entry(&raw mut call) });
        let outcome = self.outcome(status, &call);
        if let Some(note) = noted {
            return Err(match outcome {
                Ok(()) => Failure::Combiner { note, at: None },
                Err(Failure::Fault(at)) => Failure::Combiner { note, at: Some(at) },
                Err(other) => other,
            });
        }
        outcome?;
        self.end_work();
        Ok(Counted {
            returned: call.returned,
            updates: call.updates,
            skipped: call.skipped,
        })
    }
}

impl<'r> Session<'r> {
    /// The merge function `number` of the kernel.
    ///
    /// # Errors
    /// [`Failure::Panicked`] when it could not be made.
    pub(crate) fn merge(&self, number: u32) -> Result<MergeFn, Failure> {
        let made = self.shared.on_demand.merge(number);
        made.map_err(Failure::Panicked)
    }

    /// The function that applies updates with the combiner of the merge function `number`.
    ///
    /// # Errors
    /// [`Failure::Panicked`] when it could not be made.
    pub(crate) fn apply(&self, number: u32) -> Result<ApplyFn, Failure> {
        let made = self.shared.on_demand.apply(number);
        made.map_err(Failure::Panicked)
    }

    /// The body of `forall` in `shape`.
    ///
    /// # Errors
    /// [`Failure::Panicked`] when it could not be made.
    pub(crate) fn body(&self, forall: &ForallCall, shape: BodyShape) -> Result<ChunkFn, Failure> {
        if shape == BodyShape::Direct {
            return Ok(forall.body);
        }
        let number = u32::try_from(forall.body_number).unwrap_or(u32::MAX);
        let made = self.shared.on_demand.body(number, shape);
        made.map_err(Failure::Panicked)
    }

    /// The session for the bodies of a forall, by which a forall inside of it knows that it is not
    /// the outermost one.
    pub(crate) fn nested(self) -> Self {
        Self {
            is_nested: true,
            ..self
        }
    }

    /// Whether this belongs to the body of a forall.
    pub(crate) fn is_nested(&self) -> bool {
        self.is_nested
    }

    pub(crate) fn runtime(&self) -> &'r Runtime {
        self.shared.runtime
    }

    /// Memory for local arrays that was taken when the call began.
    pub(crate) fn stock(&self) -> &'r Stock {
        &self.shared.stock
    }

    pub(crate) fn settings(&self) -> &'r Settings {
        self.shared.settings
    }

    /// Whether whoever started the call puts back what the kernel has written.
    pub(crate) fn is_protected(&self) -> bool {
        self.shared.is_protected
    }

    /// Whether what the kernel has written may be left half done: whoever started the call puts it
    /// back, or throws it away.
    pub(crate) fn may_stop(&self) -> bool {
        self.shared.is_protected || self.settings().is_abandoned_when_stopped()
    }

    /// Whether nothing stays half done after a stop that anybody looks at: there can be none, or
    /// the outputs are put back or thrown away.
    fn leaves_nothing_half_done(&self) -> bool {
        self.shared.is_protected || !self.settings().is_put_back_when_stopped()
    }

    /// A forall without private buffers that runs fewer statements is run in order right there.
    fn most_alone(&self) -> i64 {
        match self.is_nested || self.runtime().threads() == 1 {
            true => strategy::MOST_ALONE,
            false => strategy::LEAST_SHARED,
        }
    }

    /// The state of a task that is about to start. It must not be used after `self` or `memory` has
    /// moved or ended.
    pub(crate) fn call(
        &self,
        slots: *const Slot,
        stop: *const AtomicU32,
        memory: &mut LocalMemory<'r>,
    ) -> Call {
        Call {
            stop,
            session: ptr::from_ref(self).cast::<c_void>(),
            local_memory: ptr::from_mut(memory).cast::<c_void>(),
            most_in_order: match self.leaves_nothing_half_done() {
                true => strategy::most_in_order(self.settings()),
                false => 0,
            },
            most_alone: self.most_alone(),
            threads: match self.settings().as_on_one_thread {
                true => 1,
                false => i64::try_from(self.runtime().threads()).unwrap_or(i64::MAX),
            },
            ..Call::alone(slots, self.work())
        }
    }

    /// What is known of where the updates of `forall` go; `None` when that may change.
    ///
    /// # Safety
    /// `call` has the slots of the kernel's parameters.
    pub(crate) unsafe fn planning(
        &self,
        call: &Call,
        forall: &ForallCall,
        privates: &[PrivateCall],
    ) -> Option<Planning<'r>> {
        let number = u32::try_from(forall.body_number).ok()?;
        if self.is_nested {
            return None;
        }
        let keys = self.shared.on_demand.keys(number)?;
        // SAFETY: the caller vouches for the slots.
        let (arrays, scalars) = unsafe {
            (
                plan::slots(call, &keys.arrays),
                plan::slots(call, &keys.scalars),
            )
        };
        let identity = Identity::new(self.shared.entry, forall, privates, &arrays, &scalars);
        let given = self.settings().plan.as_ref();
        match given.filter(|plan| plan.covers(&arrays)) {
            Some(plan) => Some(plan.recall(identity, true)),
            None => {
                let plan = self.shared.plan.get_or_init(Plan::default);
                Some(plan.recall(identity, false))
            }
        }
    }

    /// Who wants to know when threads are at work.
    pub(crate) fn timeline(&self) -> Option<&'r Timeline> {
        let timeline = self.settings().timeline.as_ref();
        timeline.filter(|_| !self.is_nested)
    }

    /// Does a part of `phase`, seen by who wants to know.
    pub(crate) fn seen<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let watched = self.timeline().map(|it| (it, Instant::now()));
        let done = work();
        if let Some((timeline, start)) = watched {
            timeline.add(phase, start);
        }
        done
    }

    /// Whether the forall came to an element that it both reads and updates when it ran before in
    /// this call.
    pub(crate) fn has_met(&self, forall: &ForallCall) -> bool {
        memory::lock(&self.shared.met).contains(&forall.body_number)
    }

    /// Keeps in mind that it did.
    pub(crate) fn note_met(&self, forall: &ForallCall) {
        memory::lock(&self.shared.met).push(forall.body_number);
    }

    /// Adds an outermost forall to what the record will say, if anybody asks for one.
    pub(crate) fn add(&self, part: impl FnOnce() -> Part) {
        if let Some(tally) = self.shared.tally.filter(|_| !self.is_nested) {
            memory::lock(tally).add(part());
        }
    }

    /// Whether anybody asks how the foralls here ran.
    pub(crate) fn is_recorded(&self) -> bool {
        self.shared.tally.is_some() && !self.is_nested
    }

    /// Measures what only the record tells.
    pub(crate) fn stopwatch(&self) -> Stopwatch {
        Stopwatch(self.is_recorded().then(Instant::now))
    }

    /// Translates a failure into what generated code hands on, to be had back by
    /// [`outcome`](Self::outcome).
    pub(crate) fn report(&self, call: &mut Call, failure: Failure) -> Status {
        match failure {
            Failure::Fault(record) => {
                call.fault = record;
                Status::Fault
            }
            Failure::Stopped => Status::Stopped,
            other => {
                // Several tasks may report at once; each of them then has the first reason.
                memory::lock(&self.shared.failure).get_or_insert(other);
                Status::Refused
            }
        }
    }

    /// What a generated function that ended with `status` came to.
    pub(crate) fn outcome(&self, status: u32, call: &Call) -> Result<(), Failure> {
        match Status::from_bits(status) {
            Some(Status::Done) => Ok(()),
            Some(Status::Fault) => Err(Failure::Fault(call.fault)),
            Some(Status::Stopped) => Err(Failure::Stopped),
            Some(Status::Met) => Err(Failure::Met),
            Some(Status::Refused) => {
                let failure = memory::lock(&self.shared.failure).clone();
                Err(failure.unwrap_or_else(|| Failure::Panicked("no reason was kept".to_owned())))
            }
            None => Err(Failure::Panicked(format!(
                "generated code returned {status}"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::AUTO;
    use crate::failure::{Held, Refusal};
    use crate::settings::Choice;
    use crate::test_kernels::{Scatter, all_foralls, code, nothing, runtime, slots};
    use crate::{Mode, StopToken};
    use std::sync::Arc;
    use std::sync::atomic::Ordering;

    fn run_entry(entry: EntryFn, settings: &Settings) -> Result<Record, Failure> {
        // SAFETY: the entries of these tests touch no argument.
        unsafe { run_with_record(&runtime(2), settings, &code(entry), &[], &[]) }
            .map(|it| it.record)
    }

    #[test]
    fn a_kernel_without_a_forall_is_serial() {
        unsafe extern "C" fn entry(call: *mut Call) -> u32 {
            // SAFETY: the call is valid while the kernel runs.
            unsafe { (*call).updates = 5 };
            Status::Done as u32
        }
        let record = run_entry(entry, &Settings::default()).unwrap();
        assert_eq!((record.strategy, record.why), ("serial", Why::NoForall));
        assert_eq!(
            (record.updates, record.chunks, record.private_bytes),
            (5, 0, 0)
        );
    }

    #[test]
    fn a_run_without_a_record_gives_the_result() {
        unsafe extern "C" fn entry(call: *mut Call) -> u32 {
            // SAFETY: the call is valid while the kernel runs.
            unsafe { (*call).returned = 7 };
            Status::Done as u32
        }
        unsafe extern "C" fn failing(_call: *mut Call) -> u32 {
            Status::Stopped as u32
        }
        let settings = Settings::default();
        // SAFETY: the entries touch no argument.
        let run = |entry| unsafe { run(&runtime(1), &settings, &code(entry), &[], &[]) };
        assert_eq!(run(entry), Ok(7));
        assert_eq!(run(failing), Err(Failure::Stopped));
    }

    #[test]
    fn a_call_that_is_stopped_already_does_not_start() {
        unsafe extern "C" fn entry(_call: *mut Call) -> u32 {
            Status::Fault as u32
        }
        let stop = StopToken::new();
        stop.stop();
        let settings = Settings {
            stop: Some(stop),
            ..Settings::default()
        };
        assert_eq!(run_entry(entry, &settings), Err(Failure::Stopped));
    }

    #[test]
    fn a_status_that_is_none_is_a_defect() {
        unsafe extern "C" fn entry(_call: *mut Call) -> u32 {
            99
        }
        let failure = run_entry(entry, &Settings::default());
        let message = "generated code returned 99".to_owned();
        assert_eq!(failure, Err(Failure::Panicked(message)));
    }

    #[test]
    fn generated_code_sees_the_stop_token() {
        unsafe extern "C" fn entry(call: *mut Call) -> u32 {
            // SAFETY: the flag is valid while the kernel runs.
            let flag = unsafe { &*(*call).stop };
            while flag.load(Ordering::Relaxed) == 0 {
                std::thread::yield_now();
            }
            Status::Stopped as u32
        }
        let stop = StopToken::new();
        let settings = Settings {
            stop: Some(stop.clone()),
            ..Settings::default()
        };
        std::thread::scope(|scope| {
            let call = scope.spawn(|| run_entry(entry, &settings));
            while !stop.is_heard() {
                std::thread::yield_now();
            }
            stop.stop();
            assert_eq!(call.join().unwrap(), Err(Failure::Stopped));
            assert!(!stop.is_heard());
        });
    }

    #[test]
    fn what_is_protected_is_put_back_after_later_foralls_fail() {
        let mut case = Scatter::new(100_000, 40).with_counts(40);
        case.guarded = 1;
        case.repeat = 2;
        case.keys[99_999] = 40;
        let before = case.counts.clone();
        let failure = case.run_protected(&runtime(2), &Settings::default(), true);
        assert!(matches!(failure, Err(Failure::Fault(_))));
        assert_eq!(case.counts, before);
    }

    #[test]
    fn copies_count_against_the_budget() {
        let settings = Settings {
            memory: Some(159),
            ..Settings::default()
        };
        let mut case = Scatter::new(10, 40).with_counts(40);
        let failure = case.run_protected(&runtime(2), &settings, true);
        let expected = Failure::OverBudget {
            held: Held::Copies,
            needed: 160,
            budget: 159,
        };
        assert_eq!(failure, Err(expected));
    }

    #[test]
    fn an_unknown_strategy_is_refused() {
        let mut case = Scatter::new(10, 4).with_counts(4);
        case.strategy = 1000;
        let failure = case.run(&runtime(2), &Settings::default());
        let refusal = Refusal::UnknownStrategy { number: 1000 };
        assert_eq!(failure, Err(Failure::Refused(refusal)));
    }

    #[test]
    fn the_settings_name_the_strategy_first() {
        let settings = Settings {
            strategy: "dense".parse().unwrap(),
            ..Settings::default()
        };
        let mut case = Scatter::new(10, 4).with_counts(4);
        case.strategy = 0;
        let record = case.run(&runtime(2), &settings).unwrap();
        assert_eq!((record.strategy, record.why), ("dense", Why::Asked));
        assert_eq!(settings.strategy, Choice::Named(crate::STRATEGIES[1]));
    }

    #[test]
    fn a_second_call_allocates_nothing() {
        let runtime = runtime(2);
        let mut case = Scatter::new(100_000, 5000).with_sums(5000);
        case.run(&runtime, &Settings::default()).unwrap();
        let kept = runtime.kept_bytes();
        assert!(kept >= 4 * 5000 * 8);
        for _ in 0..5 {
            case.run(&runtime, &Settings::default()).unwrap();
            assert_eq!(runtime.kept_bytes(), kept);
        }
        runtime.trim();
        assert_eq!(runtime.kept_bytes(), 0);
    }

    #[test]
    fn a_panic_in_the_runtime_becomes_a_failure() {
        // Slots are never looked at by a strategy, so the way to a panic is a strategy of the
        // test's own.
        #[derive(Debug)]
        struct Panics;
        impl crate::Strategy for Panics {
            fn name(&self) -> &'static str {
                "panics"
            }
            fn refusal(&self, _shape: &crate::Shape) -> Option<Refusal> {
                None
            }
            fn body_shape(&self, _body: crate::Body, _shape: &crate::Shape) -> BodyShape {
                BodyShape::Direct
            }

            unsafe fn run(&self, _job: &mut crate::Job<'_>) -> Result<crate::Ran, Failure> {
                std::panic::resume_unwind(Box::new("on purpose"));
            }
        }
        let settings = Settings {
            strategy: Choice::Named(&Panics),
            ..Settings::default()
        };
        let mut case = Scatter::new(10, 4).with_counts(4);
        let failure = case.run(&runtime(2), &settings);
        assert_eq!(failure, Err(Failure::Panicked("on purpose".to_owned())));
    }

    #[test]
    fn many_threads_call_at_once() {
        let runtime = runtime(3);
        let case = Scatter::new(100_000, 700).with_counts(700).with_sums(700);
        let mut alone = case.clone();
        alone.run(&runtime, &Settings::default()).unwrap();
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| {
                    for _ in 0..5 {
                        let mut case = case.clone();
                        case.run(&runtime, &Settings::default()).unwrap();
                        assert_eq!(case.sum_bits(), alone.sum_bits());
                        assert_eq!(case.counts, alone.counts);
                    }
                });
            }
        });
    }

    #[test]
    fn calls_come_from_inside_of_pools() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build();
        let pool = Arc::new(pool.unwrap());
        let case = Scatter::new(100_000, 700).with_sums(700);
        let mut alone = case.clone();
        alone.run(&runtime(1), &Settings::default()).unwrap();
        for runtime in [Runtime::with_pool(Arc::clone(&pool)), runtime(2)] {
            pool.scope(|scope| {
                for _ in 0..8 {
                    let (mut case, alone, runtime) = (case.clone(), &alone, runtime.clone());
                    scope.spawn(move |_| {
                        case.run(&runtime, &Settings::default()).unwrap();
                        assert_eq!(case.sum_bits(), alone.sum_bits());
                    });
                }
            });
        }
    }

    /// A forall whose every iteration runs the forall behind `frame[0]` as a kernel would.
    unsafe extern "C" fn inner_forall(
        call: *mut Call,
        frame: *const u64,
        _privates: *const *mut u8,
        first: i64,
        last: i64,
    ) -> u32 {
        for _ in first..last {
            // SAFETY: the frame holds the address of a forall that may run on several threads at
            // once.
            let status = unsafe {
                let forall = std::ptr::with_exposed_provenance::<ForallCall>(*frame as usize);
                crate::run_forall(call, forall)
            };
            if status != Status::Done as u32 {
                return status;
            }
        }
        Status::Done as u32
    }

    unsafe extern "C" fn count_updates(
        call: *mut Call,
        _frame: *const u64,
        _privates: *const *mut u8,
        first: i64,
        last: i64,
    ) -> u32 {
        // SAFETY: the call is valid while the body runs.
        unsafe { (*call).updates += (last - first) as u64 };
        std::thread::sleep(std::time::Duration::from_micros(50));
        Status::Done as u32
    }

    fn forall(body: ChunkFn, frame: &u64, count: i64, strategy: u32) -> ForallCall {
        ForallCall {
            body,
            frame,
            count,
            strategy,
            pure: 1,
            ..nothing()
        }
    }

    #[test]
    fn foralls_inside_of_foralls_run_and_count() {
        for threads in [1, 2, 4] {
            let inner = forall(count_updates, &0, 40, AUTO);
            let frame = (&raw const inner).expose_provenance() as u64;
            let outer = [forall(inner_forall, &frame, 25, AUTO)];
            let settings = Settings {
                mode: Mode::Fast,
                ..Settings::default()
            };
            // SAFETY: the bodies touch their calls alone.
            let record = unsafe {
                run_with_record(
                    &runtime(threads),
                    &settings,
                    &code(all_foralls),
                    &slots(&outer),
                    &[],
                )
            };
            assert_eq!(record.unwrap().record.updates, 1000);
        }
    }

    #[test]
    fn a_refusal_inside_of_a_forall_reaches_the_caller() {
        let inner = forall(count_updates, &0, 4, 77);
        let frame = (&raw const inner).expose_provenance() as u64;
        let outer = [forall(inner_forall, &frame, 9, AUTO)];
        let settings = Settings::default();
        // SAFETY: the bodies touch their calls alone.
        let record = unsafe {
            run_with_record(
                &runtime(4),
                &settings,
                &code(all_foralls),
                &slots(&outer),
                &[],
            )
        };
        let refusal = Refusal::UnknownStrategy { number: 77 };
        assert_eq!(record, Err(Failure::Refused(refusal)));
    }
}
