//! Which strategy a forall gets when nobody names one.
//!
//! First the order of combination is settled, then what is cheapest among the strategies that have it. Unless the order is free, it must
//! not depend on threads, time or memory: it decides the bits of the result.

use super::apart::Apart;
use super::binned::Binned;
use super::blocked::Blocked;
use super::colored::Colored;
use super::columns::{self, Columns};
use super::cost::Costs;
use super::dense::{Dense, groups};
use super::direct::Direct;
use super::look::can_look;
use super::planned::Planned;
use super::rows::{self, Rows};
use super::safety::{MOST_CHECKED, is_checked};
use super::sample::Sample;
use super::serial::Serial;
use super::{Decision, Shape};
use crate::machine::Machine;
use crate::record::Why;
use crate::settings::Mode;
use std::ops::Range;

/// To wake threads and to wait for them takes about as long as half as many simple updates, on any number of threads.
const LEAST_TRIPS: u64 = 1 << 16;

/// To fill and to merge an element of two groups takes about as long as one simple update; on two threads half of the updates must
/// be worth more than that.
const TRIPS_PER_ELEMENT: u64 = 2;

/// Where a few elements get most of the updates, one thread waits for them, and two groups wait at once.
const TRIPS_PER_ELEMENT_SKEWED: u64 = 1;

/// A private copy larger than this is not made unasked, whatever it might save.
const MOST_BYTES: u64 = 64 << 20;

/// Updates of which each waits for a cache line, but for so many, go anywhere alike. Where they do not, parts of larger copies stay in the
/// caches too.
const EVEN: f64 = 0.8;

/// The same where updates can be sorted by ranges of elements, which is cheaper from here on.
const MOST_BYTES_UNSORTED: u64 = 16 << 20;

/// A private copy no larger than this is filled and merged whole; of one that is larger than the other there are no addresses for eight.
const BYTES_NEAR: Range<u64> = 128 << 10..256 << 20;

/// From about so many updates an element, filling and merging whole copies is little beside the updates.
const TRIPS_PER_ELEMENT_NEAR: u64 = 16;

/// Smaller outputs stay in the caches for the most part, and one thread is as fast as two that look first.
const LEAST_BYTES_APART: u64 = MOST_BYTES_UNSORTED + 1;

/// To look at fewer updates takes as long as to make them.
const LEAST_TRIPS_APART: u64 = 4 << 20;

/// Copies of smaller outputs are filled and merged while they are in the caches, which takes less than a look at all updates.
const LEAST_BYTES_COLORED: u64 = 1 << 20;

/// With more updates an element that follow each other, blocks are merged while they are in the caches.
const TRIPS_PER_ELEMENT_MERGED: u64 = 8;

/// With more updates an element, to fill and to merge copies of it is little beside them.
const TRIPS_PER_ELEMENT_COLORED: u64 = 32;

/// What is to be known besides the sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// What was seen of the keys.
    pub(super) sample: Option<Sample>,
    /// Whether a forall around this one keeps the threads busy.
    pub(super) is_nested: bool,
    /// Whether a look at all updates takes next to nothing; asked only where [`may_color`] says so.
    pub(super) scans: bool,
    /// What each strategy is expected to take.
    pub(super) costs: Costs,
}

impl Circumstances {
    pub(super) fn new(
        shape: &Shape,
        sample: Option<Sample>,
        is_nested: bool,
        machine: &Machine,
    ) -> Self {
        let threads = if is_nested { 1 } else { shape.threads };
        let shape = Shape { threads, ..*shape };
        Self {
            sample,
            is_nested,
            scans: false,
            costs: Costs::of(&shape, sample, machine),
        }
    }
}

/// Decides; `budget` is asked only where memory may decide.
pub(super) fn decide(
    shape: &Shape,
    around: Circumstances,
    budget: impl FnOnce() -> u64,
) -> Decision {
    if !shape.has_privates {
        return Decision::new(&Direct, Why::NoPrivates);
    }
    let against = against(shape, around.sample).or_else(|| streams(shape, around));
    let are_few = shape.trips / TRIPS_PER_ELEMENT_MERGED < shape.elements;
    let advances = advances(shape, around);
    if let (Some(span), true) = (advances, are_few) {
        Decision::new(&Colored, Why::Advances { span })
    } else if let Some(span) = near(shape, around) {
        Decision::new(&Blocked, Why::Near { span })
    } else if let Some(span) = advances {
        Decision::new(&Colored, Why::Advances { span })
    } else if shape.is_free() {
        free(shape, around, against, budget)
    } else if shape.mode == Mode::Exact {
        as_written(shape, around, Why::Rounds)
    } else if let Some(why) = against {
        as_written(shape, around, why)
    } else {
        Decision::new(&Dense, pays(shape))
    }
}

/// In how many elements the updates lie that follow each other, if that makes it cheap to copy what a group of them touches. Unless the
/// grouping is free, this depends on sizes and keys alone.
fn near(shape: &Shape, around: Circumstances) -> Option<u64> {
    let sample = around.sample?;
    // To look at each update whether it leaves the window takes integers, which do not wait for each other, longer than a merge.
    let merged_from = match shape.is_free() {
        true => TRIPS_PER_ELEMENT_NEAR / 4,
        false => TRIPS_PER_ELEMENT_NEAR * 4,
    };
    let is_merged_soon =
        shape.trips / merged_from >= shape.elements && shape.bytes <= MOST_BYTES_UNSORTED;
    let is_worth_it =
        BYTES_NEAR.contains(&shape.bytes) && shape.elements <= shape.trips && !is_merged_soon;
    let regroups = shape.mode == Mode::Exact && !shape.is_exact;
    let is_useless = shape.is_free() && alone(shape, around).is_some();
    let can = shape.has_bodies && shape.count > 1 && !regroups && !is_useless;
    let waits = sample.keeps_a_register();
    (can && is_worth_it && waits && sample.is_local(shape.elements)).then_some(sample.span)
}

/// In how many elements the updates lie that follow each other, if parts of them are to get colors.
fn advances(shape: &Shape, around: Circumstances) -> Option<u64> {
    let sample = around.sample?;
    // Where they never fall, parts meet in single elements alone, and keep their order.
    let looks = around.scans || is_checked(shape) && !sample.rises;
    (looks && may_color(shape, around)).then_some(sample.span)
}

/// Whether updates go through the outputs from about one end to about the other, so that parts of them can get colors, if it takes
/// little to look at all of them, or one thread would, too. Unless the grouping is free, this depends on sizes and keys alone.
pub(super) fn may_color(shape: &Shape, around: Circumstances) -> bool {
    let is_worth_it = shape.bytes >= LEAST_BYTES_COLORED
        && shape.trips / TRIPS_PER_ELEMENT_COLORED < shape.elements
        && shape.statements() <= MOST_CHECKED;
    let regroups = shape.mode == Mode::Exact && !shape.is_exact;
    let is_useless = shape.is_free() && alone(shape, around).is_some();
    let can = can_look(shape) && shape.commutes && shape.count > 1 && !regroups && !is_useless;
    let advances = |sample: Sample| sample.advances && sample.is_local(shape.elements);
    can && is_worth_it && around.sample.is_some_and(advances)
}

/// Whether updates go through outputs far beyond the caches from one end to the other, so that threads can share these as they are. The
/// bits are those of `serial`, so there may be one thread, too.
fn rises(shape: &Shape, around: Circumstances) -> bool {
    let is_worth_it = shape.bytes >= LEAST_BYTES_APART
        && shape.trips >= LEAST_TRIPS_APART
        && shape.statements() <= MOST_CHECKED
        && shape.count > 1;
    // To look where each column of a row goes would take as long as to update it.
    let can = can_look(shape) && shape.columns.is_none() && shape.lanes == 1;
    is_worth_it && can && around.sample.is_some_and(|it| it.rises)
}

/// Whether each of several threads can run the whole loop and update rows of its own.
fn owns_rows(shape: &Shape) -> bool {
    shape.has_bodies && shape.row_columns.is_some() && rows::owners(shape) > 1
}

fn pays(shape: &Shape) -> Why {
    Why::Pays {
        trips: shape.trips,
        elements: shape.elements,
    }
}

/// Whether updates go through the outputs from one end to the other, a few of them to each: one thread makes them as fast as memory
/// gives what they need, and private buffers would only be more to move. As for [`near`], this depends on sizes and keys alone.
fn streams(shape: &Shape, around: Circumstances) -> Option<Why> {
    let sample = around.sample.filter(|it| it.advances)?;
    let is_far = BYTES_NEAR.contains(&shape.bytes) && sample.is_local(shape.elements);
    let are_few = shape.trips / TRIPS_PER_ELEMENT_NEAR < shape.elements;
    let streams = is_far && are_few && !sample.keeps_a_register();
    streams.then_some(Why::Streams { span: sample.span })
}

/// What speaks against private buffers whatever the machine.
fn against(shape: &Shape, sample: Option<Sample>) -> Option<Why> {
    let is_even = sample.is_none_or(|it| it.scattered > EVEN);
    let is_skewed = sample.is_some_and(|it| it.is_skewed);
    let per_element = match is_skewed && !is_even {
        true => TRIPS_PER_ELEMENT_SKEWED,
        false => TRIPS_PER_ELEMENT,
    };
    let least = shape
        .elements
        .saturating_mul(per_element)
        // In lanes, more of them take as long.
        .saturating_mul(shape.lanes)
        .saturating_add(LEAST_TRIPS);
    let most = if shape.can_emit && shape.is_pure && is_even {
        MOST_BYTES_UNSORTED
    } else {
        MOST_BYTES
    };
    if shape.count < 2 {
        Some(Why::OneIteration)
    } else if shape.statements() < least {
        Some(Why::FewTrips {
            trips: shape.statements(),
            elements: shape.elements,
            least,
        })
    } else if shape.bytes > most {
        Some(Why::TooLarge {
            bytes: shape.bytes,
            most,
        })
    } else {
        None
    }
}

/// The cheapest of the strategies that keep the order of the loop, as they have to for the reason `why`.
fn as_written(shape: &Shape, around: Circumstances, why: Why) -> Decision {
    let costs = around.costs;
    in_order(shape, around, clearly_below(costs.serial)).unwrap_or(Decision::new(&Serial, why))
}

/// Whether what takes `expected` is clearly cheaper than to make updates in their order on one thread.
pub(super) fn is_cheaper(expected: u64, costs: &Costs) -> bool {
    expected < clearly_below(costs.serial)
}

/// What takes less is cheaper than what is expected to take `time`, however rough the expectations are.
fn clearly_below(time: u64) -> u64 {
    time / 5 * 4
}

/// The cheapest way to make updates in their order on several threads, if it takes less than `most`.
fn in_order(shape: &Shape, around: Circumstances, most: u64) -> Option<Decision> {
    let costs = around.costs;
    // Where there is no memory to sort updates, they are made in order after all.
    let can_sort = shape.can_emit && shape.is_pure;
    let serial = costs.serial;
    let cheapest = |strategy, expected| {
        let why = Why::Cheapest { expected, serial };
        (expected, Decision::new(strategy, why))
    };
    let same_keys = |expected| {
        let why = Why::SameKeys { expected, serial };
        (expected, Decision::new(&Planned, why))
    };
    let all = [
        (can_sort && shape.runs_again).then(|| same_keys(costs.planned)),
        // In lanes, a thread waits for memory more than for anything else, and two of them that read halves of rows for more of it.
        (columns::is_worth_it(shape) && shape.lanes == 1)
            .then(|| cheapest(&Columns, costs.columns)),
        owns_rows(shape).then(|| cheapest(&Rows, costs.rows)),
        can_sort.then(|| cheapest(&Binned, costs.binned)),
        (rises(shape, around) && alone(shape, around).is_none())
            .then(|| (costs.apart, Decision::new(&Apart, Why::Rises))),
    ];
    let (expected, decision) = all.into_iter().flatten().min_by_key(|(cost, _)| *cost)?;
    (expected < most).then_some(decision)
}

/// The cheapest of all strategies.
fn free(
    shape: &Shape,
    around: Circumstances,
    against: Option<Why>,
    budget: impl FnOnce() -> u64,
) -> Decision {
    let costs = around.costs;
    let alone = alone(shape, around);
    let can_copy = against.is_none() && alone.is_none();
    let needed = shape.bytes.saturating_mul(groups(shape) as u64);
    let most = clearly_below(costs.serial);
    let most = if can_copy {
        most.min(costs.dense)
    } else {
        most
    };
    if let Some(decision) = in_order(shape, around, most) {
        return decision;
    }
    if let Some(why) = against.or(alone) {
        return Decision::new(&Serial, why);
    }
    let budget = budget();
    if needed > budget {
        return Decision::new(&Serial, Why::OverBudget { needed, budget });
    }
    Decision::new(&Dense, pays(shape))
}

/// What speaks against several threads.
fn alone(shape: &Shape, around: Circumstances) -> Option<Why> {
    if shape.threads == 1 {
        Some(Why::OneThread)
    } else if around.is_nested {
        Some(Why::Nested)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::{Caches, Calibration, LINES};

    fn shape() -> Shape {
        Shape {
            count: 8,
            trips: 1 << 20,
            elements: 256,
            bytes: 2048,
            has_privates: true,
            is_separate: false,
            can_emit: true,
            is_pure: true,
            columns: None,
            row_columns: None,
            lanes: 1,
            others: 0,
            has_fixed_keys: false,
            runs_again: false,
            has_bodies: true,
            commutes: true,
            is_single: true,
            is_ordered: false,
            is_exact: false,
            mode: Mode::Stable,
            threads: 2,
        }
    }

    fn around(shape: &Shape, sample: Option<Sample>, is_nested: bool) -> Circumstances {
        Circumstances::new(shape, sample, is_nested, &Machine::default())
    }

    fn name(shape: &Shape) -> &'static str {
        let around = around(shape, None, false);
        decide(shape, around, || u64::MAX).strategy.name()
    }

    #[test]
    fn many_updates_of_few_elements_are_dense() {
        assert_eq!(name(&shape()), "dense");
    }

    #[test]
    fn small_sparse_and_large_are_serial() {
        let small = Shape {
            trips: 1000,
            ..shape()
        };
        let sparse = Shape {
            elements: 1 << 20,
            bytes: 1 << 20,
            ..shape()
        };
        let large = Shape {
            elements: 1 << 24,
            bytes: 1 << 27,
            trips: 1 << 40,
            ..shape()
        };
        let single = Shape {
            count: 1,
            ..shape()
        };
        for shape in [small, sparse, single] {
            assert_eq!(name(&shape), "serial", "{shape:?}");
        }
        assert_eq!(name(&large), "binned");
        let whole = Shape {
            can_emit: false,
            ..large
        };
        assert_eq!(name(&whole), "serial");
    }

    #[test]
    fn keys_in_order_are_blocked_but_for_small_and_huge_outputs() {
        let sample = |span: u64| Sample {
            updates: 2048,
            repeated: 0.9,
            scattered: 0.1,
            span,
            is_skewed: false,
            rises: false,
            advances: false,
        };
        let of = |elements: u64, span: u64, mode: Mode| {
            let shape = Shape {
                trips: elements * 15,
                elements,
                bytes: elements * 8,
                mode,
                ..shape()
            };
            let around = around(&shape, Some(sample(span)), false);
            decide(&shape, around, || u64::MAX).strategy.name()
        };
        assert_eq!(of(1 << 20, 1 << 17, Mode::Stable), "blocked");
        // Where the grouping is free, merging whole copies takes less than looking at each update whether it leaves a window.
        assert_eq!(of(1 << 20, 1 << 17, Mode::Fast), "dense");
        assert_eq!(of(1 << 20, (1 << 17) + 1, Mode::Stable), "dense");
        assert_eq!(of(1 << 20, 1 << 17, Mode::Exact), "serial");
        assert_ne!(of(1 << 10, 1, Mode::Stable), "blocked");
        assert_ne!(of(1 << 26, 1, Mode::Stable), "blocked");
        // Two updates to each are better made by one thread.
        let few = Sample {
            repeated: 0.5,
            rises: true,
            advances: true,
            ..sample(1)
        };
        let seldom = Shape {
            trips: 3 << 20,
            elements: 1 << 20,
            bytes: 8 << 20,
            ..shape()
        };
        let once = around(&seldom, Some(few), false);
        let decision = decide(&seldom, once, || u64::MAX);
        assert_eq!(decision.strategy.name(), "serial");
        assert!(matches!(decision.why, Why::Streams { span: 1 }));
        // In places that lie anywhere they do not stream.
        let clustered = Sample {
            rises: false,
            advances: false,
            ..few
        };
        let clustered = around(&seldom, Some(clustered), false);
        let decision = decide(&seldom, clustered, || u64::MAX);
        assert_eq!(decision.strategy.name(), "dense");
        let often = Shape {
            trips: 64 << 20,
            elements: 1 << 20,
            bytes: 8 << 20,
            ..shape()
        };
        let around = around(&often, Some(sample(1)), false);
        let decision = decide(&often, around, || u64::MAX);
        assert_eq!(decision.strategy.name(), "dense");
    }

    #[test]
    fn a_few_elements_with_most_of_the_updates_get_copies_of_larger_outputs() {
        let large = Shape {
            trips: 16 << 20,
            elements: 8 << 20,
            bytes: 64 << 20,
            ..shape()
        };
        let of = |scattered: f64, is_skewed: bool| {
            let sample = Sample {
                updates: 2048,
                repeated: 0.0,
                scattered,
                span: 8 << 20,
                is_skewed,
                rises: false,
                advances: false,
            };
            let around = around(&large, Some(sample), false);
            decide(&large, around, || u64::MAX).strategy.name()
        };
        assert_eq!(
            [of(0.7, true), of(0.7, false), of(1.0, false)],
            ["dense", "binned", "binned"]
        );
    }

    #[test]
    fn keys_that_rise_are_divided_in_their_order() {
        let far = Shape {
            trips: 16 << 20,
            elements: 8 << 20,
            bytes: 64 << 20,
            ..shape()
        };
        let risen = Sample {
            updates: 2048,
            repeated: 0.5,
            scattered: 0.1,
            span: 128,
            is_skewed: false,
            rises: true,
            advances: true,
        };
        let why = |shape: &Shape, sample: Sample, is_nested: bool| {
            let around = around(shape, Some(sample), is_nested);
            let decision = decide(shape, around, || u64::MAX);
            (decision.strategy.name(), decision.why)
        };
        for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
            for is_exact in [false, true] {
                for threads in [2, 64] {
                    let shape = Shape {
                        mode,
                        is_exact,
                        threads,
                        ..far
                    };
                    assert_eq!(why(&shape, risen, false), ("apart", Why::Rises));
                    assert_ne!(why(&shape, risen, true).1, Why::Rises);
                }
            }
        }
        let others = [
            Shape { threads: 1, ..far },
            Shape {
                is_pure: false,
                ..far
            },
            Shape { lanes: 4, ..far },
            Shape {
                trips: 1 << 20,
                ..far
            },
            Shape {
                trips: 1 << 30,
                ..far
            },
            Shape {
                elements: 1 << 21,
                bytes: 16 << 20,
                ..far
            },
        ];
        for shape in others {
            assert_ne!(why(&shape, risen, false).1, Why::Rises, "{shape:?}");
        }
        let falls = Sample {
            rises: false,
            advances: false,
            ..risen
        };
        assert_ne!(why(&far, falls, false).1, Why::Rises);
    }

    #[test]
    fn the_stable_order_does_not_see_the_machine() {
        for threads in [1, 2, 64] {
            for is_nested in [false, true] {
                let shape = Shape { threads, ..shape() };
                let around = around(&shape, None, is_nested);
                let decision = decide(&shape, around, || 0);
                assert_eq!(decision.strategy.name(), "dense");
                assert_eq!(groups(&shape), 8);
            }
        }
    }

    /// Costs at which one strategy is cheap or dear beside the others, and caches from none to huge ones.
    fn machines() -> Vec<Machine> {
        let usual = Calibration::default();
        let costs = [
            usual,
            Calibration { sort: 0.0, ..usual },
            Calibration { sort: 1e9, ..usual },
            Calibration {
                merge: 1e9,
                ..usual
            },
            Calibration {
                update: 0.0,
                lines: [0.0; LINES],
                wait: 0.0,
                ..usual
            },
            Calibration {
                share: 1e15,
                ..usual
            },
        ];
        let caches = [0, 1 << 20, 1 << 40].map(|size| Caches {
            first: size,
            second: size,
            last: size,
        });
        let all = costs.map(|costs| caches.map(|caches| Machine { caches, costs }));
        all.concat()
    }

    #[test]
    fn the_order_does_not_see_what_work_costs() {
        let sample = |span: u64| Sample {
            updates: 2048,
            repeated: 0.1,
            scattered: 0.9,
            span,
            is_skewed: false,
            rises: false,
            advances: false,
        };
        let samples = [None, Some(sample(1)), Some(sample(1 << 30))];
        for (mode, sample) in [Mode::Stable, Mode::Exact]
            .into_iter()
            .flat_map(|mode| samples.map(|sample| (mode, sample)))
        {
            for elements in (4..28).map(|it| 1 << it) {
                let shape = Shape {
                    trips: 16 << 20,
                    elements,
                    bytes: 8 * elements,
                    mode,
                    ..shape()
                };
                let orders = machines().into_iter().map(|machine| {
                    let around = Circumstances::new(&shape, sample, false, &machine);
                    match decide(&shape, around, || u64::MAX).strategy.name() {
                        "binned" | "apart" => "serial",
                        other => other,
                    }
                });
                let orders: std::collections::BTreeSet<_> = orders.collect();
                assert_eq!(orders.len(), 1, "{shape:?} {sample:?} {orders:?}");
            }
        }
    }

    #[test]
    fn what_is_cheap_is_taken_where_the_order_is_the_same() {
        let shape = Shape {
            elements: 1 << 23,
            bytes: 1 << 26,
            trips: 16 << 20,
            mode: Mode::Exact,
            ..shape()
        };
        let of = |sort: f64| {
            let mut machine = Machine::default();
            machine.costs.sort = sort;
            let around = Circumstances::new(&shape, None, false, &machine);
            decide(&shape, around, || u64::MAX).strategy.name()
        };
        assert_eq!((of(0.1), of(1e6)), ("binned", "serial"));
    }

    #[test]
    fn a_free_order_does() {
        let exact = Shape {
            is_exact: true,
            ..shape()
        };
        assert_eq!(
            name(&Shape {
                threads: 1,
                ..exact
            }),
            "serial"
        );
        assert_eq!(name(&exact), "dense");
        let nested = around(&exact, None, true);
        let inside = decide(&exact, nested, || u64::MAX);
        assert_eq!(inside.strategy.name(), "serial");
        let over = decide(&exact, around(&exact, None, false), || 1);
        assert_eq!(over.strategy.name(), "serial");
        assert!(over.why.to_string().contains("memory budget of 1 bytes"));
    }

    #[test]
    fn exact_mode_regroups_only_what_keeps_its_bits() {
        let exact = Shape {
            mode: Mode::Exact,
            ..shape()
        };
        assert_eq!(name(&exact), "serial");
        let integers = Shape {
            is_exact: true,
            ..exact
        };
        assert_eq!(name(&integers), "dense");
    }
}
