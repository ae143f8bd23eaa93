use super::buffers::{Buffers, Layout, merge};
use super::{Job, Ran, Shape, Strategy, distance};
use crate::abi::BodyShape;
use crate::chunks::part;
use crate::failure::{Failure, Held, Refusal};
use crate::settings::Body;
use crate::timeline::Phase;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

pub(super) const NAME: &str = "dense";

/// Private buffers for each of a few groups of iterations, merged by a fixed tree.
#[derive(Debug)]
pub(super) struct Dense;

/// The number of groups where the grouping is fixed: enough for eight threads, few enough for the
/// caches.
const FIXED_GROUPS: u64 = 8;

/// More than the fewest groups are made only while all their buffers together are no larger.
const FIXED_BYTES: u64 = 16 << 20;

/// Where the grouping is free, but for the order, there are more groups than threads, to even out
/// slow threads, as long as they are no larger.
const SPARE_BYTES: u64 = 1 << 20;

/// In so many parts at most the iterations are dealt out to groups.
const MOST_PARTS: usize = 256;

/// Where the grouping is free, it has fewer groups than threads before they are larger.
const FREE_BYTES: u64 = 512 << 20;

/// More than the fewest groups are made only from so many iterations for each element of each
/// group: to fill and to merge it takes about as long as half a simple update, so this keeps it
/// near an eighth of the work.
const TRIPS_PER_ELEMENT: u64 = 4;

/// The same for buffers that together are larger than [`NEAR_BYTES`]: far from the processor, to
/// fill and to merge an element takes longer, and updates of more buffers find less of them in the
/// caches.
const TRIPS_PER_ELEMENT_FAR: u64 = 8;

/// About what fits the second caches of two processors.
const NEAR_BYTES: u64 = 2 << 20;

/// In lanes, updates take less than half as long, copies as long as ever.
const MOST_LANES: u64 = 2;

impl Strategy for Dense {
    fn name(&self) -> &'static str {
        NAME
    }

    fn refusal(&self, shape: &Shape) -> Option<Refusal> {
        let keeps_bits = shape.mode != crate::Mode::Exact || shape.is_exact;
        (!keeps_bits).then_some(Refusal::Regroups {
            strategy: self.name(),
        })
    }

    fn body_shape(&self, body: Body, shape: &Shape) -> BodyShape {
        match body {
            _ if shape.is_apart => BodyShape::Apart,
            _ if shape.is_speculative => BodyShape::Unmarked,
            Body::Auto | Body::Direct => BodyShape::Direct,
            Body::RunLength => BodyShape::RunLength,
            Body::Partials => BodyShape::Partials,
            Body::Tables => BodyShape::Tables,
        }
    }

    unsafe fn run(&self, job: &mut Job<'_>) -> Result<Ran, Failure> {
        let start = Instant::now();
        let groups = groups(&job.shape);
        let tables = job.tables();
        let parts = groups.saturating_mul(tables);
        let take = |bytes| job.session.take(bytes, Held::Privates);
        let buffers = Buffers::new(job.privates, Layout::Records, (groups, tables), take)?;
        let columns = buffers.columns(job.session)?;
        let deal = Deal::of(&job.shape, groups);
        let prepared = Instant::now();
        let chunks = job.chunks(job.body(self)?);
        job.session.runtime().team().for_each(groups, &|group| {
            let mut dealt = deal.first(group);
            if dealt.is_some_and(|part| !chunks.is_wanted(part)) {
                return;
            }
            // SAFETY: the buffers of a group belong to the task that runs it, and hold identities
            // before the body sees them.
            unsafe {
                job.session.seen(Phase::Prepare, || {
                    (0..tables).for_each(|table| buffers.fill(group * tables + table));
                });
                let mut table = buffers.table(group * tables);
                table.push(distance(buffers.stride()));
                while let Some(number) = dealt {
                    let iterations = part(job.shape.count, deal.parts, number);
                    chunks.run(number, iterations, &table);
                    dealt = deal.next(group, number);
                }
            }
        });
        chunks.finish(job.call)?;
        let ran = Instant::now();
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
pub(super) fn groups(shape: &Shape) -> usize {
    let groups = if shape.is_separate {
        shape.count
    } else if shape.is_free() {
        free_groups(shape)
    } else {
        fixed_groups(shape)
    };
    usize::try_from(groups.min(shape.count)).unwrap_or(usize::MAX)
}

fn free_groups(shape: &Shape) -> u64 {
    let threads = shape.threads as u64;
    let with_spare = threads.saturating_mul(4);
    if threads > 1 && !shape.commutes && is_cheap(shape, with_spare, SPARE_BYTES) {
        return with_spare;
    }
    let most = FREE_BYTES / shape.bytes.max(1);
    threads.min(most.max(2))
}

fn fixed_groups(shape: &Shape) -> u64 {
    let mut groups = FIXED_GROUPS;
    while groups > 2 && !is_cheap(shape, groups, FIXED_BYTES) {
        groups /= 2;
    }
    groups
}

fn is_cheap(shape: &Shape, groups: u64, most_bytes: u64) -> bool {
    let elements = shape.elements.saturating_mul(groups);
    let bytes = shape.bytes.saturating_mul(groups);
    let trips = match bytes <= NEAR_BYTES {
        true => TRIPS_PER_ELEMENT,
        false => TRIPS_PER_ELEMENT_FAR,
    };
    let trips = trips * shape.lanes.min(MOST_LANES);
    bytes <= most_bytes && elements.saturating_mul(trips) <= shape.trips
}

/// Which parts of the iterations each group gets. Loops that have more parts than groups take
/// differently long for each: where the vertices of a graph come by their degrees, the first eighth
/// of them has most of the edges, and in R-MAT graphs every other part has three quarters. So with
/// each round another group comes first, as in the sequence of Thue and Morse, which leaves none
/// with more.
#[derive(Debug)]
struct Deal {
    parts: usize,
    groups: usize,
    /// The next part of all, where each group gets whichever that is once it is ready.
    next: Option<AtomicUsize>,
}

impl Deal {
    fn of(shape: &Shape, groups: usize) -> Self {
        let count = usize::try_from(shape.count).unwrap_or(usize::MAX);
        // Operands that may not be exchanged keep the order of the loop: groups of consecutive
        // iterations, merged in their order.
        let several = groups > 1 && shape.commutes && !shape.is_separate;
        let is_any = several && shape.is_free();
        Self {
            parts: match is_any || several && shape.count > FIXED_GROUPS {
                true => count.min(MOST_PARTS.max(groups)),
                false => groups,
            },
            groups,
            next: is_any.then(AtomicUsize::default),
        }
    }

    fn first(&self, group: usize) -> Option<usize> {
        self.take(group, 0)
    }

    /// What `group` gets after `part`.
    fn next(&self, group: usize, part: usize) -> Option<usize> {
        self.take(group, part / self.groups + 1)
    }

    /// What `group` gets in `round`: the next part of all, if any will do.
    fn take(&self, group: usize, round: usize) -> Option<usize> {
        let part = match &self.next {
            Some(next) => next.fetch_add(1, Ordering::Relaxed),
            None => round * self.groups + (group + self.shift(round)) % self.groups,
        };
        (part < self.parts).then_some(part)
    }

    /// By how many places the groups are shifted in `round`: the sum of the digits of its number,
    /// to the base of how many groups there are.
    fn shift(&self, round: usize) -> usize {
        let base = self.groups.max(2);
        let digits = std::iter::successors(Some(round), |rest| Some(rest / base));
        let digits = digits.take_while(|rest| *rest > 0);
        digits.map(|rest| rest % base).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::abi::FaultRecord;
    use crate::test_kernels::{KEY_SITE, Scatter, runtime};
    use crate::{Choice, Mode, Settings, StopToken};

    const DENSE: u32 = 1;
    const UPDATES: usize = 200_000;

    fn mode(mode: Mode) -> Settings {
        Settings {
            mode,
            ..Settings::default()
        }
    }

    /// The sums of eight groups, each from the identity, added as `((0+1)+(2+3))+((4+5)+(6+7))` and
    /// then to what was there. The groups get eight of `parts` equal parts each time, one place
    /// further than the time before; there are no more than 64.
    fn tree_of_eight(case: &Scatter, elements: usize, parts: usize) -> Vec<u64> {
        let updates = case.keys.len();
        let sums_of = |group: usize| {
            let mut sums = vec![-0.0; elements];
            let parts_of_group = (0..parts / 8).map(|round| round * 8 + (group + round) % 8);
            for i in parts_of_group.flat_map(|it| it * updates / parts..(it + 1) * updates / parts)
            {
                sums[case.keys[i] as usize] += case.weights[i];
            }
            sums
        };
        let p: Vec<Vec<f64>> = (0..8).map(sums_of).collect();
        let held = case.sums.as_ref().unwrap();
        let at = |e: usize| {
            let left = (p[0][e] + p[1][e]) + (p[2][e] + p[3][e]);
            let right = (p[4][e] + p[5][e]) + (p[6][e] + p[7][e]);
            (held[e] + (left + right)).to_bits()
        };
        (0..elements).map(at).collect()
    }

    #[test]
    fn fixed_groups_follow_the_sizes_alone() {
        let of = |trips: u64, elements: u64, count: u64, threads: usize| {
            groups(&Shape {
                threads,
                ..Shape::of_updates(count, trips, elements)
            })
        };
        for threads in [1, 2, 64] {
            assert_eq!(of(1 << 40, 1 << 18, 8, threads), 8);
            assert_eq!(of(1 << 40, (1 << 18) + 1, 8, threads), 4);
            assert_eq!(of(1 << 40, (1 << 19) + 1, 8, threads), 2);
            assert_eq!(of(1 << 40, 1 << 37, 8, threads), 2);
            assert_eq!(of(32_000, 1000, 8, threads), 8);
            assert_eq!(of(31_999, 1000, 8, threads), 4);
            assert_eq!(of(15_999, 1000, 8, threads), 2);
            assert_eq!(of(1 << 30, 1, 3, threads), 3);
            assert_eq!(of(1 << 30, 1, 0, threads), 0);
            assert_eq!(of(1 << 30, 1, 1000, threads), 8);
        }
    }

    #[test]
    fn free_groups_follow_the_threads() {
        let of = |elements: u64, threads: usize| {
            groups(&Shape {
                bytes: elements * 4,
                is_exact: true,
                threads,
                ..Shape::of_updates(1000, 1 << 20, elements)
            })
        };
        assert_eq!((of(256, 1), of(256, 2), of(256, 16)), (1, 2, 16));
        let in_order = Shape {
            commutes: false,
            is_exact: true,
            ..Shape::of_updates(1000, 1 << 20, 256)
        };
        assert_eq!(groups(&in_order), 8);
        assert_eq!((of(1 << 20, 2), of(1 << 20, 16)), (2, 16));
        assert_eq!(
            (of(1 << 26, 1), of(1 << 26, 16), of(1 << 40, 16)),
            (1, 2, 2)
        );
    }

    #[test]
    fn every_part_is_dealt_to_one_group() {
        for mode in [Mode::Stable, Mode::Fast] {
            for (count, groups) in [(8, 8), (8, 2), (9, 8), (64, 8), (64, 1), (1 << 40, 4)] {
                let shape = Shape {
                    mode,
                    ..Shape::of_updates(count, 1 << 40, 100)
                };
                let deal = Deal::of(&shape, groups);
                let deal = &deal;
                let of_group = |group| {
                    std::iter::successors(deal.first(group), move |part| deal.next(group, *part))
                };
                let mut dealt: Vec<_> = (0..groups).flat_map(of_group).collect();
                dealt.sort_unstable();
                assert_eq!(dealt, (0..deal.parts).collect::<Vec<_>>());
                assert!((groups..=MOST_PARTS).contains(&deal.parts));
            }
        }
    }

    #[test]
    fn operands_that_may_not_be_exchanged_stay_in_order() {
        for mode in [Mode::Stable, Mode::Fast] {
            let shape = Shape {
                mode,
                commutes: false,
                ..Shape::of_updates(64, 1 << 40, 100)
            };
            let deal = Deal::of(&shape, 8);
            let dealt: Vec<_> = (0..8)
                .map(|it| (deal.first(it), deal.next(it, it)))
                .collect();
            assert_eq!(deal.parts, 8);
            assert!(
                dealt
                    .iter()
                    .enumerate()
                    .all(|(group, it)| *it == (Some(group), None))
            );
        }
    }

    #[test]
    fn stable_sums_have_the_same_bits_at_any_number_of_threads() {
        for elements in [1, 100, 5000] {
            // Enough updates for eight groups at each of these sizes.
            let case = Scatter::new(UPDATES, elements).with_sums(elements);
            for chunks in [8, 64] {
                let expected = tree_of_eight(&case, elements, chunks as usize);
                for threads in [1, 2, 4, 8, 16] {
                    let runtime = runtime(threads);
                    let mut case = Scatter {
                        chunks,
                        ..case.clone()
                    };
                    let record = case.run(&runtime, &Settings::default()).unwrap();
                    assert_eq!(record.strategy, "dense");
                    assert_eq!((record.chunks, record.updates), (8, UPDATES as u64));
                    assert_eq!(case.sum_bits(), expected, "{threads} threads");
                }
            }
        }
    }

    #[test]
    fn counts_are_those_of_a_plain_loop_in_every_mode() {
        for settings in [Mode::Fast, Mode::Stable, Mode::Exact].map(mode) {
            for threads in [1, 2, 3, 8] {
                let mut case = Scatter::new(UPDATES, 1000).with_counts(1000);
                let (expected, _) = case.expected();
                case.strategy = DENSE;
                let record = case.run(&runtime(threads), &settings).unwrap();
                assert_eq!(record.strategy, "dense");
                assert_eq!(case.counts, expected);
            }
        }
    }

    #[test]
    fn privates_of_different_types_are_merged_together() {
        for chunks in [1, 2, 3, 5, 8, 100] {
            let case = Scatter::new(UPDATES, 333).with_counts(333).with_sums(333);
            let (counts, sums) = case.expected();
            let mut case = Scatter {
                chunks,
                strategy: DENSE,
                ..case
            };
            case.run(&runtime(4), &Settings::default()).unwrap();
            assert_eq!(case.counts, counts);
            for (sum, expected) in case.sums.iter().flatten().zip(sums.iter().flatten()) {
                assert!((sum - expected).abs() <= 1e-9 * expected.abs());
            }
        }
    }

    #[test]
    fn a_merge_in_many_pieces_reaches_every_element() {
        let elements = 150_001;
        let mut case = Scatter::new(20_000, elements).with_counts(elements);
        let (expected, _) = case.expected();
        case.strategy = DENSE;
        case.run(&runtime(3), &Settings::default()).unwrap();
        assert_eq!(case.counts, expected);
    }

    #[test]
    fn the_first_fault_in_order_wins_and_nothing_is_merged() {
        for threads in [1, 2, 8] {
            let mut case = Scatter::new(UPDATES, 50).with_counts(50).with_sums(50);
            for (i, key) in [(199_999, -1), (150_000, 50), (149_999, 77), (190_000, 60)] {
                case.keys[i] = key;
            }
            let before = case.clone();
            let failure = case.run(&runtime(threads), &Settings::default());
            let mut expected = FaultRecord {
                site: KEY_SITE,
                depth: 1,
                index: 77,
                extent: 50,
                ..FaultRecord::default()
            };
            expected.iteration[0] = 149_999;
            assert_eq!(failure, Err(Failure::Fault(expected)));
            assert_eq!(
                (case.counts.as_ref(), case.sum_bits()),
                (before.counts.as_ref(), before.sum_bits())
            );
        }
    }

    #[test]
    fn a_stop_between_groups_merges_nothing() {
        let token = StopToken::new();
        let mut case = Scatter::new(UPDATES, 50).with_sums(50);
        case.stop_at = Some((10, token.clone()));
        let settings = Settings {
            stop: Some(token),
            strategy: Choice::Named(&Dense),
            ..Settings::default()
        };
        let before = case.sum_bits();
        // Of two threads, one could have begun with the last group before the other asks.
        assert_eq!(case.run(&runtime(1), &settings), Err(Failure::Stopped));
        assert_eq!(case.sum_bits(), before);
    }

    #[test]
    fn too_small_a_budget_is_refused_before_the_start() {
        let settings = Settings {
            memory: Some(10_000),
            ..Settings::default()
        };
        let mut case = Scatter::new(UPDATES, 1000).with_sums(1000);
        let before = case.sum_bits();
        let failure = case.run(&runtime(2), &settings);
        // 8000 bytes, a multiple of 128 from there: 8064, for each of eight groups.
        let expected = Failure::OverBudget {
            held: Held::Privates,
            needed: 64_512,
            budget: 10_000,
        };
        assert_eq!(failure, Err(expected));
        assert_eq!(case.sum_bits(), before);
    }

    #[test]
    fn private_bytes_are_the_most_that_was_held() {
        let mut case = Scatter::new(UPDATES, 1000).with_sums(1000);
        case.repeat = 3;
        let record = case.run(&runtime(2), &Settings::default()).unwrap();
        assert_eq!((record.private_bytes, record.chunks), (64_512, 24));
    }

    #[test]
    fn exact_mode_refuses_to_round_otherwise() {
        let settings = Settings {
            strategy: Choice::Named(&Dense),
            ..mode(Mode::Exact)
        };
        let mut case = Scatter::new(UPDATES, 10).with_sums(10);
        let refusal = Refusal::Regroups { strategy: "dense" };
        assert_eq!(
            case.run(&runtime(2), &settings),
            Err(Failure::Refused(refusal))
        );
    }

    #[test]
    fn nothing_to_do_is_done() {
        for (updates, elements, chunks) in [(0, 0, 8), (0, 5, 8), (10, 5, 0), (10, 5, -3)] {
            let mut case = Scatter::new(updates, elements)
                .with_counts(elements)
                .with_sums(elements);
            case.chunks = chunks;
            case.strategy = DENSE;
            let before = case.clone();
            let record = case.run(&runtime(2), &Settings::default()).unwrap();
            assert_eq!(record.updates, 0);
            assert_eq!(
                (case.counts.as_ref(), case.sum_bits()),
                (before.counts.as_ref(), before.sum_bits())
            );
        }
    }

    #[test]
    fn untouched_negative_zeros_stay() {
        let mut case = Scatter::new(0, 3).with_sums(3);
        case.sums = Some(vec![-0.0; 3]);
        case.strategy = DENSE;
        case.run(&runtime(2), &Settings::default()).unwrap();
        assert_eq!(case.sum_bits(), vec![(-0.0_f64).to_bits(); 3]);
    }

    #[test]
    fn an_update_of_nothing_faults() {
        let mut case = Scatter::new(8, 0).with_counts(0);
        case.strategy = DENSE;
        let failure = case.run(&runtime(2), &Settings::default()).unwrap_err();
        assert!(
            matches!(failure, Failure::Fault(record) if record.extent == 0 && record.iteration[0] == 0)
        );
    }
}
