use super::buffers::{Buffers, Layout, Table, merge};
use super::merge::{Column, Filled};
use super::reach::Reach;
use super::{Job, Ran, Shape, Strategy, distance};
use crate::abi::BodyShape;
use crate::chunks::{Chunks, part};
use crate::failure::{Failure, Refusal};
use crate::memory::lock;
use crate::settings::Body;
use std::ops::Range;
use std::sync::Mutex;
use std::time::Instant;

/// Private buffers for groups of consecutive iterations, of which only the pages that a group
/// updates are filled and merged: for keys that are near each other within a group, as those of
/// sorted data are, and for a few keys wherever they are.
#[derive(Debug)]
pub(super) struct Blocked;

/// The number of groups where the grouping is fixed, as for `dense`.
const FIXED_GROUPS: usize = 8;

/// A few elements in all tables of all groups, with what tells the pages that are filled.
const MOST_BYTES_OF_FEW: u64 = 4 << 20;

/// The addresses that buffers may take, if there are more groups than two.
const MOST_BYTES: u64 = 1 << 30;

impl Strategy for Blocked {
    fn name(&self) -> &'static str {
        "blocked"
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let strategy = self.name();
        if shape.mode == crate::Mode::Exact && !shape.is_exact {
            Some(Refusal::Regroups { strategy })
        } else {
            (!shape.has_bodies).then_some(Refusal::NoBodies { strategy })
        }
    }

    fn body_shape(&self, body: Body, _shape: &Shape) -> BodyShape {
        match body {
            Body::RunLength => BodyShape::PagedRunLength,
            Body::Partials => BodyShape::PagedPartials,
            Body::Tables => BodyShape::PagedTables,
            Body::Auto | Body::Direct => BodyShape::Paged,
        }
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        let tables = job.tables();
        let groups = groups(&job.shape, tables);
        let parts = groups.saturating_mul(tables);
        let take = |bytes| job.session.take_untouched(bytes);
        let buffers = Buffers::new(job.privates, Layout::Fields, (groups, tables), take)?;
        let mut columns = buffers.columns(job.session)?;
        let chunks = job.chunks(job.body(self)?);
        let budget = job.session.budget();
        // Where more is touched than what was seen lets expect, others do it better.
        let budget = match job.is_few {
            true => budget.min(job.session.loaned().saturating_add(MOST_BYTES_OF_FEW)),
            false => budget,
        };
        let filled: Vec<_> = (0..groups).map(|_| Mutex::default()).collect();
        let prepared = Instant::now();
        let group = Group {
            buffers: &buffers,
            columns: &columns,
            tables,
            budget,
        };
        job.session.runtime().team().for_each(groups, &|number| {
            if chunks.is_wanted(number) {
                let iterations = part(job.shape.count, groups, number);
                // SAFETY: the buffers of a group belong to the task that runs it.
                let outcome = unsafe { group.run(&chunks, number, iterations) };
                *lock(&filled[number]) = chunks.settle(number, outcome);
            }
        });
        chunks.finish(job.call)?;
        let ran = Instant::now();
        let filled = filled.into_iter().map(Mutex::into_inner);
        let mut filled: Vec<_> = filled.map(Result::unwrap_or_default).collect();
        for (position, column) in columns.iter_mut().enumerate() {
            let of_column = filled.iter_mut().map(|it| it.get_mut(position));
            let groups = of_column.map(|it| it.map(std::mem::take).unwrap_or_default());
            column.filled = Some(Filled::new(groups.collect(), tables));
        }
        // SAFETY: all groups have run, so nobody else touches the buffers; the caller vouches for
        // the targets.
        unsafe { merge(&columns, parts, job) };
        Ok(Ran {
            chunks: groups as u64,
            threads: job.shape.threads.min(groups.max(1)),
            prepare: prepared - start,
            main: ran - prepared,
            merge: ran.elapsed(),
        })
    }
}

/// In how many groups the iterations run. Unless the grouping is free, this depends on the sizes
/// alone.
fn groups(shape: &Shape, tables: usize) -> usize {
    let groups = match shape.is_free() {
        true => shape.parts(),
        false => FIXED_GROUPS,
    };
    let of_a_group = shape.bytes.saturating_mul(tables as u64).max(1);
    let most = match tables {
        1 => usize::MAX,
        _ => usize::try_from(MOST_BYTES / of_a_group).unwrap_or(usize::MAX),
    };
    let groups = groups.min(most.max(2));
    groups.min(usize::try_from(shape.count).unwrap_or(usize::MAX))
}

/// What the groups have in common.
struct Group<'g, 'j> {
    buffers: &'g Buffers<'j>,
    columns: &'g [Column<'j>],
    /// The parts of a group.
    tables: usize,
    budget: u64,
}

impl Group<'_, '_> {
    /// Runs `iterations` as group `number`, and returns for each column which pages its buffers
    /// hold something in.
    ///
    /// # Errors
    /// [`Failure::OverBudget`], [`Failure::OutOfMemory`].
    ///
    /// # Safety
    /// Nobody else touches the buffers of this group meanwhile.
    unsafe fn run(
        &self,
        chunks: &Chunks<'_>,
        number: usize,
        iterations: Range<i64>,
    ) -> Result<Vec<Vec<u8>>, Failure> {
        let parts = number * self.tables..(number + 1) * self.tables;
        let tables: Vec<Table> = parts.map(|it| self.buffers.table(it)).collect();
        let mut first = 0;
        let reaches = self.columns.iter().map(|column| {
            let own = first..first + column.privates.len();
            first = own.end;
            let buffers = tables.iter().filter_map(|table| table.get(own.clone()));
            let buffers = buffers.flatten().copied().collect();
            Reach::new(column.privates, buffers, self.buffers.loan(), self.budget)
        });
        let mut reaches = reaches.collect::<Result<Vec<_>, _>>()?;
        let mut table = tables.first().cloned().unwrap_or_default();
        for (reach, column) in reaches.iter_mut().zip(self.columns) {
            table.push(reach.address());
            // The others share the pages of the first.
            table.resize(
                table.len() + column.privates.len() - 1,
                std::ptr::null_mut(),
            );
        }
        table.push(distance(self.buffers.stride()));
        // SAFETY: the caller vouches for the buffers; the pages stay where they are until the body
        // has ended.
        unsafe { chunks.run(number, iterations, &table) };
        Ok(reaches.into_iter().map(Reach::into_filled).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{Scatter, runtime};
    use crate::{Choice, Mode, Settings};

    fn named(strategy: &'static dyn Strategy) -> Settings {
        Settings {
            strategy: Choice::Named(strategy),
            ..Settings::default()
        }
    }

    /// Keys that rise from the first update to the last.
    fn sorted(updates: usize, elements: usize) -> Scatter {
        let mut case = Scatter::new(updates, elements);
        case.keys.sort_unstable();
        case.with_counts(elements).with_sums(elements)
    }

    #[test]
    fn the_bits_are_those_of_dense_groups() {
        for elements in [1, 5000, 200_000] {
            for case in [
                sorted(1_000_000, elements),
                Scatter::new(1_000_000, elements).with_sums(elements),
            ] {
                let mut dense = case.clone();
                // As many groups as here, whatever the sizes.
                dense.chunks = 8;
                let shape = named(&super::super::dense::Dense);
                dense.run(&runtime(2), &shape).unwrap();
                for (threads, body) in [(1, Body::Auto), (2, Body::Tables), (5, Body::Direct)] {
                    let mut blocked = case.clone();
                    let settings = Settings {
                        body,
                        ..named(&Blocked)
                    };
                    let record = blocked.run(&runtime(threads), &settings).unwrap();
                    assert_eq!(record.strategy, "blocked");
                    assert_eq!(blocked.counts, dense.counts);
                    if elements < 100_000 {
                        assert_eq!(blocked.sum_bits(), dense.sum_bits(), "{elements}");
                    }
                }
            }
        }
    }

    #[test]
    fn sorted_keys_take_little_memory() {
        let mut case = sorted(1_000_000, 800_000);
        let record = case.run(&runtime(2), &named(&Blocked)).unwrap();
        let whole = 8 * 800_000 * 12;
        assert!(record.private_bytes < whole / 6, "{}", record.private_bytes);
    }

    #[test]
    fn two_keys_far_apart_take_little_memory() {
        for body in [Body::Direct, Body::Tables] {
            let mut case = Scatter::new(1_000_000, 800_000);
            case.keys
                .iter_mut()
                .for_each(|key| *key = *key % 2 * 799_999);
            let mut case = case.with_counts(800_000).with_sums(800_000);
            let (counts, _) = case.expected();
            let settings = Settings {
                body,
                ..named(&Blocked)
            };
            let record = case.run(&runtime(2), &settings).unwrap();
            assert_eq!(case.counts, counts);
            let whole = 8 * 800_000 * 12;
            assert!(
                record.private_bytes < whole / 100,
                "{}",
                record.private_bytes
            );
        }
    }

    #[test]
    fn keys_that_only_seemed_few_go_another_way() {
        let mut case = Scatter::new(1_200_000, 200_000).with_sums(200_000);
        let mut few = case.clone();
        for (i, key) in few.keys.iter_mut().enumerate() {
            *key = *key % 2 * 199_999;
            if i % 150_000 < 1000 {
                case.keys[i] = *key;
            }
        }
        let run = |case: &Scatter, threads: usize| {
            let mut case = case.clone();
            let record = case.run(&runtime(threads), &Settings::default()).unwrap();
            (record.strategy, case.sum_bits())
        };
        assert_eq!(run(&few, 2).0, "blocked");
        let (strategy, bits) = run(&case, 2);
        assert_ne!(strategy, "blocked");
        assert_eq!((strategy, bits), run(&case, 1));
    }

    #[test]
    fn elements_that_nobody_updates_are_not_touched() {
        let mut case = sorted(100_000, 300_000);
        case.keys
            .iter_mut()
            .for_each(|key| *key = *key / 3 + 100_000);
        let before = case.sums.clone().unwrap();
        let (counts, _) = case.expected();
        case.run(&runtime(2), &named(&Blocked)).unwrap();
        assert_eq!(case.counts, counts);
        let after = case.sums.unwrap();
        assert_eq!(after[..100_000], before[..100_000]);
        assert_eq!(after[200_000..], before[200_000..]);
    }

    #[test]
    fn the_budget_is_kept_and_nothing_is_merged() {
        let settings = Settings {
            memory: Some(100_000),
            ..named(&Blocked)
        };
        let mut case = Scatter::new(100_000, 50_000).with_sums(50_000);
        let before = case.sums.clone();
        let failure = case.run(&runtime(2), &settings);
        assert!(
            matches!(failure, Err(Failure::OverBudget { .. })),
            "{failure:?}"
        );
        assert_eq!(case.sums, before);
    }

    #[test]
    fn exact_mode_is_refused_where_it_matters() {
        let settings = Settings {
            mode: Mode::Exact,
            ..named(&Blocked)
        };
        let mut case = Scatter::new(10, 4).with_sums(4);
        let refusal = Refusal::Regroups {
            strategy: "blocked",
        };
        let failure = case.run(&runtime(2), &settings);
        assert_eq!(failure, Err(Failure::Refused(refusal)));
    }
}
