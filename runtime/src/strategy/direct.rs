use super::{Decision, Job, Ran, Shape, Strategy, run_as, serial, told};
use crate::abi::BodyShape;
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Refusal};
use crate::pace::{Pace, Way};
use crate::record::Why;
use crate::session::Session;
use crate::settings::Body;
use crate::team::Team;
use std::ops::Range;
use std::time::{Duration, Instant};

/// A forall that runs fewer statements than this, of which the fastest take a third of a
/// nanosecond, gains nothing from a thread that looks out for work: to share with it takes 0.7 µs.
pub(crate) const LEAST_SHARED: i64 = 1 << 13;

/// One that runs more of them is divided where nobody shares it, too, so that it can be stopped and
/// tells how far it has come.
pub(crate) const MOST_ALONE: i64 = 1 << 14;

/// Work that takes less than this is not worth waking a thread for, which takes some 45 µs: what
/// one thread does in 36 µs, two took 57 for, one of them woken first. Any is worth sharing with
/// one that is awake.
const WORTH_WAKING: Duration = Duration::from_micros(64);

/// A loop that takes less ends before a look at the clock, at the stop token or at what is done is
/// of use.
const SOON: Duration = Duration::from_micros(16);

/// A loop that takes longer is not run on one thread to find out whether that is faster.
const NOT_TRIED_ALONE: Duration = Duration::from_micros(500);

/// Parts for each thread, so that slow ones can be made up for.
const PARTS_PER_THREAD: usize = 8;

/// Iterations that write to different places, straight in parallel. Not to be asked for: it is the
/// only one that fits such foralls, besides running them in order, and the bits are the same.
#[derive(Debug)]
pub(super) struct Direct;

impl Strategy for Direct {
    fn name(&self) -> &'static str {
        "direct"
    }

    fn refusal(&self, _shape: &Shape) -> Option<Refusal> {
        None
    }

    fn body_shape(&self, _body: Body, _shape: &Shape) -> BodyShape {
        BodyShape::Direct
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let chunks = Chunks::new(job.session, job.call, job.forall, job.session.may_stop());
        let shape = &job.shape;
        let team = job.session.runtime().team();
        let pace = team.paces().of(job.forall.body, statements(shape));
        let is_awake = team.is_awake();
        let way = way(shape, pace, team, is_awake);
        if way == Some(Way::Alone) && is_settled(shape, pace, job.session) {
            let count = i64::try_from(shape.count).unwrap_or(i64::MAX);
            // SAFETY: the caller vouches for the forall, which has no private buffers.
            unsafe { chunks.run(0, 0..count, &[]) };
            pace.end(pace.done(chunks.updates(), statements(shape)));
            chunks.finish(job.call)?;
            return Ok(Ran {
                chunks: 1,
                threads: 1,
                ..Ran::default()
            });
        }
        let start = Instant::now();
        let lasts = |most| move || shape.threads > 1 && start.elapsed() >= most;
        // SAFETY: the caller vouches for the forall, which has no private buffers.
        let begun = unsafe {
            match way {
                Some(Way::Shared) => Begun::default(),
                // What was expected to take less is shared after all.
                Some(Way::Alone) => begin(&chunks, shape, lasts(NOT_TRIED_ALONE)),
                None => begin(&chunks, shape, lasts(WORTH_WAKING)),
            }
        };
        let alone = (begun.iterations > 0).then(|| {
            let done = pace.done(chunks.updates(), begun.statements(shape));
            (done, start.elapsed())
        });
        // SAFETY: as above; those that have begun are done.
        let parts = unsafe { share(&chunks, shape, team, &begun) };
        let done = pace.done(chunks.updates(), statements(shape));
        let took = start.elapsed();
        let threads = shape.threads.min(parts.max(1));
        chunks.finish(job.call)?;
        if let Some((done, took)) = alone {
            pace.note(Way::Alone, done, took);
        }
        if way == Some(Way::Shared) && is_awake {
            pace.note(Way::Shared, done, took);
        }
        pace.end(done);
        Ok(Ran {
            chunks: (begun.chunks + parts) as u64,
            threads,
            main: start.elapsed(),
            ..Ran::default()
        })
    }
}

/// Runs a job without private buffers: in order if that was asked for, and else like this.
///
/// # Errors
/// The first failure in the order of the iterations.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
pub(super) unsafe fn run(
    asked: Option<&'static dyn Strategy>,
    job: &mut Job<'_>,
) -> Result<(), Failure> {
    let decision = match asked {
        Some(strategy) if strategy.name() == serial::NAME => Decision::new(strategy, Why::Asked),
        _ => Decision::new(&Direct, Why::NoPrivates),
    };
    // SAFETY: that of the caller.
    let ran = unsafe { run_as(decision, job) }?;
    job.session.add(|| told(decision, job, None, &ran));
    Ok(())
}

/// So many statements take some microseconds: looking at the clock behind them costs little.
const STATEMENTS_BETWEEN_LOOKS: u64 = 1 << 13;

/// With more statements than this it is clear that they are worth sharing.
const MANY_STATEMENTS: u64 = 1 << 17;

/// About how many statements all iterations run.
fn statements(shape: &Shape) -> u64 {
    shape.trips.max(shape.count)
}

/// On how many threads to run a loop; `None` where that is to be found out.
fn way(shape: &Shape, pace: &Pace, team: &Team, is_awake: bool) -> Option<Way> {
    if shape.threads == 1 {
        return Some(Way::Alone);
    }
    let Some(expected) = pace.expected(shape.threads) else {
        return (shape.trips >= MANY_STATEMENTS).then_some(Way::Shared);
    };
    if expected > NOT_TRIED_ALONE {
        Some(Way::Shared)
    } else if expected > WORTH_WAKING || is_awake {
        Some(pace.next())
    } else {
        if pace.wants_others() {
            team.expect_more();
        }
        Some(Way::Alone)
    }
}

/// Whether a loop that one thread is to run is known to end so soon that nobody need look at the
/// clock meanwhile, and no record is to say how long it took.
fn is_settled(shape: &Shape, pace: &Pace, session: &Session<'_>) -> bool {
    let expected = pace.expected(shape.threads);
    let ends_soon = expected.is_some_and(|it| it < SOON);
    ends_soon && !pace.is_measured() && !session.is_recorded()
}

/// In how many iterations at once to find out what they cost: first, and at most.
fn lengths(shape: &Shape) -> (i64, i64) {
    if shape.trips == 0 {
        return (1, i64::MAX);
    }
    let count = u128::from(shape.count);
    let length = count * u128::from(STATEMENTS_BETWEEN_LOOKS) / u128::from(shape.trips);
    let length = i64::try_from(length).unwrap_or(i64::MAX).max(1);
    (length, length)
}

/// What one thread has run.
#[derive(Clone, Copy, Default)]
struct Begun {
    iterations: i64,
    chunks: usize,
}

impl Begun {
    /// About how many statements that were.
    fn statements(&self, shape: &Shape) -> u64 {
        let all = u128::from(statements(shape)) * u128::from(self.iterations.unsigned_abs());
        u64::try_from(all / u128::from(shape.count.max(1))).unwrap_or(u64::MAX)
    }
}

/// Runs the first iterations on the calling thread until it is clear that the rest is worth
/// sharing. Nobody knows beforehand what an iteration costs.
///
/// # Safety
/// That of [`Chunks::run`], without private buffers.
unsafe fn begin(chunks: &Chunks<'_>, shape: &Shape, is_clear: impl Fn() -> bool) -> Begun {
    let count = i64::try_from(shape.count).unwrap_or(i64::MAX);
    let mut begun = Begun::default();
    let (mut length, most) = lengths(shape);
    while begun.iterations < count && !is_clear() && chunks.is_wanted(begun.chunks) {
        let end = begun.iterations.saturating_add(length).min(count);
        // SAFETY: the caller vouches for the body; these chunks run one after the other.
        unsafe { chunks.run(begun.chunks, begun.iterations..end, &[]) };
        begun.iterations = end;
        begun.chunks += 1;
        length = length.saturating_mul(2).min(most);
    }
    begun
}

/// Runs the iterations behind those that have begun on all threads, and says in how many parts.
///
/// # Safety
/// That of [`Chunks::run`], without private buffers.
unsafe fn share(chunks: &Chunks<'_>, shape: &Shape, team: &Team, begun: &Begun) -> usize {
    let rest = i64::try_from(shape.count).unwrap_or(i64::MAX) - begun.iterations;
    let rest = u64::try_from(rest).unwrap_or(0);
    let worth_it = usize::try_from(statements(shape) / STATEMENTS_BETWEEN_LOOKS);
    let parts = worth_it
        .unwrap_or(usize::MAX)
        .clamp(
            shape.threads,
            PARTS_PER_THREAD.saturating_mul(shape.threads),
        )
        .next_multiple_of(shape.threads)
        .min(usize::try_from(rest).unwrap_or(usize::MAX));
    team.for_each(parts, &|number| {
        let Range { start, end } = part(rest, parts, number);
        let range = start + begun.iterations..end + begun.iterations;
        // SAFETY: the caller vouches for the body; the parts have no iteration in common.
        unsafe { chunks.run(begun.chunks + number, range, &[]) };
    });
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::{Call, ForallCall, Status};
    use crate::test_kernels::{all_foralls, code, nothing, runtime, slots};
    use crate::{Choice, Record, Region, Settings};

    /// `out[i] = i`, each a hundred times so that it takes a while; a fault at the numbers from
    /// `frame[2]` on, every 1000 of them.
    unsafe extern "C" fn numbers(
        call: *mut Call,
        frame: *const u64,
        _privates: *const *mut u8,
        first: i64,
        last: i64,
    ) -> u32 {
        for i in first..last {
            // SAFETY: the frame holds the address of an array with an element for each iteration,
            // and the first fault.
            unsafe {
                let fault = *frame.add(1) as i64;
                if i >= fault && (i - fault) % 1000 == 0 {
                    (*call).fault.index = i;
                    return Status::Fault as u32;
                }
                let out = std::ptr::with_exposed_provenance_mut::<i64>(*frame as usize);
                (0..100).for_each(|_| out.add(i as usize).write_volatile(i));
                (*call).updates += 1;
            }
        }
        Status::Done as u32
    }

    fn run(
        threads: usize,
        settings: &Settings,
        out: &mut [i64],
        fault: u64,
    ) -> Result<Record, Failure> {
        let frame = [out.as_mut_ptr().expose_provenance() as u64, fault];
        let forall = ForallCall {
            body: numbers,
            frame: frame.as_ptr(),
            count: out.len() as i64,
            ..nothing()
        };
        let protect = [Region {
            address: out.as_mut_ptr().cast(),
            bytes: size_of_val(out),
        }];
        let slots = slots(std::slice::from_ref(&forall));
        // SAFETY: the body writes the elements of `out`, each iteration its own.
        unsafe {
            crate::run_with_record(
                &runtime(threads),
                settings,
                &code(all_foralls),
                &slots,
                &protect,
            )
        }
        .map(|it| it.record)
    }

    #[test]
    fn every_iteration_runs_once() {
        for threads in [1, 2, 8] {
            for count in [0, 1, 2, 100, 50_000] {
                let mut out = vec![-1; count];
                let record = run(threads, &Settings::default(), &mut out, u64::MAX >> 1).unwrap();
                assert_eq!(record.strategy, "direct");
                assert_eq!(record.updates, count as u64);
                assert_eq!(out, (0..count as i64).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn it_can_be_made_serial_by_name() {
        let settings = Settings {
            strategy: Choice::Named(&super::super::serial::Serial),
            ..Settings::default()
        };
        let mut out = vec![-1; 100];
        let record = run(2, &settings, &mut out, u64::MAX >> 1).unwrap();
        assert_eq!(record.strategy, "serial");
        assert_eq!(out[99], 99);
    }

    #[test]
    fn the_first_fault_in_order_is_reported_and_all_is_put_back() {
        for threads in [1, 2, 8] {
            for first in [0, 3, 7777, 49_999] {
                let mut out = vec![-1; 50_000];
                let failure = run(threads, &Settings::default(), &mut out, first).unwrap_err();
                assert!(matches!(failure, Failure::Fault(record) if record.index == first as i64));
                assert!(out.iter().all(|number| *number == -1));
            }
        }
    }
}
