//! Rows that lanes go along side by side, over and over: a copy in which elements of the same
//! column follow each other lets one load fetch those of all lanes.

use super::attempt::Attempt;
use super::order::{accesses, moves};
use super::trips;
use crate::tree::find_affine_loop;
use crate::{Pack, StripMine};
use std::collections::BTreeSet;
use strew_affine::visit::{Loop, arrays_written_in, has_loops, walk};
use strew_affine::{Access, AffineFor, ArrayId, IterId, Subscript};

/// So many rows are copied at a time: as many as a few vectors have lanes, so that rows of a few
/// hundred elements stay in the first cache.
const ROWS: i64 = 16;

/// To copy an element takes as long as some eight turns use it.
const WORTH_A_COPY: u64 = 8;

/// The arrays of which each iteration of `target` reads a row in innermost loops, again in each
/// turn of a loop around those, if all else that these read is the same in all lanes, or follows
/// from lane to lane.
fn rows(target: &AffineFor) -> BTreeSet<ArrayId> {
    let written = arrays_written_in(&target.body);
    let mut rows = BTreeSet::new();
    let mut are_rows = target.step == 1 && target.lanes == 1;
    walk(&target.body, &mut |node, around| {
        are_rows &= around.is_empty() || node.written_elements().next().is_none();
        let Some(innermost) = Loop::of(node).filter(|it| !has_loops(it.body())) else {
            return;
        };
        for access in accesses(innermost.body()) {
            let is_far = is_far(access, target.iter);
            are_rows &= is_far.is_some();
            if is_far == Some(true) && moves(access, innermost.iter()) {
                are_rows &= !written.contains(&access.array) && comes_again(access, around);
                rows.insert(access.array);
            }
        }
    });
    match are_rows {
        true => rows,
        false => BTreeSet::new(),
    }
}

/// Whether `access` goes elsewhere than to the next element from an iteration of the loop over
/// `iter` to the next, if it goes at all; `None` where data say, or no number does.
fn is_far(access: &Access, iter: IterId) -> Option<bool> {
    let steps = access.subscripts.iter().map(|it| match it {
        Subscript::Affine(expr) => expr.split_off(iter).map(|(step, _)| step),
        Subscript::Computed(_) => None,
    });
    let steps: Vec<i64> = steps.collect::<Option<_>>()?;
    let (last, others) = steps.split_last()?;
    Some(others.iter().any(|it| *it != 0) || !(0..=1).contains(last))
}

/// Whether `access` is of the same element in many turns of a loop of `around`.
fn comes_again(access: &Access, around: &[Loop<'_>]) -> bool {
    let is_long = |it: &Loop<'_>| match it {
        Loop::Affine(it) => trips(it).is_none_or(|trips| trips >= WORTH_A_COPY),
        Loop::Scf(_) => true,
        Loop::Forall(_) => false,
    };
    around
        .iter()
        .any(|it| !moves(access, it.iter()) && is_long(it))
}

/// Copies the rows that a few iterations of the loop over `iter` go along, if they go along any.
/// That loop is then one over these few.
pub(super) fn pack_rows(attempt: &mut Attempt, iter: IterId) -> Option<()> {
    let rows = rows(find_affine_loop(attempt.kernel(), iter)?);
    if rows.is_empty() {
        return Some(());
    }
    attempt.step(StripMine::new(attempt.path(iter), ROWS))?;
    let groups = *attempt.made().first()?;
    for array in rows {
        let name = attempt.kernel().arrays[array].name.clone();
        let along = attempt.path(iter);
        attempt.step(Pack::new(name, attempt.path(groups)).along(along))?;
    }
    Some(())
}
