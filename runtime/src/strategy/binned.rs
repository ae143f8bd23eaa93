use super::bins::{BLOCK, Bins, Layout, Slabs};
use super::ranges::Ranges;
use super::{Job, Ran, Shape, Strategy};
use crate::abi::{ApplyFn, BodyShape, PrivateCall};
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Refusal};
use crate::gathering::{self, LineSink};
use crate::memory::lock;
use crate::past_caches::end_of_copies;
use crate::prefetch::prefetch;
use crate::settings::Body;
use crate::timeline::Phase;
use smallvec::SmallVec;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

/// How many bytes of the keys and of each column of a block are asked for ahead; by then a
/// processor knows how they go on.
const FORESEEN: usize = 512;

/// Updates are sorted by ranges of elements first, then applied range by range: the bits of the
/// serial loop, and nothing is written to a target before all iterations have run.
#[derive(Debug)]
pub(super) struct Binned;

pub(super) const NAME: &str = "binned";

impl Strategy for Binned {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        (!shape.can_emit).then_some(Refusal::CannotEmit {
            strategy: self.name(),
        })
    }

    fn body_shape(&self, _body: Body, shape: &Shape) -> BodyShape {
        match shape.is_speculative && !shape.is_apart {
            true => BodyShape::SortedUnmarked,
            false => BodyShape::Sorted,
        }
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        let threads = job.shape.threads;
        let columns = job.together().map(|privates| Column::new(job, privates));
        let columns: Vec<_> = columns.collect::<Result<_, _>>()?;
        let parts = parts(&job.shape, columns.iter().map(|it| it.ranges.count).sum());
        let slabs = columns.iter();
        let slabs = slabs.map(|it| Slabs::new(*job.session, &it.layout, job.shape.trips));
        let sorting = Sorting {
            columns: &columns,
            slabs: slabs.collect(),
        };
        let body = job.body(self)?;
        let chunks = Chunks::new(job.session, job.call, job.forall, true).with_body(body);
        let sorted: Vec<_> = (0..parts).map(|_| Mutex::new(Vec::new())).collect();
        let prepared = Instant::now();
        job.session.runtime().team().for_each(parts, &|number| {
            if chunks.is_wanted(number) {
                let iterations = part(job.shape.count, parts, number);
                // SAFETY: whoever called `run_forall` vouches for the body.
                let bins = unsafe { sorting.run(&chunks, number, iterations) };
                *lock(&sorted[number]) = chunks.settle(number, bins);
            }
        });
        chunks.finish(job.call)?;
        let ran = Instant::now();
        let sorted: Vec<_> = sorted
            .into_iter()
            .map(|it| it.into_inner().unwrap_or_default())
            .collect();
        for (number, column) in columns.iter().enumerate() {
            let bins: Vec<&Bins<'_, '_>> = sorted.iter().filter_map(|it| it.get(number)).collect();
            let applied = Applied { column, bins };
            let team = job.session.runtime().team();
            // SAFETY: the caller vouches for the targets; different ranges have no element in
            // common, and all keys, counted from where the targets of a range begin, are elements
            // of it, since generated code has checked them.
            let apply = |range| unsafe { applied.run(range) };
            team.for_each(column.ranges.count, &|range| {
                job.session.seen(Phase::Merge, || apply(range));
            });
        }
        Ok(Ran {
            chunks: parts as u64,
            threads: threads.min(parts.max(1)),
            prepare: prepared - start,
            main: ran - prepared,
            merge: ran.elapsed(),
        })
    }
}

/// In how many parts to run the iterations: in fewer where these would hardly fill a block of each
/// of so many ranges.
fn parts(shape: &Shape, ranges: usize) -> usize {
    let full = shape.trips / ranges.saturating_mul(BLOCK).max(1) as u64;
    let full = usize::try_from(full).unwrap_or(usize::MAX);
    shape.parts().min(full.max(shape.threads))
}

/// About how many blocks are begun, one for each range in each part of the iterations, as if all
/// targets that are updated together had as many elements.
pub(super) fn blocks(shape: &Shape) -> u64 {
    let together = shape.elements / shape.targets.max(1);
    let ranges = Ranges::number(together, shape.bytes, shape.threads);
    ranges.saturating_mul(parts(shape, ranges)) as u64
}

/// Targets that are updated together.
struct Column<'p> {
    privates: &'p [PrivateCall],
    ranges: Ranges,
    layout: Layout,
    /// For each buffer the value that all updates bring, if they do, as often as there are updates
    /// in a block.
    constants: SmallVec<[Vec<u64>; 2]>,
    apply: ApplyFn,
}

// SAFETY: the pointers in `privates` are only handed on; `Applied::run` asks its caller to keep
// tasks apart.
unsafe impl Sync for Column<'_> {}

impl<'p> Column<'p> {
    fn new(job: &Job<'_>, privates: &'p [PrivateCall]) -> Result<Self, Failure> {
        let ranges = Ranges::new(privates, job.shape.threads);
        let number = privates.first().map_or(0, |it| it.merge);
        let widths = privates.iter().zip(&ranges.widths);
        let widths = widths.map(|(it, width)| if it.constant == 1 { 0 } else { *width });
        Ok(Self {
            privates,
            layout: Layout {
                widths: widths.collect(),
            },
            constants: privates.iter().map(repeated).collect(),
            apply: job.session.apply(number)?,
            ranges,
        })
    }
}

/// The value that all updates of `private` bring, as often as there are updates in a block; nothing
/// if they bring several.
fn repeated(private: &PrivateCall) -> Vec<u64> {
    if private.constant == 0 {
        return Vec::new();
    }
    let bits = u8::BITS * private.element_bytes;
    let ones = u64::MAX / (u64::MAX >> (u64::BITS - bits));
    vec![private.value * ones; BLOCK * private.element_bytes as usize / size_of::<u64>()]
}

/// The first half of the work.
struct Sorting<'c, 's> {
    columns: &'c [Column<'c>],
    slabs: Vec<Slabs<'s>>,
}

impl<'s> Sorting<'_, 's> {
    /// The updates of `iterations`, which are chunk `number`, for each column. Failures of the body
    /// are left with the chunks.
    ///
    /// # Errors
    /// For want of memory.
    ///
    /// # Safety
    /// The body of `chunks` is one that sorts updates, of these columns.
    unsafe fn run<'a>(
        &'a self,
        chunks: &Chunks<'_>,
        number: usize,
        iterations: Range<i64>,
    ) -> Result<Vec<Bins<'a, 's>>, Failure> {
        let columns = self.columns.iter().zip(&self.slabs);
        let bins = columns.map(|(column, slabs)| Bins::new(&column.ranges, &column.layout, slabs));
        let mut bins: Vec<_> = bins.collect::<Result<_, _>>()?;
        let sinks = self.columns.iter().zip(&mut bins);
        let sinks = sinks.map(|(column, bins)| (column.privates.len(), bins as &mut dyn LineSink));
        // SAFETY: handed on as it came.
        unsafe { gathering::run(chunks, number, iterations, sinks) };
        let finished = bins.iter_mut().try_for_each(Bins::finish);
        end_of_copies();
        finished.map(|()| bins)
    }
}

/// The second half: the updates of one column, in the order of the parts of the iterations.
struct Applied<'a, 's> {
    column: &'a Column<'a>,
    bins: Vec<&'a Bins<'a, 's>>,
}

// SAFETY: blocks are only read from here on; `run` asks its caller to keep tasks apart.
unsafe impl Sync for Applied<'_, '_> {}

impl Applied<'_, '_> {
    /// Applies the updates of range `number`.
    ///
    /// # Safety
    /// Nobody else touches the elements of this range meanwhile, and all keys are of its elements.
    unsafe fn run(&self, number: usize) {
        let Column {
            privates,
            ranges,
            layout,
            constants,
            apply,
        } = self.column;
        let held = ranges.targets(privates, number);
        let blocks = || self.bins.iter().flat_map(|it| it.blocks(number));
        let mut following = blocks().skip(1);
        for (block, count) in blocks() {
            // Blocks of a range lie apart, and processors foresee nothing beyond the end of one.
            if let Some((next, _)) = following.next() {
                prefetch(next, FORESEEN);
                let columns = layout.columns().zip(&layout.widths);
                let read = columns.filter(|(_, width)| **width > 0);
                read.for_each(|(column, _)| prefetch(next.wrapping_add(column), FORESEEN));
            }
            let values = layout.columns().zip(constants).map(|(column, constant)| {
                if constant.is_empty() {
                    block.wrapping_add(column)
                } else {
                    constant.as_ptr().cast::<u8>().cast_mut()
                }
            });
            let values: SmallVec<[*mut u8; 2]> = values.collect();
            // SAFETY: a block has its keys first, then its columns, with `count` updates in each;
            // of what has no column there are as many values as a block has updates. They are only
            // read. The caller vouches for the rest.
            unsafe { apply(held.as_ptr(), block.cast(), values.as_ptr(), count as u64) };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{KEY_SITE, Scatter, runtime};
    use crate::{Choice, Mode, Settings, StopToken, Why};

    fn binned() -> Settings {
        Settings {
            strategy: Choice::Named(&Binned),
            ..Settings::default()
        }
    }

    #[test]
    fn the_bits_are_those_of_the_serial_loop() {
        for elements in [1, 3, 1000, 70_000, 3_000_000] {
            for threads in [1, 2, 5] {
                for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
                    let case = Scatter::new(100_003, elements);
                    let mut case = case.with_counts(elements).with_sums(elements);
                    let (counts, sums) = case.expected();
                    let settings = Settings { mode, ..binned() };
                    let record = case.run(&runtime(threads), &settings).unwrap();
                    assert_eq!(record.strategy, "binned");
                    assert_eq!(record.updates, 100_003);
                    assert_eq!(case.counts, counts, "{elements} on {threads}");
                    assert_eq!(case.sums, sums, "{elements} on {threads}");
                }
            }
        }
    }

    #[test]
    fn few_updates_and_few_iterations_are_enough() {
        for updates in [0, 1, 31, 32, 33, 1023, 1024, 1025] {
            for chunks in [1, 2, 3, 1000] {
                let mut case = Scatter::new(updates, 50).with_sums(50);
                case.chunks = chunks;
                let (_, sums) = case.expected();
                case.run(&runtime(2), &binned()).unwrap();
                assert_eq!(case.sums, sums, "{updates} in {chunks}");
            }
        }
    }

    #[test]
    fn the_first_fault_is_found_and_nothing_is_applied() {
        let mut case = Scatter::new(200_000, 500).with_counts(500).with_sums(500);
        case.keys[150_000] = 500;
        case.keys[199_000] = -1;
        let before = case.clone();
        let Err(Failure::Fault(fault)) = case.run(&runtime(2), &binned()) else {
            panic!("there are two keys out of range");
        };
        assert_eq!((fault.site, fault.index), (KEY_SITE, 500));
        assert_eq!((case.counts, case.sums), (before.counts, before.sums));
    }

    #[test]
    fn a_stop_applies_nothing() {
        let token = StopToken::new();
        let mut case = Scatter::new(500_000, 99).with_sums(99);
        case.chunks = 1000;
        case.stop_at = Some((100_000, token.clone()));
        let before = case.sums.clone();
        let settings = Settings {
            stop: Some(token),
            ..binned()
        };
        // Of two threads, the one that asks could be the last one at work.
        assert_eq!(case.run(&runtime(1), &settings), Err(Failure::Stopped));
        assert_eq!(case.sums, before);
    }

    #[test]
    fn the_budget_is_kept_and_nothing_is_applied() {
        let settings = Settings {
            memory: Some(2 << 20),
            ..binned()
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

    #[test]
    fn a_choice_that_goes_over_the_budget_is_made_good_in_order() {
        let settings = Settings {
            memory: Some(2 << 20),
            ..Settings::default()
        };
        let mut case = Scatter::new(1_200_000, 3_000_000).with_sums(3_000_000);
        // Nobody copies the sums first, so that there is memory for the loop as it is.
        case.guarded = 1;
        let (_, sums) = case.expected();
        let record = case.run(&runtime(2), &settings).unwrap();
        assert_eq!(record.strategy, "serial");
        assert!(matches!(record.why, Why::OverBudget { .. }));
        assert!(case.sums == sums);
    }

    #[test]
    fn what_makes_no_updates_is_refused() {
        let mut case = Scatter::new(10, 4).with_counts(4);
        case.emits = false;
        let failure = case.run(&runtime(2), &binned());
        let refusal = Refusal::CannotEmit { strategy: "binned" };
        assert_eq!(failure, Err(Failure::Refused(refusal)));
    }
}
