use super::lines::{LINE, Lines};
use super::routes::{ColumnRoutes, PartRoutes, Routes, find};
use super::{Job, Ran, Shape, Strategy};
use crate::abi::{self, ApplyFn, BodyShape, PrivateCall};
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Held, Refusal};
use crate::gathering::{self, LineSink};
use crate::loan::Loan;
use crate::past_caches::{copy_past_caches, end_of_copies};
use crate::session::Session;
use crate::settings::Body;
use crate::timeline::Phase;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

pub(super) const NAME: &str = "planned";

/// As `binned`, for updates of which it is known where they go: their keys are sorted once, and
/// only values are sorted whenever the loop runs again.
#[derive(Debug)]
pub(super) struct Planned;

impl Strategy for Planned {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let strategy = self.name();
        if shape.can_emit {
            (!shape.has_fixed_keys).then_some(Refusal::KeysChange { strategy })
        } else {
            Some(Refusal::CannotEmit { strategy })
        }
    }

    fn body_shape(&self, _body: Body, _shape: &Shape) -> BodyShape {
        BodyShape::Values
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        // SAFETY: the caller vouches for the forall.
        let routes = unsafe { known_or_found(job) }?;
        let parts = routes.columns.first().map_or(0, |it| it.parts.len());
        let columns = routes.columns.iter().zip(job.together());
        let columns: Vec<_> = columns
            .map(|(routes, privates)| Column::new(routes, privates, job))
            .collect::<Result<_, _>>()?;
        let chunks =
            Chunks::new(job.session, job.call, job.forall, true).with_body(job.body(self)?);
        let prepared = Instant::now();
        let team = job.session.runtime().team();
        let count = job.shape.count;
        team.for_each(parts, &|number| {
            if chunks.is_wanted(number) {
                let iterations = part(count, parts, number);
                // SAFETY: whoever called `run_forall` vouches for the body; each part has places of
                // its own.
                let moved = unsafe { move_values(&columns, &chunks, number, iterations) };
                chunks.settle(number, moved);
            }
        });
        chunks.finish(job.call)?;
        let ran = Instant::now();
        for column in &columns {
            // SAFETY: the caller vouches for the targets; different ranges have no element in
            // common, and all keys, counted from where the targets of a range begin, are elements
            // of it, since generated code had checked them when they were sorted.
            let apply = |range| unsafe { column.apply(range) };
            team.for_each(column.routes.ranges.count, &|range| {
                job.session.seen(Phase::Merge, || apply(range));
            });
        }
        Ok(Ran {
            chunks: parts as u64,
            threads: job.shape.threads.min(parts.max(1)),
            prepare: prepared - start,
            main: ran - prepared,
            merge: ran.elapsed(),
        })
    }
}

/// Where the updates go: what is kept of an earlier run, or what is found by making all keys.
///
/// # Safety
/// That of [`run_forall`](crate::run_forall), for the job's forall.
unsafe fn known_or_found(job: &mut Job<'_>) -> Result<Arc<Routes>, Failure> {
    let known = job.planning.as_ref().and_then(|it| it.routes.clone());
    if let Some(known) = known {
        return Ok(known);
    }
    // SAFETY: the caller vouches for the forall.
    let routes = Arc::new(unsafe { find(job) }?);
    if let Some(planning) = &job.planning {
        planning.keep(&routes);
    }
    Ok(routes)
}

/// Buffers that are merged together, while the forall runs.
struct Column<'c, 's> {
    session: &'c Session<'s>,
    routes: &'c ColumnRoutes,
    privates: &'c [PrivateCall],
    apply: ApplyFn,
    /// For each buffer the values of all updates, those of one part behind those of another, each
    /// part sorted.
    values: SmallVec<[Loan<'s>; 2]>,
    /// Where the values of each part begin.
    starts: Vec<usize>,
}

// SAFETY: the pointers in `privates` and the loans are only handed on; `move_values` and `apply`
// ask their callers to keep tasks apart.
unsafe impl Sync for Column<'_, '_> {}

impl<'c, 's> Column<'c, 's> {
    fn new(
        routes: &'c ColumnRoutes,
        privates: &'c [PrivateCall],
        job: &Job<'s>,
    ) -> Result<Self, Failure> {
        let mut starts = Vec::with_capacity(routes.parts.len());
        let mut length = 0;
        for part in &routes.parts {
            starts.push(length);
            length += part.length();
        }
        let widths = routes.ranges.widths.iter();
        let take = |width: &usize| {
            let bytes = length.saturating_mul(*width) as u64;
            job.session.take(bytes, Held::Privates)
        };
        let number = privates.first().map_or(0, |it| it.merge);
        Ok(Self {
            session: job.session,
            routes,
            privates,
            apply: job.session.apply(number)?,
            values: widths.map(take).collect::<Result<_, _>>()?,
            starts,
        })
    }

    /// Where the values of the sorted update `place` of part `part` are.
    fn values_at(&self, part: usize, place: usize) -> SmallVec<[*mut u8; 2]> {
        let place = self.starts[part] + place;
        let values = self.values.iter().zip(&self.routes.ranges.widths);
        values
            .map(|(loan, width)| loan.address().wrapping_add(place * width))
            .collect()
    }

    /// Applies the updates of range `number`.
    ///
    /// # Safety
    /// Nobody else touches the elements of this range meanwhile, all keys are of its elements, and
    /// all values are there.
    unsafe fn apply(&self, number: usize) {
        let ranges = &self.routes.ranges;
        let held = ranges.targets(self.privates, number);
        for (position, part) in self.routes.parts.iter().enumerate() {
            let place = part.starts[number];
            let values = self.values_at(position, place);
            let (keys, count) = (part.keys_from(place), part.counts[number] as u64);
            // SAFETY: so many keys and values are there; the caller vouches for the rest.
            unsafe { (self.apply)(held.as_ptr(), keys, values.as_ptr(), count) };
        }
    }
}

/// Runs `iterations`, which are part `number`, and sorts the values of their updates. Failures of
/// the body are left with the chunks.
///
/// # Errors
/// For want of memory.
///
/// # Safety
/// The body of `chunks` is one that sorts values for these columns; no other task has the same
/// part.
unsafe fn move_values(
    columns: &[Column<'_, '_>],
    chunks: &Chunks<'_>,
    number: usize,
    iterations: Range<i64>,
) -> Result<(), Failure> {
    let movers = columns.iter().map(|it| Mover::new(it, number));
    let mut movers: Vec<_> = movers.collect::<Result<_, _>>()?;
    let sinks = columns.iter().zip(&mut movers);
    let sinks = sinks.map(|(column, mover)| (column.values.len(), mover as &mut dyn LineSink));
    // SAFETY: handed on as it came.
    unsafe { gathering::run(chunks, number, iterations, sinks) };
    movers.iter_mut().for_each(Mover::finish);
    end_of_copies();
    Ok(())
}

/// The values of one part on their way.
struct Mover<'c, 's> {
    routes: &'c PartRoutes,
    /// Where the values of the part begin, for each buffer.
    values: SmallVec<[*mut u8; 2]>,
    /// For each range where the next line of values goes when all are sorted.
    next: Vec<usize>,
    /// Behind those of all ranges is one for updates that the plan has not foreseen.
    lines: Lines<'s>,
}

impl<'c, 's> Mover<'c, 's> {
    fn new(column: &Column<'c, 's>, part: usize) -> Result<Self, Failure> {
        let ranges = &column.routes.ranges;
        let routes = &column.routes.parts[part];
        let mut lines = Lines::new(column.session, ranges.count + 1, &ranges.widths, false)?;
        lines.expect(ranges.count, 1);
        Ok(Self {
            routes,
            values: column.values_at(part, 0),
            next: routes.starts.clone(),
            lines,
        })
    }

    /// Writes the line of `range`, and empties it.
    fn write(&mut self, range: usize) {
        let place = self.next[range];
        for (lines, values) in self.lines.columns.iter().zip(&self.values) {
            let sink = values.wrapping_add(place * lines.width);
            // SAFETY: lines begin at multiples of their length, and so do the updates of ranges
            // when they are sorted, of which there are no more than the plan has foreseen.
            unsafe { copy_past_caches(lines.line(range), sink, LINE * lines.width) };
        }
        self.next[range] = place + LINE;
        self.lines.empty(range);
    }

    /// Writes the lines that are not full.
    fn finish(&mut self) {
        for range in 0..self.routes.counts.len() {
            if self.lines.gathered(range) > 0 {
                self.write(range);
            }
        }
    }
}

impl LineSink for Mover<'_, '_> {
    fn lines(&mut self) -> abi::Lines {
        abi::Lines {
            ranges: self.routes.sequence.as_ptr(),
            ..self.lines.table()
        }
    }

    fn take(&mut self, range: usize) -> Result<(), Failure> {
        if range == self.routes.counts.len() {
            // The arrays of a plan are borrowed by it, so this does not happen.
            return Err(Failure::Panicked("keys changed under a plan".to_owned()));
        }
        self.write(range);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{KEY_SITE, Scatter, runtime};
    use crate::{Choice, Mode, Plan, Settings, StopToken, Why};

    fn planned() -> Settings {
        Settings {
            strategy: Choice::Named(&Planned),
            ..Settings::default()
        }
    }

    fn kept() -> Settings {
        Settings {
            plan: Some(Plan::default()),
            ..planned()
        }
    }

    #[test]
    fn the_bits_are_those_of_the_serial_loop_in_every_run() {
        for elements in [1, 3, 1000, 70_000, 3_000_000] {
            for threads in [1, 2, 5] {
                let case = Scatter::new(100_003, elements);
                let mut case = case.with_counts(elements).with_sums(elements);
                let settings = Settings {
                    mode: Mode::Exact,
                    ..kept()
                };
                for run in 0..3 {
                    let (counts, sums) = case.expected();
                    let record = case.run(&runtime(threads), &settings).unwrap();
                    assert_eq!((record.strategy, record.updates), ("planned", 100_003));
                    assert_eq!(case.counts, counts, "{elements} on {threads}, run {run}");
                    assert!(case.sums == sums, "{elements} on {threads}, run {run}");
                    // The next run has other values for the same keys.
                    case.weights.rotate_left(1);
                }
            }
        }
    }

    #[test]
    fn few_updates_and_few_iterations_are_enough() {
        for updates in [0, 1, 15, 16, 17, 1023, 1024, 1025] {
            for chunks in [1, 2, 3, 1000] {
                let mut case = Scatter::new(updates, 50).with_sums(50);
                case.chunks = chunks;
                let (_, sums) = case.expected();
                case.run(&runtime(2), &planned()).unwrap();
                assert_eq!(case.sums, sums, "{updates} in {chunks}");
            }
        }
    }

    #[test]
    fn a_plan_serves_any_number_of_threads() {
        let settings = kept();
        for threads in [3, 1, 2, 8] {
            let mut case = Scatter::new(50_000, 900).with_sums(900);
            let (_, sums) = case.expected();
            case.run(&runtime(threads), &settings).unwrap();
            assert_eq!(case.sums, sums);
        }
        let bytes = settings.plan.map_or(0, |plan| plan.bytes());
        assert!((4 * 50_000..5 * 50_000).contains(&bytes), "{bytes}");
    }

    #[test]
    fn a_loop_that_runs_again_gets_a_plan_by_itself() {
        let mut case = Scatter::new(1_200_000, 3_000_000).with_sums(3_000_000);
        // The first run cannot know; that it takes as long as all others together is out of the
        // question.
        case.repeat = 8;
        let mut expected = case.clone();
        for _ in 0..case.repeat {
            expected.sums = expected.expected().1;
        }
        let record = case.run(&runtime(2), &Settings::default()).unwrap();
        assert_eq!(record.strategy, "planned");
        assert!(matches!(record.why, Why::SameKeys { .. }));
        assert!(case.sums == expected.sums);
    }

    #[test]
    fn the_first_fault_is_found_and_nothing_is_applied() {
        let mut case = Scatter::new(200_000, 500).with_counts(500).with_sums(500);
        case.keys[150_000] = 500;
        case.keys[199_000] = -1;
        let before = case.clone();
        let Err(Failure::Fault(fault)) = case.run(&runtime(2), &kept()) else {
            panic!("there are two keys out of range");
        };
        assert_eq!((fault.site, fault.index), (KEY_SITE, 500));
        assert_eq!((case.counts, case.sums), (before.counts, before.sums));
    }

    #[test]
    fn a_stop_applies_nothing() {
        let settings = kept();
        let mut case = Scatter::new(500_000, 99).with_sums(99);
        case.chunks = 1000;
        case.run(&runtime(2), &settings).unwrap();
        let token = StopToken::new();
        case.stop_at = Some((100_000, token.clone()));
        let before = case.sums.clone();
        let settings = Settings {
            stop: Some(token),
            ..settings
        };
        // Of two threads one could be done with everything else before the other comes to the
        // iteration that asks for the stop.
        assert_eq!(case.run(&runtime(1), &settings), Err(Failure::Stopped));
        assert_eq!(case.sums, before);
    }

    #[test]
    fn the_budget_is_kept_and_nothing_is_applied() {
        for memory in [1 << 20, 3 << 20, 9 << 20] {
            let settings = Settings {
                memory: Some(memory),
                ..planned()
            };
            let mut case = Scatter::new(1_000_000, 5000).with_sums(5000);
            let before = case.sums.clone();
            let failure = case.run(&runtime(2), &settings);
            assert!(
                matches!(failure, Err(Failure::OverBudget { .. })),
                "{failure:?}"
            );
            assert_eq!(case.sums, before);
        }
    }
}
