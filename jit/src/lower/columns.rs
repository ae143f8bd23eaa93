//! Bodies that update some columns of their outputs alone: the last dimension, which loops inside
//! of the body run over.

use super::body::updates_alone;
use super::function::FunctionLowering;
use crate::facts::writes_buffers_alone;
use cranelift_codegen::ir::Value;
use cranelift_codegen::ir::{InstBuilder, types};
use std::collections::BTreeSet;
use std::mem::offset_of;
use strew_affine::interpret::Oob;
use strew_affine::visit::{Loop, walk};
use strew_affine::{Access, AffineFor, Forall, IterId, Subscript, Variable};
use strew_runtime::abi::{ForallCall, NO_COLUMNS};

/// The turns of column loops that a function makes.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    loops: BTreeSet<IterId>,
    /// From this value of the iterator on.
    first: Option<Value>,
    /// Up to this one.
    end: Option<Value>,
}

impl Columns {
    /// Whether only some are made.
    pub(super) fn are_some(&self) -> bool {
        self.first.is_some()
    }
}

/// The loops over the columns of what `forall` updates: every update of a private buffer lies in
/// one, which has its last subscript as iterator. `None` when there are others, or when the body
/// writes something else, or such a loop does: what goes from one of its turns to another, or out
/// of it, is that of all turns.
///
/// Cut at multiples of the greatest of their steps, which all are powers of two, the turns of all
/// these loops then update different elements on the two sides of a cut: an element belongs to the
/// turn `j` with `j <= element < j + step`, and `j` is on the same side as the element.
pub(super) fn column_loops(forall: &Forall) -> Option<ColumnLoops> {
    let mut found = BTreeSet::new();
    let mut greatest = 1;
    let mut is_divided = writes_buffers_alone(forall) && !forall.privates.is_empty();
    walk(&forall.body, &mut |node, loops| {
        for access in node.written_elements() {
            let is_private = forall.has_buffer(access.array);
            if is_private {
                let own = loops.iter().find_map(|it| runs_over_columns(it, access));
                found.extend(own.map(|it| it.iter));
                greatest = own.map_or(1, |it| it.step).max(greatest);
                is_divided &= own.is_some();
            }
        }
    });
    is_divided &= updates_alone(forall, |iter| found.contains(&iter));
    is_divided.then_some(ColumnLoops {
        iters: found,
        step: greatest,
    })
}

/// What [`column_loops`] finds.
pub(super) struct ColumnLoops {
    iters: BTreeSet<IterId>,
    /// The greatest of their steps.
    step: i64,
}

/// The loop that `around` is, if its turns update the elements of `access` column by column.
fn runs_over_columns<'k>(around: &Loop<'k>, access: &Access) -> Option<&'k AffineFor> {
    let (Loop::Affine(inner), [_, .., Subscript::Affine(last)]) =
        (around, access.subscripts.as_slice())
    else {
        return None;
    };
    let behind = last.constant();
    let is_iterator = last
        .offset(behind.wrapping_neg())
        .is_ok_and(|it| it.as_variable() == Some(Variable::Iter(inner.iter)));
    let is_whole = match inner.step {
        1 => behind == 0,
        step => (0..step).contains(&behind) && begins_at_multiple(inner),
    };
    (is_iterator && is_whole).then_some(inner)
}

fn begins_at_multiple(inner: &AffineFor) -> bool {
    let first = inner.lower.as_single().and_then(|it| it.as_constant());
    inner.step.unsigned_abs().is_power_of_two()
        && first.is_some_and(|first| first % inner.step == 0)
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes only the turns from `first` up to `end` of the loops over columns.
    pub(super) fn bind_columns(&mut self, forall: &Forall, first: Value, end: Value) {
        self.columns = Columns {
            loops: column_loops(forall).map(|it| it.iters).unwrap_or_default(),
            first: Some(first),
            end: Some(end),
        };
    }

    /// The bounds of the loop over `iter`, whose own are `lower` and `upper`.
    pub(super) fn within_columns(
        &mut self,
        iter: IterId,
        lower: Value,
        upper: Value,
    ) -> (Value, Value) {
        let Columns { loops, first, end } = &self.columns;
        match (first, end) {
            (Some(first), Some(end)) if loops.contains(&iter) => (
                self.builder.ins().smax(lower, *first),
                self.builder.ins().smin(upper, *end),
            ),
            _ => (lower, upper),
        }
    }

    /// Writes to the table how many columns there are that can be divided, and where.
    pub(super) fn store_columns(&mut self, table: Value, forall: &Forall) {
        let found = column_loops(forall);
        let at = offset_of!(ForallCall, columns);
        self.store_extent(table, at, forall, found.is_some());
        let step = found.map_or(1, |it| it.step);
        let step = self.builder.ins().iconst(types::I64, step);
        self.store_at(table, offset_of!(ForallCall, column_step), step);
    }

    /// Writes to the table `at` this place how many columns the outputs have if loops over them can
    /// be divided, else that none has.
    pub(super) fn store_extent(&mut self, table: Value, at: usize, forall: &Forall, can: bool) {
        // What is skipped outside of these loops would count once for each thread.
        let can = can && self.program.oob == Oob::Error;
        let target = forall.buffers().next().map(|(_, target)| target);
        let array = target.and_then(|target| self.arrays.get(target));
        let columns = array.and_then(|array| array.extents.last().copied());
        let columns = columns.filter(|_| can);
        let none = NO_COLUMNS.cast_signed();
        let columns = columns.unwrap_or_else(|| self.builder.ins().iconst(types::I64, none));
        self.store_at(table, at, columns);
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::of_forall;
    use super::*;

    fn count(body: &str) -> Option<(usize, i64)> {
        let body = format!("affine.for i in 0..n {{ {body} }}");
        let found = of_forall(&body, |forall, _| column_loops(forall));
        found.map(|it| (it.iters.len(), it.step))
    }

    #[test]
    fn loops_over_the_last_subscript_are_found() {
        let whole = "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] }";
        assert_eq!(count(whole), Some((1, 1)));
        let unrolled = "affine.for j in 0..d - 3 step 4 {
            p[key[i], j] reduce(add) x[i, j]
            p[key[i], j + 3] reduce(add) x[i, j + 3]
          }
          affine.for r in (d floordiv 4) * 4..d { p[key[i], r] reduce(add) x[i, r] }";
        assert_eq!(count(unrolled), Some((2, 4)));
    }

    #[test]
    fn what_would_update_an_element_from_two_sides_is_not_divided() {
        for body in [
            "affine.for j in 0..d - 1 { p[key[i], j + 1] reduce(add) x[i, j] }",
            "affine.for j in 0..d step 3 { p[key[i], j] reduce(add) x[i, j] }",
            "affine.for j in 1..d - 3 step 4 { p[key[i], j + 3] reduce(add) x[i, j] }",
            "affine.for j in 0..d { p[key[i], 2 * j] reduce(add) x[i, j] }",
            "affine.for j in 0..d { p[key[i], key[j]] reduce(add) x[i, j] }",
            "affine.for j in 0..m { p[j, key[i]] reduce(add) 1.0 }",
            "var s: f32 = 0.0
             affine.for j in 0..d { s reduce(add) x[i, j] p[key[i], j] reduce(add) s }",
            "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] } p[key[i], 0] reduce(add) 1.0",
        ] {
            assert_eq!(count(body), None, "{body}");
        }
    }

    #[test]
    fn what_all_would_write_is_not_divided() {
        let both = "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] } y[i] = 1.0";
        assert_eq!(count(both), None);
    }
}
