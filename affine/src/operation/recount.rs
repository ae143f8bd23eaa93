//! Elements counted through by one list of extents, and found by another.

use crate::indexing::{IndexExpr, IndexingError};

type Checked<T> = Result<T, IndexingError>;

/// The index on the second side of the element that has the number of the one on the first, whose
/// indices are the dimension variables. Sides that split at the same counts are treated part by
/// part, which keeps the expressions small.
pub(super) fn recount(from: (&[i64], &[usize]), to: (&[i64], &[usize])) -> Checked<Vec<IndexExpr>> {
    let extents = |(extents, order): (&[i64], &[usize])| -> Vec<i64> {
        let extents = order.iter().map(|it| extents.get(*it).copied());
        extents.map(|it| it.unwrap_or(1)).collect()
    };
    let (from_extents, to_extents) = (extents(from), extents(to));
    let mut results = vec![IndexExpr::Constant(0); to.0.len()];
    for (from_part, to_part) in common_parts(&from_extents, &to_extents) {
        let mut number = IndexExpr::Constant(0);
        for at in from_part {
            let extent = from_extents.get(at).copied().unwrap_or(1);
            if extent != 1 {
                let dimension = from.1.get(at).copied().unwrap_or(at);
                let index = IndexExpr::dimension(dimension);
                number = number.scaled(extent)?.plus(&index)?;
            }
        }
        let mut inner = 1_i64;
        let first = to_part.start;
        for at in to_part.rev() {
            let extent = to_extents.get(at).copied().unwrap_or(1);
            if extent == 1 {
                continue;
            }
            let mut index = number.floordiv(&inner.into())?;
            if at != first {
                index = index.modulo(&extent.max(1).into())?;
            }
            inner = inner
                .checked_mul(extent.max(1))
                .ok_or(IndexingError::Overflow)?;
            if let Some(result) = to.1.get(at).and_then(|it| results.get_mut(*it)) {
                *result = index;
            }
        }
    }
    Ok(results)
}

/// The shortest runs of dimensions on both sides that have the same number of elements. Extents of
/// 1 at the end belong to the last run.
fn common_parts(from: &[i64], to: &[i64]) -> Vec<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    // Without elements there is nothing to tell apart, and products of zero would.
    if from.contains(&0) || to.contains(&0) {
        return vec![(0..from.len(), 0..to.len())];
    }
    let mut parts = Vec::new();
    let (mut from_start, mut to_start) = (0, 0);
    let (mut from_end, mut to_end) = (0, 0);
    let (mut from_count, mut to_count) = (1_i64, 1_i64);
    while from_end < from.len() || to_end < to.len() {
        let from_next = from.get(from_end).copied();
        let to_next = to.get(to_end).copied();
        match (from_next, to_next) {
            (Some(extent), _) if from_count <= to_count => {
                from_count = from_count.saturating_mul(extent);
                from_end += 1;
            }
            (_, Some(extent)) => {
                to_count = to_count.saturating_mul(extent);
                to_end += 1;
            }
            (Some(extent), None) => {
                from_count = from_count.saturating_mul(extent);
                from_end += 1;
            }
            (None, None) => break,
        }
        if from_count == to_count && from_end > from_start && to_end > to_start {
            parts.push((from_start..from_end, to_start..to_end));
            (from_start, to_start) = (from_end, to_end);
            (from_count, to_count) = (1, 1);
        }
    }
    if from_end > from_start || to_end > to_start {
        parts.push((from_start..from_end, to_start..to_end));
    }
    parts
}
