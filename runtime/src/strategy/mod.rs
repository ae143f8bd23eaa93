//! How the updates of a forall's iterations meet.

mod apart;
mod atomic;
mod auto;
mod binned;
mod bins;
mod blocked;
mod borders;
mod buffers;
mod colored;
mod columns;
mod combining;
mod cost;
mod counted;
mod dense;
mod direct;
mod fill;
mod gathered;
mod lines;
mod little;
mod look;
mod merge;
mod planned;
mod ranges;
mod reach;
mod routes;
mod rows;
mod safety;
mod sample;
mod serial;
mod shape;
mod speculative;
mod tally;

use crate::abi::{AUTO, BodyShape, Call, ChunkFn, ForallCall, PrivateCall, TABLES};
use crate::chunks::Chunks;
use crate::failure::{Failure, Refusal};
use crate::plan::Planning;
use crate::record::{Part, Why};
use crate::session::Session;
use crate::settings::{Body, Choice};
use combining::{body, combining};
pub use cost::Costs;
pub(crate) use direct::{LEAST_SHARED, MOST_ALONE};
pub use gathered::Gathered;
pub(crate) use little::most_in_order;
pub use reach::reach_elements;
pub(crate) use routes::Routes;
pub use sample::Sample;
pub use shape::Shape;
use std::fmt;
use std::time::Duration;

/// A way to run a forall with private buffers.
///
/// # Laws
/// For every forall that it does not [refuse](Self::refusal):
/// * every iteration runs exactly once, with private buffers that hold the identity, or, unless
///   [`Shape::is_separate`], the targets themselves, or what iterations before it in the same group
///   have left; iterations of a group follow each other unless [`Shape::commutes`];
/// * every target ends as some grouping of `target ∘ p0 ∘ p1 ∘ …`, where `pk` is what iteration `k`
///   contributes; operands are exchanged only if [`Shape::commutes`];
/// * unless [`Shape::is_free`], grouping and order are a function of the sizes in the [`Shape`] and
///   of where updates go, never of the number of threads, of time, or of memory;
/// * on a failure the first one in the order of the iterations is returned, and the targets are as
///   they were, except in a guarded forall;
/// * it holds memory through its session only, and ends soon after the stop token asks for it where
///   that can be made good.
pub trait Strategy: fmt::Debug + Sync {
    /// The name in schedules, on the command line and in records.
    fn name(&self) -> &'static str;

    /// Why it may not run a forall of this shape, if so.
    fn refusal(&self, shape: &Shape) -> Option<Refusal>;

    /// The body that it runs where updates of a forall of this shape are to be combined as `body`
    /// says, which it may have no use for.
    fn body_shape(&self, body: Body, shape: &Shape) -> BodyShape;

    /// Runs the forall.
    ///
    /// # Errors
    /// The first failure in the order of the iterations, or what hindered it to start.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall), for the job's forall.
    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure>;
}

/// All strategies that can be asked for; [`ForallCall::strategy`] is an index into this.
pub static STRATEGIES: [&dyn Strategy; 10] = [
    &serial::Serial,
    &dense::Dense,
    &blocked::Blocked,
    &binned::Binned,
    &planned::Planned,
    &columns::Columns,
    &atomic::Atomic,
    &apart::Apart,
    &colored::Colored,
    &rows::Rows,
];

/// A distance in the form in which bodies take it, behind the addresses of their buffers.
fn distance(bytes: u64) -> *mut u8 {
    std::ptr::without_provenance_mut(usize::try_from(bytes).unwrap_or(usize::MAX))
}

fn bytes(private: &PrivateCall) -> u64 {
    private
        .elements
        .saturating_mul(u64::from(private.element_bytes))
}

/// A forall that a strategy is to run.
#[derive(Debug)]
pub struct Job<'j> {
    session: &'j Session<'j>,
    call: &'j mut Call,
    forall: &'j ForallCall,
    privates: &'j [PrivateCall],
    shape: Shape,
    planning: Option<Planning<'j>>,
    /// How updates are to be combined, where the strategy leaves that open; never [`Body::Auto`].
    body: Body,
    /// Whether the strategy was taken since updates go to a few elements, so that it is to give up
    /// where they do not.
    is_few: bool,
    /// Whether some iterations have told how many updates there are.
    is_counted: bool,
    /// What was seen of the keys.
    sample: Option<Sample>,
}

impl<'j> Job<'j> {
    /// The buffers that are merged together, one group of them after the other.
    fn together(&self) -> impl Iterator<Item = &'j [PrivateCall]> + use<'j> {
        self.privates.chunk_by(|_, next| next.parts == 0)
    }

    /// Looks at some of the keys by which it reads, and of those that it updates.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall).
    unsafe fn look(&mut self) {
        if !self.session.is_nested() {
            // SAFETY: whoever called `run_forall` vouches for the forall.
            self.shape.gathered = unsafe { Gathered::look(self.forall) };
        }
        // SAFETY: the same.
        self.sample = unsafe { Sample::take(self) };
    }

    /// Adds what is known of where its updates go, and counts this run.
    ///
    /// # Safety
    /// That of [`run_forall`](crate::run_forall).
    unsafe fn recall(&mut self) {
        // SAFETY: whoever called `run_forall` vouches for the call and its slots.
        let planning = unsafe { self.session.planning(self.call, self.forall, self.privates) };
        self.shape.has_fixed_keys = planning.is_some();
        self.shape.runs_again = planning.as_ref().is_some_and(|it| it.pays);
        self.planning = planning;
    }

    /// The body that `strategy` runs.
    fn body(&self, strategy: &dyn Strategy) -> Result<ChunkFn, Failure> {
        self.session
            .body(self.forall, strategy.body_shape(self.body, &self.shape))
    }

    /// The tasks of the loop, which `body` runs; they may be stopped where the loop cannot fail, or
    /// somebody wants that.
    fn chunks(&self, body: ChunkFn) -> Chunks<'j> {
        let may_stop = self.forall.guarded == 0 || self.session.may_stop();
        Chunks::new(self.session, self.call, self.forall, may_stop).with_body(body)
    }

    /// How many tables a group has.
    fn tables(&self) -> usize {
        match self.body {
            Body::Tables => TABLES,
            Body::Auto | Body::Direct | Body::RunLength | Body::Partials => 1,
        }
    }
}

/// What a strategy did.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ran {
    /// In how many parts.
    pub chunks: u64,
    /// How many threads could take part.
    pub threads: usize,
    /// Time to get and copy memory.
    pub prepare: Duration,
    /// Time in bodies.
    pub main: Duration,
    /// Time to merge.
    pub merge: Duration,
}

/// What runs a forall, and why that.
#[derive(Clone, Copy)]
struct Decision {
    strategy: &'static dyn Strategy,
    why: Why,
}

impl Decision {
    fn new(strategy: &'static dyn Strategy, why: Why) -> Self {
        Self { strategy, why }
    }
}

/// Chooses a strategy for `forall` and runs it.
///
/// # Errors
/// Those of the strategy, and its refusal.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall).
pub(crate) unsafe fn run(
    session: &Session<'_>,
    call: &mut Call,
    forall: &ForallCall,
) -> Result<(), Failure> {
    // SAFETY: the caller vouches for the forall.
    let privates = unsafe { privates(forall) };
    let shape = Shape::of(session, forall, privates);
    let mut job = Job {
        session,
        call,
        forall,
        privates,
        shape,
        planning: None,
        body: Body::Direct,
        is_few: false,
        is_counted: false,
        sample: None,
    };
    let asked = asked(session, forall)?;
    if privates.is_empty() {
        // SAFETY: the caller vouches for the forall.
        return unsafe { direct::run(asked, &mut job) };
    }
    if asked.is_none() && little::is_little(&job.shape) {
        // SAFETY: the caller vouches for the forall.
        return unsafe { little::run(&mut job) };
    }
    // SAFETY: the caller vouches for the forall.
    unsafe { job.look() };
    // SAFETY: the caller vouches for the forall.
    let mut around = unsafe { circumstances(&job) };
    if may_plan(asked, &around.costs) {
        // SAFETY: the caller vouches for the forall.
        unsafe { job.recall() };
    }
    let mut decision = decide(asked, &job.shape, around, || session.budget())?;
    if job.shape.is_speculative {
        // SAFETY: the caller vouches for the forall.
        decision = unsafe { speculative::decide(decision, &mut job, &mut around) }?;
    } else {
        // SAFETY: the same.
        decision = unsafe { counted::decide(decision, &mut job, &mut around) }?;
    }
    let done = session.work_done();
    let counted = (job.call.updates, job.call.skipped);
    // SAFETY: the caller vouches for the forall.
    let mut ran = unsafe { run_as(decision, &mut job) };
    if let Err(failure) = &ran
        && let Some(other) = instead(decision, failure, &job, around)
    {
        decision = other;
        session.begin_again(done);
        (job.call.updates, job.call.skipped) = counted;
        // SAFETY: as above; nothing was written.
        ran = unsafe { run_as(decision, &mut job) };
    }
    let ran = ran?;
    session.add(|| told(decision, &job, Some(around.costs), &ran));
    Ok(())
}

/// The private buffers of `forall`.
///
/// # Safety
/// It has a table of as many as it says.
unsafe fn privates(forall: &ForallCall) -> &[PrivateCall] {
    match usize::try_from(forall.private_count) {
        // SAFETY: the caller vouches for the table.
        Ok(count) if count > 0 => unsafe { std::slice::from_raw_parts(forall.privates, count) },
        _ => &[],
    }
}

/// What is told of a job that was run, by what it was expected to cost if anybody asked.
fn told(decision: Decision, job: &Job<'_>, costs: Option<Costs>, ran: &Ran) -> Part {
    Part {
        strategy: decision.strategy.name(),
        why: decision.why,
        body: combining(decision.strategy.body_shape(job.body, &job.shape)),
        sample: job.sample,
        gathered: job.shape.gathered,
        costs,
        threads: ran.threads,
        chunks: ran.chunks,
        prepare: ran.prepare,
        main: ran.main,
        merge: ran.merge,
    }
}

/// Runs the job by a strategy that was decided on, and combines updates as suits why.
///
/// # Errors
/// Those of the strategy.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn run_as(Decision { strategy, why }: Decision, job: &mut Job<'_>) -> Result<Ran, Failure> {
    job.body = body(job.session.settings().body, &job.shape, job.sample, why);
    job.is_few = matches!(why, Why::Few { .. });
    if job.shape.is_speculative && strategy.name() != serial::NAME {
        // SAFETY: that of the caller.
        return unsafe { speculative::run(strategy, job) };
    }
    // SAFETY: that of the caller.
    unsafe { strategy.run(job) }
}

/// What may run where `decision` came to `failure` for want of memory. Such strategies write
/// nothing before all updates are sorted, or all copies filled, and `auto` takes them for loops
/// that do nothing else, so that another one can begin anew. Where the order of combination decides
/// bits it does not depend on memory: then there is another one only for what keeps that order, or
/// for keys that are not what they seemed.
fn instead(
    decision: Decision,
    failure: &Failure,
    job: &Job<'_>,
    around: auto::Circumstances,
) -> Option<Decision> {
    let budget = job.session.budget();
    if *failure == Failure::Met {
        job.session.note_met(job.forall);
        return Some(Decision::new(&serial::Serial, Why::Meets));
    }
    let (needed, most) = match failure {
        Failure::OverBudget { needed, budget, .. } => (*needed, *budget),
        Failure::OutOfMemory { bytes } => (*bytes, budget),
        _ => return None,
    };
    let keeps_bits = match decision.why {
        Why::Cheapest { .. } | Why::SameKeys { .. } => true,
        Why::Few { .. } | Why::Near { .. } | Why::Hot => job.shape.is_free() && job.shape.is_pure,
        Why::Pays { .. } => job.shape.is_free() && job.shape.is_speculative,
        _ => false,
    };
    if matches!(decision.why, Why::Few { .. }) && most < budget && job.shape.is_pure {
        Some(auto::decide(&job.shape, around.of_many(), || budget))
    } else {
        let budget = most;
        keeps_bits.then(|| Decision::new(&serial::Serial, Why::OverBudget { needed, budget }))
    }
}

/// What is to be known of a job besides its sizes.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn circumstances(job: &Job<'_>) -> auto::Circumstances {
    let machine = &job.session.settings().machine;
    let is_nested = job.session.is_nested();
    let mut around = auto::Circumstances::new(&job.shape, job.sample, is_nested, machine);
    // SAFETY: the caller vouches for the forall.
    around.scans = auto::may_scan(&job.shape, around) && unsafe { look::can_scan(job) };
    around
}

/// The strategy that the settings name, else the one the forall names.
fn asked(
    session: &Session<'_>,
    forall: &ForallCall,
) -> Result<Option<&'static dyn Strategy>, Refusal> {
    match session.settings().strategy {
        Choice::Named(strategy) => Ok(Some(strategy)),
        Choice::Auto => named(forall.strategy),
    }
}

/// Whether what is known of earlier runs can count: most foralls are too small for that, and are
/// not held up by the question.
fn may_plan(asked: Option<&'static dyn Strategy>, costs: &Costs) -> bool {
    match asked {
        Some(strategy) => strategy.name() == planned::NAME,
        None => auto::is_cheaper(costs.planned, costs),
    }
}

/// The strategy that was asked for, else the one that fits.
fn decide(
    asked: Option<&'static dyn Strategy>,
    shape: &Shape,
    around: auto::Circumstances,
    budget: impl FnOnce() -> u64,
) -> Result<Decision, Failure> {
    let decision = match asked {
        _ if shape.is_separate => Decision::new(&dense::Dense, Why::Separate),
        Some(strategy) => Decision::new(strategy, Why::Asked),
        None => auto::decide(shape, around, budget),
    };
    let strategy = decision.strategy.name();
    if shape.is_speculative && ![serial::NAME, dense::NAME, binned::NAME].contains(&strategy) {
        return Err(Refusal::Speculates { strategy }.into());
    }
    match decision.strategy.refusal(shape) {
        Some(Refusal::Regroups { strategy } | Refusal::AnyOrder { strategy })
            if shape.is_ordered =>
        {
            Err(Refusal::InOrder { strategy }.into())
        }
        Some(refusal) => Err(refusal.into()),
        None => Ok(decision),
    }
}

fn named(number: u32) -> Result<Option<&'static dyn Strategy>, Refusal> {
    if number == AUTO {
        return Ok(None);
    }
    let strategy = usize::try_from(number)
        .ok()
        .and_then(|index| STRATEGIES.get(index));
    match strategy {
        Some(strategy) => Ok(Some(*strategy)),
        None => Err(Refusal::UnknownStrategy { number }),
    }
}
