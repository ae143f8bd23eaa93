//! What a forall is expected to cost by each strategy.
//!
//! This chooses among strategies that give the same bits.

use super::sample::{Sample, awaited_lines, new_to_caches};
use super::{Shape, binned, columns, dense};
use crate::machine::Machine;
use crate::prefetch::CACHE_LINE;

/// To move the value of an update of which it is known where it goes, and to apply it, takes this
/// part of what it takes to sort one: 3.7 ns of 5 where eight edges of each of 1 Mi vertices go
/// anywhere in 4 MiB.
const MOVED: f64 = 0.75;

/// To sort one more value with the same key takes this part of what it takes to sort an update.
const ONE_MORE: f64 = 0.5;

/// To look where an update goes takes this part of making one in a near cache.
const LOOKED: f64 = 0.4;

/// To update what other threads may update at the same time takes so many updates in a near cache
/// more.
const LOCKED: f64 = 6.0;

/// To list whose a row is takes as long as so many updates in a near cache. With rows of 8 and of
/// 16 floats in 64 MiB, `rows` takes 0.73 of the time of one thread on two.
const ASKED: f64 = 1.0;

/// To begin a block of sorted updates takes so many nanoseconds, since its pages are new: 10,000
/// updates of 32 Mi floats, in 512 blocks, take 0.8 ms by one thread.
const BEGUN: f64 = 1400.0;

/// A line of outputs to which sorted updates are applied is asked for ahead, and takes this part of
/// the time that an update waits for it else: 1 Mi updates that go anywhere in 32 Mi floats take 10
/// ns each, of which 5 for sorting.
const ASKED_FOR: f64 = 0.45;

/// Threads that share outputs far from them wait for memory this much longer.
const APART: f64 = 1.3;

/// Lines that are only read are waited for beside others of the same iteration: 4 Mi products of a
/// sparse matrix, each of which reads and updates anywhere in 8 MB, take 10 ns, where updates alone
/// take 6.5.
const READ_BESIDE: f64 = 0.5;

/// For so many lines processors wait at once.
const LINES_AT_ONCE: f64 = 21.0;

/// So many updates they have in work. In 64 MiB, where each of 64 updates finds its line in 8 that
/// lie together, and the next 64 in 8 others, a line takes 23 ns; where each goes anywhere, 8.3 ns.
const UPDATES_AT_ONCE: f64 = 55.0;

/// Where updates go, when no one has looked: anywhere, those of a row behind each other.
fn unseen(shape: &Shape) -> Sample {
    let columns = shape.updates_of_a_row();
    let row_bytes = columns.saturating_mul(width(shape));
    let lines = usize::try_from(row_bytes.div_ceil(CACHE_LINE as u64)).unwrap_or(usize::MAX);
    let lines = awaited_lines(lines.max(1));
    let scattered = (lines as f64 / columns as f64).min(1.0);
    Sample {
        updates: 0,
        others_repeat: true,
        repeated: 0.0,
        unforeseen: 0.0,
        scattered,
        leaps: scattered,
        span: u64::MAX,
        reach: u64::MAX,
        elements: u64::MAX,
        is_skewed: false,
        rises: false,
        advances: false,
    }
}

/// The bytes of an element.
fn width(shape: &Shape) -> u64 {
    shape.bytes / shape.elements.max(1)
}

/// Expected times in nanoseconds, by strategy, whether it may be taken or not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Costs {
    /// Of `serial`.
    pub serial: u64,
    /// Of `dense`.
    pub dense: u64,
    /// Of `blocked`.
    pub blocked: u64,
    /// Of `atomic`.
    pub atomic: u64,
    /// Of `apart`, and of `colored`.
    pub apart: u64,
    /// Of `binned`.
    pub binned: u64,
    /// Of `columns`.
    pub columns: u64,
    /// Of `rows`.
    pub rows: u64,
    /// Of `planned`, once it is known where updates go.
    pub planned: u64,
}

impl Costs {
    pub(super) fn of(shape: &Shape, sample: Option<Sample>, machine: &Machine) -> Self {
        let sample = sample.unwrap_or_else(|| unseen(shape));
        let costs = &machine.costs;
        let trips = shape.trips as f64;
        let threads = shape
            .threads
            .min(usize::try_from(shape.count).unwrap_or(1))
            .max(1) as f64;
        let groups = dense::groups(shape).max(1) as f64;
        let elements = shape.elements as f64;
        let waited = waited(shape, &sample, machine);
        let near = near_update(shape, &sample, machine);
        let called = shape.called as f64 * costs.update;
        let each = near + waited + called / trips.max(1.0);
        // Rows in the second cache are there in time where one thread asks for them. What the loop
        // reads is divided among owners no more than its turns are: processors fetch in advance
        // what lies between the rows that an owner reads, too.
        let of_owner = if shape.bytes > machine.caches.second {
            APART / threads
        } else {
            1.0
        };
        let others = shape.others as f64 * costs.update;
        let lines = shape.gathered.waits as f64 * READ_BESIDE;
        let gathering = lines * machine.line(shape.gathered.bytes);
        // Whatever else the strategy does, updates have to be computed.
        let shared = costs.share + (others + gathering) / threads;
        let columns_of_rows = shape.updates_of_a_row() as f64;
        // Each target has values of its own, which are gathered, written and read.
        let sorted = costs.sort * (1.0 + ONE_MORE * (shape.targets as f64 - 1.0));
        let applied = applied(shape, &sample, machine);
        let touched = touched(shape, &sample, groups);
        Self {
            serial: (others + gathering + trips * each) as u64,
            dense: (shared + (trips * each + elements * groups * costs.merge) / threads) as u64,
            blocked: (shared + (trips * each + elements * touched * costs.merge) / threads) as u64,
            atomic: (shared + trips * (each + held_alone(shape) * costs.update) / threads) as u64,
            apart: (shared + trips * (each + LOOKED * costs.update) / threads) as u64,
            binned: (shared
                + (called
                    + trips * (sorted + sample.repeated * costs.wait)
                    + applied
                    + binned::blocks(shape) as f64 * BEGUN)
                    / threads) as u64,
            // Each thread reads all keys, and a part of each row.
            columns: (costs.share
                + others
                + gathering
                + trips * each / columns::parts(shape) as f64) as u64,
            rows: (costs.share
                + others
                + (gathering + called) / threads
                + trips / columns_of_rows * ASKED * costs.update
                + trips * (near + waited * of_owner)) as u64,
            planned: (shared
                + (called + trips * (MOVED * sorted + sample.repeated * costs.wait) + applied)
                    / threads) as u64,
        }
    }
}

/// What it takes to update what other threads may update at the same time, in updates of a near
/// cache. Where all bring the same, nobody needs to be alone.
fn held_alone(shape: &Shape) -> f64 {
    if shape.is_alike { LOOKED } else { LOCKED }
}

/// How many of `groups` of updates touch an element: those that are near each other have few
/// elements in common.
fn touched(shape: &Shape, sample: &Sample, groups: f64) -> f64 {
    if sample.are_few() {
        0.0
    } else if sample.is_local(shape.elements) {
        2.0
    } else {
        groups
    }
}

/// What it takes to get the lines that sorted updates are applied to.
fn applied(shape: &Shape, sample: &Sample, machine: &Machine) -> f64 {
    let reached = reached_bytes(shape, sample);
    let lines = (reached as f64 / CACHE_LINE as f64).min(shape.trips as f64);
    lines * machine.line(reached) * ASKED_FOR
}

/// The bytes of the outputs that updates go to.
fn reached_bytes(shape: &Shape, sample: &Sample) -> u64 {
    let reached = sample.reach.saturating_mul(width(shape));
    reached.min(shape.bytes)
}

/// For how long an update waits for cache lines. Where all updates go on through the outputs
/// together, each line is far away when the first one comes, and then as near as those around: of 4
/// Mi particles sorted by rows of 23 kB, with 64 MiB of rows, four updates of each take 31 ms in
/// order, as they do where the outputs are small.
fn waited(shape: &Shape, sample: &Sample, machine: &Machine) -> f64 {
    let reached = reached_bytes(shape, sample);
    let lines = awaited(shape, sample);
    if !(sample.advances && sample.is_local(shape.elements)) {
        return lines * machine.line(reached);
    }
    let window = sample.span.saturating_mul(width(shape)).min(reached);
    let first = (reached as f64 / CACHE_LINE as f64 / shape.trips.max(1) as f64).min(lines);
    first * machine.line(reached) + (lines - first) * machine.line(window)
}

/// For how many cache lines an update waits, as if all updates waited for as many. Where most of
/// them find their line there, those that leap wait longer, since few of them are in work at once.
/// Of rows the next are asked for ahead.
fn awaited(shape: &Shape, sample: &Sample) -> f64 {
    if sample.is_skewed {
        return new_to_caches(sample.scattered);
    }
    let leaping = (sample.leaps * LINES_AT_ONCE).min(LINES_AT_ONCE / UPDATES_AT_ONCE);
    match shape.row_columns {
        None => sample.scattered.max(leaping),
        Some(_) => sample.scattered,
    }
}

/// One update of what is near.
fn near_update(shape: &Shape, sample: &Sample, machine: &Machine) -> f64 {
    let costs = &machine.costs;
    let waits = if sample.keeps_a_register() {
        costs.run
    } else {
        costs.wait
    };
    let each = costs.update + sample.repeated * waits;
    each / shape.lanes as f64
}
