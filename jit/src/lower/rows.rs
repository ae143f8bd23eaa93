//! Bodies that update some rows of their outputs alone: those that a hash of the row's number gives
//! to one of several owners.
//!
//! A loop over columns then turns if its row is an owner's own, and else not at all. What stands
//! outside of these loops runs for every owner.

use super::ahead::changed_inside;
use super::body::updates_alone;
use super::function::FunctionLowering;
use crate::facts::writes_buffers_alone;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};
use std::collections::BTreeMap;
use std::mem::offset_of;
use strew_affine::visit::{Loop, for_each_load_in_subscripts, walk};
use strew_affine::{Access, AffineFor, Forall, IterId, Kernel};
use strew_runtime::abi::{ForallCall, ROW_FACTOR};

/// The rows that a function updates.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    /// For each loop over columns the row that all its turns update: an access without its last
    /// subscript.
    pub(super) loops: BTreeMap<IterId, Access>,
    pub(super) owner: Option<Owner>,
    /// The loop over columns of a row that is known to be the owner's.
    pub(super) decided: Option<IterId>,
}

/// Whose rows they are; see [`strew_runtime::abi::owner_of_row`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Owner {
    pub(super) number: Value,
    pub(super) owners: Value,
    pub(super) shift: Value,
}

/// The loops over columns of what `forall` updates: every update of a private buffer lies in one,
/// in all turns of which the row is the same, and is known before the first. `None` where there are
/// others, or where something else is written that an owner of no row in a loop would miss.
///
/// Then each update is made by the owner of its row alone, and by that one in the order of the
/// loop: what stands outside of these loops does not depend on what is done in them, since bodies
/// that read their buffers have no other shapes.
pub(super) fn row_loops(forall: &Forall, kernel: &Kernel) -> Option<BTreeMap<IterId, Access>> {
    let mut found = BTreeMap::new();
    let mut is_divided = writes_buffers_alone(forall) && !forall.privates.is_empty();
    walk(&forall.body, &mut |node, loops| {
        for access in node.written_elements() {
            if forall.has_buffer(access.array) {
                let row = row_of(access);
                let around = loops.last().and_then(|it| over_columns(it, access, kernel));
                is_divided &= match around.zip(row) {
                    Some((around, row)) => {
                        let known = found.entry(around.iter).or_insert_with(|| row.clone());
                        is_same_row(known, &row, kernel)
                    }
                    None => false,
                };
            }
        }
    });
    is_divided &= updates_alone(forall, |iter| found.contains_key(&iter));
    is_divided.then_some(found)
}

/// `access` without its last subscript, if there are others.
pub(super) fn row_of(access: &Access) -> Option<Access> {
    let (_, row) = access.subscripts.split_last()?;
    (!row.is_empty()).then(|| Access {
        array: access.array,
        subscripts: row.to_vec(),
        span: access.span,
    })
}

/// Whether rows have the same numbers: outer extents count, that of the columns and the first do
/// not.
fn is_same_row(one: &Access, other: &Access, kernel: &Kernel) -> bool {
    let between = |row: &Access| {
        let extents = kernel.arrays[row.array].extents.iter();
        let between = extents.take(row.subscripts.len()).skip(1);
        between.cloned().collect::<Vec<_>>()
    };
    one.is_at_same_place(other) && between(one) == between(other)
}

/// The loop that `around` is, if the row of `access` is the same in all its turns and can be known
/// before the first of them: nothing is read for it that a turn may not read.
fn over_columns<'k>(around: &Loop<'k>, access: &Access, kernel: &Kernel) -> Option<&'k AffineFor> {
    let Loop::Affine(inner) = around else {
        return None;
    };
    let row = row_of(access)?;
    let inside = changed_inside(inner.iter, &inner.body);
    let is_sure = inner.body.iter().any(|node| {
        let mut written = node.written_elements();
        written.any(|it| it.array == access.array && it.is_at_same_place(access))
    });
    let mut is_known = row.subscripts.iter().all(|it| inside.stays(it));
    for_each_load_in_subscripts(&row, &mut |read| {
        // The body writes no parameter.
        is_known &= is_sure && kernel.array_params().any(|it| it == read.array);
    });
    is_known.then_some(inner)
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes only the updates of the rows of `owner`.
    pub(super) fn bind_rows(&mut self, forall: &Forall, owner: Owner) {
        let loops = row_loops(forall, self.program.kernel).unwrap_or_default();
        self.rows = Rows {
            loops,
            owner: Some(owner),
            decided: None,
        };
    }

    /// The upper bound of the loop over `iter`, whose own are `lower` and `upper`: one that leaves
    /// no turn where its row is somebody else's.
    pub(super) fn within_rows(&mut self, iter: IterId, lower: Value, upper: Value) -> Value {
        let Rows {
            loops,
            owner,
            decided,
        } = &self.rows;
        let (Some(row), Some(owner)) = (loops.get(&iter).cloned(), *owner) else {
            return upper;
        };
        if *decided == Some(iter) {
            return upper;
        }
        let [asks, next] = [(); 2].map(|()| self.builder.create_block());
        let end = self.builder.append_block_param(next, types::I64);
        let turns = self.builder.ins().icmp(IntCC::SignedLessThan, lower, upper);
        let none = [BlockArg::Value(lower)];
        self.builder.ins().brif(turns, asks, &[], next, &none);
        self.builder.switch_to_block(asks);
        let is_own = self.scoped(|function| {
            let number = function.row_number(&row);
            function.is_own(number, owner)
        });
        let upper = self.builder.ins().select(is_own, upper, lower);
        self.builder.ins().jump(next, &[BlockArg::Value(upper)]);
        self.builder.switch_to_block(next);
        end
    }

    /// The number of `row`, whose subscripts need not be in range: any will do then.
    pub(super) fn row_number(&mut self, row: &Access) -> Value {
        let places = self.subscript_values(row);
        let array = self.arrays.get(row.array);
        let extents = array.map_or_else(Vec::new, |it| it.extents.clone());
        let ins = &mut self.builder;
        let number = places.into_iter().zip(extents).reduce(|outer, place| {
            let row = ins.ins().imul(outer.0, place.1);
            (ins.ins().iadd(row, place.0), place.1)
        });
        let number = number.map(|it| it.0);
        number.unwrap_or_else(|| ins.ins().iconst(types::I64, 0))
    }

    /// Whether the row is the owner's, as [`strew_runtime::abi::owner_of_row`] has it.
    pub(super) fn is_own(&mut self, number: Value, owner: Owner) -> Value {
        let ins = &mut self.builder;
        let block = ins.ins().ushr(number, owner.shift);
        let mixed = ins.ins().imul_imm_s(block, i64::from(ROW_FACTOR));
        let mixed = ins.ins().ireduce(types::I32, mixed);
        let mixed = ins.ins().uextend(types::I64, mixed);
        let scaled = ins.ins().imul(mixed, owner.owners);
        let whose = ins.ins().ushr_imm_u(scaled, i64::from(u32::BITS));
        ins.ins().icmp(IntCC::Equal, whose, owner.number)
    }

    /// Writes to the table how many columns the rows have that can be divided.
    pub(super) fn store_rows(&mut self, table: Value, forall: &Forall) {
        let can = row_loops(forall, self.program.kernel).is_some();
        self.store_extent(table, offset_of!(ForallCall, row_columns), forall, can);
    }
}

#[cfg(test)]
mod tests {
    use super::super::body::of_forall;
    use super::*;

    fn count(body: &str) -> Option<usize> {
        let body = format!("affine.for i in 0..n {{ {body} }}");
        let found = of_forall(&body, row_loops);
        found.map(|it| it.len())
    }

    #[test]
    fn loops_over_one_row_are_found() {
        let rows = [
            "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] }",
            "affine.for j in 0..d { p[key[i], key[j]] reduce(add) x[i, j] }",
            "affine.for j in 0..d - 1 { p[key[i], j + 1] reduce(add) x[i, j] }",
            "let k: i32 = key[i]
             affine.for j in 0..d { scf.if x[i, j] > 0.0 { p[k, j] reduce(add) x[i, j] } }",
        ];
        for body in rows {
            assert_eq!(count(body), Some(1), "{body}");
        }
        let twice = "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] }
            affine.for l in 0..d { p[i, l] reduce(add) 1.0 }";
        assert_eq!(count(twice), Some(2));
    }

    #[test]
    fn what_an_owner_of_no_row_would_miss_is_not_divided() {
        for body in [
            "affine.for j in 0..m { p[j, key[i]] reduce(add) 1.0 }",
            // The row of the second update is that of all turns of the loop over `i`, in which the
            // other loop is.
            "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] } p[0, 0] reduce(add) 1.0",
            "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] p[i, j] reduce(add) 1.0 }",
            "affine.for j in 0..d { scf.if x[i, j] > 0.0 { p[key[i], j] reduce(add) 1.0 } }",
            "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] } p[key[i], 0] reduce(add) 1.0",
            "affine.for j in 0..d { p[key[i], j] reduce(add) x[i, j] } y[i] = 1.0",
            "var s: f32 = 0.0
             affine.for j in 0..d { s reduce(add) x[i, j] p[key[i], j] reduce(add) s }",
        ] {
            // The update behind the loop lies in the loop over `i`, whose row is another in each
            // turn.
            assert_eq!(count(body), None, "{body}");
        }
    }
}
