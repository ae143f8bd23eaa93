use super::{Gathered, bytes};
use crate::abi::{BodyShape, ForallCall, KEY_BITS, NO_BODY, NO_COLUMNS, PrivateCall};
use crate::session::Session;
use crate::settings::Mode;

/// Parts for each thread where any number is good.
const PARTS_PER_THREAD: usize = 4;

/// The sizes of a forall, and what its call asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The number of iterations.
    pub count: u64,
    /// An estimate of how many updates all of them make together.
    pub trips: u64,
    /// An estimate of how many statements they run that make none.
    pub others: u64,
    /// About as how many more statements than they are what updates call counts.
    pub called: u64,
    /// What they wait for when they read where keys say.
    pub gathered: Gathered,
    /// The elements of all private buffers of one part.
    pub elements: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Whether there are private buffers at all.
    pub has_privates: bool,
    /// Whether every iteration needs private buffers of its own.
    pub is_separate: bool,
    /// Whether regrouping changes no bit of any of them.
    pub is_exact: bool,
    /// Whether updates can be had without being combined into anything, with keys of 32 bits.
    pub can_emit: bool,
    /// Whether updates go where they went before whenever the forall runs with the same parameters.
    pub has_fixed_keys: bool,
    /// Whether they did already, or are known to again.
    pub runs_again: bool,
    /// Whether iterations that are run for nothing change nothing.
    pub is_pure: bool,
    /// Whether no iteration can fail.
    pub is_sure: bool,
    /// How many columns all targets have that can be updated apart from each other, if they can.
    pub columns: Option<u64>,
    /// How many columns their rows have, if those can be.
    pub row_columns: Option<u64>,
    /// How many updates the loop makes at once, in the lanes of vectors; at least 1.
    pub lanes: u64,
    /// Whether the body as it is makes most updates in registers.
    pub is_held: bool,
    /// Whether that stores elements that it may not have updated.
    pub holds: bool,
    /// Whether there are bodies in other shapes.
    pub has_bodies: bool,
    /// Whether updates may be made in any order, but for regrouping them.
    pub commutes: bool,
    /// How many elements one update sets at most, each of another target; at least 1.
    pub targets: u64,
    /// Whether updates have to be made in the order of the loop, in all modes.
    pub is_ordered: bool,
    /// Whether all of them overwrite, each element with one value alone: whichever is the last.
    pub is_alike: bool,
    /// Whether the loop reads targets too, so that updates may wait until all iterations have run
    /// only where it reads no element that it updates.
    pub is_speculative: bool,
    /// Whether a look has shown that it reads none of the elements that it updates.
    pub is_apart: bool,
    /// Which results are good enough.
    pub mode: Mode,
    /// How many threads may take part.
    pub threads: usize,
}

#[cfg(test)]
impl Shape {
    /// `count` iterations that make `trips` updates of `elements` sums of 8 bytes, with nothing in
    /// the way of any strategy.
    pub(crate) fn of_updates(count: u64, trips: u64, elements: u64) -> Self {
        Self {
            count,
            trips,
            elements,
            bytes: elements * 8,
            has_privates: true,
            is_separate: false,
            can_emit: true,
            is_pure: true,
            is_sure: false,
            columns: None,
            row_columns: None,
            lanes: 1,
            is_held: false,
            holds: false,
            others: 0,
            called: 0,
            gathered: Gathered::default(),
            has_fixed_keys: false,
            runs_again: false,
            has_bodies: true,
            commutes: true,
            targets: 1,
            is_ordered: false,
            is_alike: false,
            is_speculative: false,
            is_apart: false,
            is_exact: false,
            mode: crate::Mode::Stable,
            threads: 2,
        }
    }
}

impl Shape {
    /// The plain body for several threads on the same buffers.
    pub(super) fn shared(&self) -> BodyShape {
        match self.holds {
            true => BodyShape::Shared,
            false => BodyShape::Direct,
        }
    }

    /// Whether there are bodies that combine updates otherwise, or look where they go: for loops
    /// that read targets there are those alone that leave these as they were before the loop.
    pub(super) fn has_all_bodies(&self) -> bool {
        self.has_bodies && !self.is_speculative
    }

    /// Updates and what else is run.
    pub(crate) fn statements(&self) -> u64 {
        self.trips.saturating_add(self.others)
    }

    pub(super) fn of(session: &Session<'_>, forall: &ForallCall, privates: &[PrivateCall]) -> Self {
        let count = u64::try_from(forall.count).unwrap_or(0);
        let sum = |size: fn(&PrivateCall) -> u64| {
            let sizes = privates.iter().map(size);
            sizes.fold(0_u64, u64::saturating_add)
        };
        let is_ordered = privates.iter().any(|private| private.ordered == 1);
        let is_speculative = privates.iter().any(|private| private.speculative == 1);
        Self {
            count,
            trips: u64::try_from(forall.trips).unwrap_or(0),
            others: u64::try_from(forall.others).unwrap_or(0),
            called: u64::try_from(forall.called).unwrap_or(0),
            gathered: Gathered::default(),
            elements: sum(|private| private.elements),
            bytes: sum(bytes),
            has_privates: !privates.is_empty(),
            is_separate: !privates.is_empty() && forall.separate != 0,
            is_exact: !is_ordered && privates.iter().all(|private| private.exact == 1),
            can_emit: can_emit(forall, privates),
            is_pure: forall.pure == 1,
            is_sure: forall.sure == 1,
            columns: Some(forall.columns).filter(|it| *it != NO_COLUMNS && !is_speculative),
            row_columns: Some(forall.row_columns).filter(|it| *it != NO_COLUMNS && !is_speculative),
            lanes: forall.lanes.max(1),
            is_held: forall.held == 1,
            holds: forall.holds == 1,
            has_fixed_keys: false,
            runs_again: false,
            has_bodies: has_bodies(forall),
            targets: privates.iter().map(|it| it.parts).max().unwrap_or(1).into(),
            commutes: privates.iter().all(|private| private.commutes == 1),
            mode: match is_ordered {
                true => Mode::Exact,
                false => session.settings().mode,
            },
            is_ordered,
            is_alike: !privates.is_empty() && privates.iter().all(|it| it.alike == 1),
            is_speculative,
            is_apart: false,
            threads: session.runtime().threads(),
        }
    }

    /// How many updates one row takes, where whole rows are updated.
    pub(super) fn updates_of_a_row(&self) -> u64 {
        self.row_columns.unwrap_or(1).max(1)
    }

    /// In how many parts to run the iterations where any number is good: some for each thread, to
    /// even out slow ones.
    pub(super) fn parts(&self) -> usize {
        let parts = self.threads.saturating_mul(PARTS_PER_THREAD);
        parts.min(usize::try_from(self.count).unwrap_or(usize::MAX))
    }

    /// Whether any grouping of the updates is good enough.
    pub fn is_free(&self) -> bool {
        self.is_exact || self.mode == Mode::Fast
    }
}

/// Whether there is a body that makes updates, all elements have numbers of 32 bits and lie in
/// fewer than 2¹⁶ ranges, and those of a target follow each other.
fn can_emit(forall: &ForallCall, privates: &[PrivateCall]) -> bool {
    let most = u64::from(u16::MAX) << KEY_BITS;
    let numbered = |it: &PrivateCall| it.elements <= most && it.target_stride == it.run_bytes();
    has_bodies(forall) && privates.iter().all(numbered)
}

fn has_bodies(forall: &ForallCall) -> bool {
    forall.body_number != NO_BODY && forall.separate == 0
}
