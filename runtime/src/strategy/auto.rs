//! Which strategy a forall gets when nobody names one.
//!
//! First the order of combination is settled, then what is cheapest among the strategies that have
//! it. Unless the order is free, it must not depend on threads, time or memory: it decides the bits
//! of the result.

use super::apart::{Apart, PARTS};
use super::atomic::Atomic;
use super::binned::Binned;
use super::blocked::Blocked;
use super::colored::Colored;
use super::columns::{self, Columns};
use super::combining::are_hot;
use super::cost::Costs;
use super::dense::{Dense, groups};
use super::look::can_look;
use super::planned::Planned;
use super::rows::{self, Rows};
use super::safety::{MOST_CHECKED, is_checked};
use super::sample::Sample;
use super::serial::Serial;
use super::{Decision, Shape};
use crate::abi::TABLES;
use crate::machine::Machine;
use crate::record::Why;
use crate::settings::Mode;
use std::ops::Range;

/// To wake threads and to wait for them takes about as long as half as many simple updates, on any
/// number of threads.
pub(super) const LEAST_TRIPS: u64 = 1 << 16;

/// To make a body that counts updates takes about as long as so many.
const LEAST_COUNTED: u64 = 1 << 10;

/// To fill and to merge an element of two groups takes about as long as one simple update; on two
/// threads half of the updates must be worth more than that.
pub(super) const TRIPS_PER_ELEMENT: u64 = 2;

/// So many updates in lanes take as long as one, or fewer: 8 floats of a row in 4 MiB take 2.4 ns,
/// a single one 1.5.
const MOST_AT_ONCE: u64 = 3;

/// Where a few elements get most of the updates, and others are far from the caches, one thread
/// waits for these, and two groups wait at once.
const TRIPS_PER_ELEMENT_SKEWED: u64 = 1;

/// Updates that lead to fewer new cache lines hardly wait: of three to sixteen elements in 16 MiB,
/// one thread makes 1.5 updates an element in 2.2 to 4.1 ms, and two with copies take 3.7 to 4.7.
const WAITED: f64 = 0.25;

/// So many elements an update may have far from the caches in a loop that reads them too, where
/// updates wait for memory much longer than it takes to fill and to merge an element.
const ELEMENTS_PER_TRIP_FAR: u64 = 2;

/// A private copy larger than this is not made unasked, whatever it might save.
const MOST_BYTES: u64 = 64 << 20;

/// Updates of which each waits for a cache line, but for so many, go anywhere alike. Where they do
/// not, parts of larger copies stay in the caches too.
const EVEN: f64 = 0.8;

/// The same in outputs beyond the caches, unless a few elements get most of them: four updates of
/// each of the cells around a particle that may be anywhere, 0.6 lines each, take 1.7 ns by copies
/// of 16 MiB and 1.8 sorted, by copies of 24 MiB 2.3 and 1.9, and of 64 MiB 2.8 and 1.9.
const EVEN_FAR: f64 = 0.4;

/// The same where updates can be sorted by ranges of elements, which is cheaper from here on: of 16
/// Mi sums anywhere in 12 MiB, copies take 1.2 times as long on two threads, in 16 MiB 1.35 times,
/// and in 8 MiB 0.6.
const MOST_BYTES_UNSORTED: u64 = 10 << 20;

/// Larger outputs do not stay in the caches.
const MOST_BYTES_CACHED: u64 = 16 << 20;

/// A private copy no larger than this is filled and merged whole; of one that is larger than the
/// other there are no addresses for eight.
const BYTES_NEAR: Range<u64> = 128 << 10..256 << 20;

/// The same for copies in tables, for which there are addresses up to here.
const BYTES_FEW: Range<u64> = 128 << 10..(128 << 20) + 1;

/// From about so many updates an element, filling and merging whole copies is little beside the
/// updates.
const TRIPS_PER_ELEMENT_NEAR: u64 = 16;

/// Smaller outputs stay in the caches for the most part, and one thread is as fast as two that look
/// first.
const LEAST_BYTES_APART: u64 = MOST_BYTES_CACHED + 1;

/// To look at fewer updates takes as long as to make them.
const LEAST_TRIPS_APART: u64 = 4 << 20;

/// Of larger outputs, lines that both have changed go from thread to thread all the time: 8 Mi
/// marks take 0.5 to 0.9 of the time of one thread on two in 100 kB, 0.7 to 1.2 in 1 MB, and 1.2 in
/// 4 MB.
const MOST_BYTES_ALIKE: u64 = 512 << 10;

/// Copies of smaller outputs are filled and merged while they are in the caches, which takes less
/// than a look at all updates.
const LEAST_BYTES_COLORED: u64 = 1 << 20;

/// With more updates an element that follow each other, blocks are merged while they are in the
/// caches, and what is updated stays in several registers.
const TRIPS_PER_ELEMENT_MERGED: u64 = 10;

/// With more updates an element, to fill and to merge copies of it is little beside them where the
/// copies stay in the caches: 11 updates of each of 4 MiB take 1.3 times as long with colors.
const TRIPS_PER_ELEMENT_COLORED: u64 = 10;

/// The same where they do not.
const TRIPS_PER_ELEMENT_COLORED_FAR: u64 = 32;

/// What is to be known besides the sizes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Circumstances {
    /// What was seen of the keys.
    pub(super) sample: Option<Sample>,
    /// Whether a forall around this one keeps the threads busy.
    pub(super) is_nested: bool,
    /// Whether a look at all updates takes next to nothing; asked only where [`may_scan`] says so.
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

    /// The same where updates go to more elements than the sample lets expect.
    pub(super) fn of_many(self) -> Self {
        let sample = self.sample.map(|it| Sample {
            elements: it.updates,
            ..it
        });
        Self { sample, ..self }
    }
}

/// Decides; `budget` is asked only where memory may decide.
pub(super) fn decide(
    shape: &Shape,
    around: Circumstances,
    budget: impl FnOnce() -> u64,
) -> Decision {
    let against = against(shape, around);
    let are_few = shape.trips / TRIPS_PER_ELEMENT_MERGED < shape.elements;
    let advances = advances(shape, around);
    if let (Some(span), true) = (advances, are_few) {
        Decision::new(&Colored, Why::Advances { span })
    } else if let Some(span) = near(shape, around) {
        Decision::new(&Blocked, Why::Near { span })
    } else if let Some(span) = advances {
        Decision::new(&Colored, Why::Advances { span })
    } else if let Some(decision) = few(shape, around) {
        decision
    } else if shape.is_free() {
        free(shape, around, against, budget)
    } else if shape.is_ordered {
        as_written(shape, around, Why::Ordered)
    } else if shape.mode == Mode::Exact {
        as_written(shape, around, Why::Rounds)
    } else if let Some(why) = against {
        as_written(shape, around, why)
    } else {
        Decision::new(&Dense, pays(shape))
    }
}

/// Whether updates may be grouped, and it is of use: with one thread a grouping that is free brings
/// nothing, one that is fixed is kept.
fn may_group(shape: &Shape, around: Circumstances) -> bool {
    let regroups = shape.mode == Mode::Exact && !shape.is_exact;
    let is_useless = shape.is_free() && alone(shape, around).is_some();
    shape.count > 1 && !regroups && !is_useless
}

/// In how many elements the updates lie that follow each other, if that makes it cheap to copy what
/// a group of them touches. Unless the grouping is free, this depends on sizes and keys alone.
fn near(shape: &Shape, around: Circumstances) -> Option<u64> {
    let sample = around.sample?;
    // To look at each update whether it leaves the window takes integers, which do not wait for
    // each other, longer than a merge.
    let merged_from = match shape.is_free() {
        true => TRIPS_PER_ELEMENT_NEAR / 4,
        false => TRIPS_PER_ELEMENT_NEAR * 4,
    };
    let is_merged_soon =
        shape.trips / merged_from >= shape.elements && shape.bytes <= MOST_BYTES_CACHED;
    let is_worth_it =
        BYTES_NEAR.contains(&shape.bytes) && shape.elements <= shape.trips && !is_merged_soon;
    let can = shape.has_all_bodies() && may_group(shape, around);
    let waits = sample.keeps_a_register();
    (can && is_worth_it && waits && sample.is_local(shape.elements)).then_some(sample.span)
}

/// Copies by tables, where updates go to so few elements that these wait for each other: whole ones
/// where they are small against the updates, else of what is around the elements. Unless the
/// grouping is free, this depends on sizes and keys alone.
fn few(shape: &Shape, around: Circumstances) -> Option<Decision> {
    let sample = around.sample.filter(Sample::are_few)?;
    let can = shape.has_all_bodies() && may_group(shape, around);
    let why = Why::Few {
        elements: sample.elements,
    };
    let are_small = shape.trips / (TRIPS_PER_ELEMENT_NEAR * TABLES as u64) >= shape.elements;
    let decision = match are_small {
        true => Decision::new(&Dense, why),
        false => Decision::new(&Blocked, why),
    };
    (can && BYTES_FEW.contains(&shape.bytes)).then_some(decision)
}

/// In how many elements the updates lie that follow each other, if parts of them are to get colors.
fn advances(shape: &Shape, around: Circumstances) -> Option<u64> {
    let sample = around.sample?;
    // Where they never fall, parts meet in single elements alone, and keep their order.
    let looks = around.scans || is_checked(shape) && !sample.rises;
    (looks && may_color(shape, around)).then_some(sample.span)
}

/// Whether updates go through the outputs from about one end to about the other, so that parts of
/// them can get colors, if it takes little to look at all of them, or one thread would, too. Unless
/// the grouping is free, this depends on sizes and keys alone.
fn may_color(shape: &Shape, around: Circumstances) -> bool {
    let is_worth_it = shape.bytes >= LEAST_BYTES_COLORED
        && shape.trips / before_copies(shape) < shape.elements
        && shape.statements() <= MOST_CHECKED;
    let can = can_look(shape) && shape.commutes && may_group(shape, around);
    can && is_worth_it && go_through(shape, around)
}

/// From how many updates an element copies are better than what leaves updates in their order.
fn before_copies(shape: &Shape) -> u64 {
    match shape.bytes <= MOST_BYTES_CACHED {
        true => TRIPS_PER_ELEMENT_COLORED,
        false => TRIPS_PER_ELEMENT_COLORED_FAR,
    }
}

/// Whether updates go through the outputs from about one end to about the other.
fn go_through(shape: &Shape, around: Circumstances) -> bool {
    let advances = |sample: Sample| sample.advances && sample.is_local(shape.elements);
    around.sample.is_some_and(advances)
}

/// Whether threads can share outputs as they are.
fn can_share(shape: &Shape) -> bool {
    can_look(shape) && shape.statements() <= MOST_CHECKED && shape.count > 1
}

/// Whether a key says where several updates go: to look where each column of a row goes, or each
/// lane, takes as long as to update it.
fn is_wide(shape: &Shape) -> bool {
    shape.columns.is_some() || shape.lanes > 1
}

/// Whether to find out if a look at all updates takes next to nothing.
pub(super) fn may_scan(shape: &Shape, around: Circumstances) -> bool {
    may_color(shape, around) || may_have_borders(shape, around)
}

/// Whether updates go through the outputs from about one end to about the other, so that threads
/// can have outputs of their own but for those where two of them meet. The bits are those of
/// `serial`, so there may be one thread, too.
fn may_have_borders(shape: &Shape, around: Circumstances) -> bool {
    let is_worth_it = shape.bytes >= LEAST_BYTES_COLORED && alone(shape, around).is_none();
    is_worth_it && can_share(shape) && go_through(shape, around)
}

/// Threads with outputs of their own but for those where two of them meet, and what they are
/// expected to take, if a look at all updates does not take more than these.
fn borders(shape: &Shape, around: Circumstances) -> Option<(u64, Decision)> {
    let sample = around.sample?;
    let span = sample.span;
    let serial = around.costs.serial;
    let threads = u64::try_from(shape.threads).unwrap_or(u64::MAX);
    let divided = serial / threads.min(shape.count).max(1);
    let looked_at = match around.scans {
        // Keys alone are looked at.
        true if is_wide(shape) => divided,
        // A look costs about half of what it does where iterations are looked at one by one.
        true => divided.midpoint(around.costs.apart),
        false => around.costs.apart,
    };
    // About one part of the iterations is run by two threads.
    let expected = looked_at + serial / shape.count.clamp(1, PARTS as u64);
    // A look runs all that tells where updates go once more.
    let is_short = is_checked(shape) || shape.others.saturating_add(shape.called) < shape.trips;
    let looks = around.scans || is_short && !is_wide(shape);
    let decision = Decision::new(&Apart, Why::Borders { span });
    (looks && may_have_borders(shape, around)).then_some((expected, decision))
}

/// Whether updates go through outputs far beyond the caches from one end to the other, so that
/// threads can share these as they are. The bits are those of `serial`, so there may be one thread,
/// too.
fn rises(shape: &Shape, around: Circumstances) -> bool {
    let is_worth_it = shape.bytes >= LEAST_BYTES_APART && shape.trips >= LEAST_TRIPS_APART;
    let can = can_share(shape) && !is_wide(shape);
    is_worth_it && can && around.sample.is_some_and(|it| it.rises)
}

/// Whether each of several threads can run the whole loop and update rows of its own.
fn owns_rows(shape: &Shape) -> bool {
    shape.has_bodies && shape.row_columns.is_some() && rows::owners(shape) > 1
}

/// Whether all updates of an element bring the same, so that several threads can share outputs.
fn can_share_alike(shape: &Shape, around: Circumstances) -> bool {
    let can_emit = shape.can_emit && !shape.is_speculative;
    let can = shape.is_alike && can_emit && shape.targets == 1 && shape.count > 1;
    can && shape.bytes <= MOST_BYTES_ALIKE && alone(shape, around).is_none()
}

fn pays(shape: &Shape) -> Why {
    Why::Pays {
        updates: shape.trips,
        elements: shape.elements,
    }
}

/// Whether updates go anywhere alike.
fn go_anywhere(shape: &Shape, sample: &Sample) -> bool {
    let is_far = shape.bytes > MOST_BYTES_CACHED && !sample.is_skewed;
    sample.scattered > if is_far { EVEN_FAR } else { EVEN }
}

/// What speaks against private buffers whatever the machine.
fn against(shape: &Shape, around: Circumstances) -> Option<Why> {
    let uneven = around.sample.filter(|it| !go_anywhere(shape, it));
    let per_element = match uneven {
        Some(sample) if sample.is_skewed && sample.scattered > WAITED => TRIPS_PER_ELEMENT_SKEWED,
        _ => TRIPS_PER_ELEMENT,
    };
    // What they wait for far from the caches is divided among threads, and nothing else could do
    // that.
    let is_far = shape.is_speculative && shape.bytes > MOST_BYTES_CACHED;
    let least = match is_far {
        true => shape.elements / ELEMENTS_PER_TRIP_FAR,
        false => shape.elements.saturating_mul(per_element),
    };
    // In lanes, more of them take as long, as far as they need not wait for memory. Where any
    // grouping will do, one thread makes no copies, and costs tell whether several should.
    let at_once = match shape.is_free() && is_cheaper(around.costs.dense, &around.costs) {
        true => 1,
        false => shape.lanes.min(MOST_AT_ONCE),
    };
    let least = least.saturating_mul(at_once).saturating_add(LEAST_TRIPS);
    // They are as long beside updates in lanes, which are shorter.
    let waits = shape.gathered.updates(shape.bytes);
    let waits = waits.saturating_mul(at_once);
    let others = shape
        .others
        .saturating_add(shape.called)
        .saturating_add(waits);
    let can_sort = shape.can_emit && shape.is_pure && uneven.is_none();
    let most = match (can_sort, shape.is_free()) {
        (false, _) => MOST_BYTES,
        // Costs tell whether sorting is cheaper.
        (true, true) => MOST_BYTES_CACHED,
        (true, false) => MOST_BYTES_UNSORTED,
    };
    // What is read in between takes its part of the caches: threads share it, and have copies each.
    let bytes = match can_sort && shape.lanes == 1 {
        true => shape.bytes.saturating_add(shape.gathered.bytes / 2),
        false => shape.bytes,
    };
    if shape.count < 2 {
        Some(Why::OneIteration)
    } else if shape.trips.saturating_add(others) < least {
        Some(Why::FewTrips {
            updates: shape.trips,
            others,
            elements: shape.elements,
            least,
        })
    } else if bytes > most {
        Some(Why::TooLarge { bytes, most })
    } else {
        None
    }
}

/// The cheapest of the strategies that keep the order of the loop, as they have to for the reason
/// `why`.
fn as_written(shape: &Shape, around: Circumstances, why: Why) -> Decision {
    let costs = around.costs;
    in_order(shape, around, clearly_below(costs.serial)).unwrap_or(Decision::new(&Serial, why))
}

/// Whether what takes `expected` is clearly cheaper than to make updates in their order on one
/// thread.
pub(super) fn is_cheaper(expected: u64, costs: &Costs) -> bool {
    expected < clearly_below(costs.serial)
}

/// What takes less is cheaper than what is expected to take `time`, however rough the expectations
/// are.
fn clearly_below(time: u64) -> u64 {
    time / 5 * 4
}

/// The cheapest way to make updates in their order on several threads, if it takes less than
/// `most`.
fn in_order(shape: &Shape, around: Circumstances, most: u64) -> Option<Decision> {
    let costs = around.costs;
    // Where there is no memory to sort updates, they are made in order after all. One thread that
    // first looks at what a loop reads, and then sorts, waits for both.
    let looks_alone = shape.is_speculative && alone(shape, around).is_some();
    let can_sort = shape.can_emit && shape.is_pure && !looks_alone;
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
        (can_sort && shape.runs_again && !shape.is_speculative).then(|| same_keys(costs.planned)),
        // In lanes, a thread waits for memory more than for anything else, and two of them that
        // read halves of rows for more of it.
        (columns::is_worth_it(shape) && shape.lanes == 1)
            .then(|| cheapest(&Columns, costs.columns)),
        owns_rows(shape).then(|| cheapest(&Rows, costs.rows)),
        can_sort.then(|| cheapest(&Binned, costs.binned)),
        (rises(shape, around) && alone(shape, around).is_none())
            .then(|| (costs.apart, Decision::new(&Apart, Why::Rises))),
        borders(shape, around),
        can_share_alike(shape, around).then(|| (costs.atomic, Decision::new(&Atomic, Why::Alike))),
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
    if against.is_none() && alone.is_some() && shape.has_bodies && are_hot(shape, around.sample) {
        return Decision::new(&Dense, Why::Hot);
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

/// Whether to count some of the updates of a loop, since they are too few if loops inside of it
/// hardly turn, or to sort them would pay if there are more.
pub(super) fn may_be_many(shape: &Shape, around: Circumstances, why: Why) -> bool {
    let is_useless = shape.is_free() && alone(shape, around).is_some();
    let may_pay = match why {
        Why::FewTrips { .. } => true,
        Why::Rounds | Why::Ordered => shape.can_emit && shape.is_pure,
        _ => false,
    };
    may_pay && shape.trips >= LEAST_COUNTED && !is_useless
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
mod tests;
