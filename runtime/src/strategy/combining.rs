//! Which body a forall runs, as far as its strategy leaves that open: how updates of one element
//! meet.

use super::{Sample, Shape};
use crate::abi::BodyShape;
use crate::record::Why;
use crate::settings::{Body, Mode};

/// Several tables of this size fit the first cache.
const MOST_BYTES_OF_A_TABLE: u64 = 8 << 10;

/// How a body in `shape` combines updates.
pub(super) fn combining(shape: BodyShape) -> Body {
    match shape {
        BodyShape::RunLength | BodyShape::PagedRunLength | BodyShape::WithinRunLength => {
            Body::RunLength
        }
        BodyShape::Partials | BodyShape::PagedPartials => Body::Partials,
        BodyShape::Tables | BodyShape::PagedTables => Body::Tables,
        BodyShape::Direct
        | BodyShape::Paged
        | BodyShape::Atomic
        | BodyShape::Check
        | BodyShape::Bounds
        | BodyShape::Scan
        | BodyShape::Within
        | BodyShape::Columns
        | BodyShape::Rows
        | BodyShape::Emit
        | BodyShape::Sorted
        | BodyShape::Values
        | BodyShape::Marks
        | BodyShape::Unmarked
        | BodyShape::Apart
        | BodyShape::SortedUnmarked
        | BodyShape::Shared => Body::Direct,
    }
}

/// The body that the settings ask for, where there is it, else the one that fits a strategy taken
/// for the reason `why`.
pub(super) fn body(asked: Body, shape: &Shape, sample: Option<Sample>, why: Why) -> Body {
    let repeats = sample.is_some_and(|it| it.keeps_a_register());
    let is_long = sample.is_some_and(|it| it.keeps_partials());
    let is_one = shape.has_privates && shape.elements <= shape.targets;
    let are_small = fits_several_times(shape) || matches!(why, Why::Few { .. });
    let is_hot = are_small && waits(shape, sample);
    let may_regroup = may_regroup(shape);
    match asked {
        // What is in a register is not what the loop would read.
        _ if shape.is_speculative => Body::Direct,
        Body::Partials if shape.has_bodies && may_regroup => Body::Partials,
        Body::RunLength | Body::Partials if shape.has_bodies => Body::RunLength,
        Body::Tables if shape.has_bodies && may_regroup => Body::Tables,
        // All updates of a sum go to one element, for which lanes have registers of their own.
        Body::Auto if is_one && shape.has_bodies && shape.lanes > 1 => Body::RunLength,
        // Others would make them in memory.
        Body::Auto if shape.is_held => Body::Direct,
        Body::Auto if is_hot => Body::Tables,
        // What does not round does not wait for a register either.
        Body::Auto if is_long && may_regroup && !shape.is_exact => Body::Partials,
        Body::Auto if repeats || is_one && shape.has_bodies => Body::RunLength,
        _ => Body::Direct,
    }
}

/// Whether most updates go to a few of so few elements that several copies of all of them stay near
/// the processor: by turns they do not wait for each other there.
pub(super) fn are_hot(shape: &Shape, sample: Option<Sample>) -> bool {
    fits_several_times(shape) && waits(shape, sample)
}

fn fits_several_times(shape: &Shape) -> bool {
    shape.bytes <= MOST_BYTES_OF_A_TABLE
}

/// Whether updates wait for each other that could go to several copies by turns: in lanes, and in
/// registers, they do not.
fn waits(shape: &Shape, sample: Option<Sample>) -> bool {
    let goes_on = |it: &Sample| it.keeps_a_register() && it.is_foreseen();
    let is_hot = sample.is_some_and(|it| it.is_skewed && !goes_on(&it));
    may_regroup(shape) && shape.lanes == 1 && !shape.is_held && is_hot
}

fn may_regroup(shape: &Shape) -> bool {
    shape.commutes && (shape.is_exact || shape.mode != Mode::Exact)
}
