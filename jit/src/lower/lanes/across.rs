//! Elements that stay in vectors while the loop around the one in lanes runs.
//!
//! All turns over `k` of `y[i, j] reduce(add) v[k] * x[col[k], j]` update the row `y[i]`. Where its
//! columns are few and known, each vector of it is a variable from the first turn on, and memory
//! gets it behind the last.

use super::held::may_meet;
use super::vectors::Vectors;
use super::{Group, unaligned};
use crate::CompileError;
use crate::lower::ahead::changed_inside;
use crate::lower::function::FunctionLowering;
use crate::lower::loops::Counted;
use crate::lower::operation;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use std::ops::Range;
use strew_affine::changed::Changed;
use strew_affine::lanes::{Lanes, VECTOR_BYTES};
use strew_affine::visit::{Loop, for_each_load_of, walk};
use strew_affine::{Access, AffineFor, Bound, Node, Subscript};

/// So many vectors leave registers for what updates them.
const MOST_VECTORS: usize = 10;

/// In so many turns, with all that they do known, the code generator does as well: products of 8 by
/// 8 took 1.1 times as long.
const FEW_TURNS: i64 = 4;

/// A row in vectors.
#[derive(Clone, Debug)]
pub(in crate::lower) struct Across<'k> {
    access: &'k Access,
    /// The turn of the loop in lanes that has its first element.
    first: i64,
    ty: ir::Type,
    vectors: Vec<Variable>,
    /// Where it belongs.
    address: Value,
    displacement: i32,
    flags: MemFlagsData,
}

impl Across<'_> {
    /// How far behind `address` each vector belongs.
    fn places(&self) -> impl Iterator<Item = (Variable, i32)> {
        let behind = (self.displacement..).step_by(VECTOR_BYTES as usize);
        self.vectors.iter().copied().zip(behind)
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Has rows in vectors that all turns of `counted`, of which there is one at least, update.
    /// Returns how many.
    pub(in crate::lower) fn hold_across(&mut self, counted: &Counted<'k>) -> usize {
        let are_few = self.known_turns(counted).is_some_and(|it| it <= FEW_TURNS);
        let Some((inner, turns)) = only_loop(counted.body).filter(|_| !are_few) else {
            return 0;
        };
        // Whoever makes some columns or some rows alone, or looks before it makes any, has other
        // bounds.
        let has_other_bounds = self.columns.are_some() || self.rows.owner.is_some();
        if has_other_bounds || !self.checked.is_empty() || !self.pages.is_empty() {
            return 0;
        }
        let around = self.loops.len();
        self.loops.push(counted.around);
        let group = self.group(Loop::Affine(inner));
        self.loops.push(Loop::Affine(inner));
        let rows = group.map_or(Vec::new(), |group| {
            self.scoped(|function| function.rows_of_all_turns(counted, (inner, turns), &group))
        });
        self.loops.truncate(around);
        let held = rows.len();
        self.across.extend(rows);
        held
    }

    /// Memory gets the last `count` of the rows.
    pub(in crate::lower) fn let_go_across(&mut self, count: usize) {
        let kept = self.across.len().saturating_sub(count);
        for row in self.across.split_off(kept) {
            self.store_row(&row);
        }
    }

    /// Runs `turns` one by one, which find all rows in memory.
    pub(super) fn turns_in_memory(
        &mut self,
        counted: &Counted<'k>,
        turns: Range<i64>,
    ) -> Result<(), CompileError> {
        let held = self.across.clone();
        held.iter().for_each(|row| self.store_row(row));
        self.turns_apart(counted, turns)?;
        held.iter().for_each(|row| self.load_row(row));
        Ok(())
    }

    fn store_row(&mut self, row: &Across<'k>) {
        for (vector, behind) in row.places() {
            let value = self.builder.use_var(vector);
            let ins = self.builder.ins();
            ins.store(row.flags, value, row.address, behind);
        }
    }

    fn load_row(&mut self, row: &Across<'k>) {
        for (vector, behind) in row.places() {
            let ins = self.builder.ins();
            let value = ins.load(row.ty, row.flags, row.address, behind);
            self.builder.def_var(vector, value);
        }
    }

    /// The rows that all turns of `counted` update in the loop `inner`, if they update nothing
    /// else.
    fn rows_of_all_turns(
        &mut self,
        counted: &Counted<'k>,
        (inner, turns): (&'k AffineFor, Range<i64>),
        group: &Group<'k>,
    ) -> Vec<Across<'k>> {
        let rows = written(&inner.body);
        let inside = changed_inside(counted.iter, counted.body);
        let count = turns.end - turns.start;
        let vectors = self.vectors_of((&rows, inner), group, count);
        let may_stay = group.is_whole(&inner.body)
            && !group.lanes.has_loops()
            && group.are_few(&inner.body, count)
            && vectors.is_some_and(|it| it <= MOST_VECTORS)
            && rows.iter().all(|it| self.is_proved(it))
            && rows.iter().all(|it| is_along(it, inner, &inside))
            && self.are_all(counted.body, &rows, &group.lanes);
        if !may_stay {
            return Vec::new();
        }
        let first = self.builder.ins().iconst(types::I64, turns.start);
        self.iters.insert(inner.iter, first);
        let held = rows.into_iter().map(|it| self.hold_row(it, &turns));
        held.collect()
    }

    /// How many vectors `turns` elements of all `rows` fill; `None` where something is left over,
    /// or may be, since there are narrower ones in `inner`.
    fn vectors_of(
        &self,
        (rows, inner): (&[&Access], &AffineFor),
        group: &Group<'k>,
        turns: i64,
    ) -> Option<usize> {
        let types = group.lanes.types(&inner.body);
        let bytes = types.first()?.bytes();
        let all = turns.checked_mul(i64::from(bytes))?;
        let vectors = usize::try_from(all / i64::from(VECTOR_BYTES)).ok()?;
        let is_whole = all % i64::from(VECTOR_BYTES) == 0
            && types.iter().all(|it| it.bytes() == bytes)
            && rows
                .iter()
                .all(|it| self.program.kernel.arrays[it.array].element.bytes() == bytes);
        is_whole.then_some(vectors.saturating_mul(rows.len()))
    }

    /// Whether `body` comes to elements of `rows` by these accesses alone.
    fn are_all(&self, body: &[Node], rows: &[&Access], lanes: &Lanes<'_>) -> bool {
        let mut all = true;
        let mut look = |access: &Access| {
            let mut rows = rows.iter();
            all &=
                rows.all(|row| row.is_same(access) || !may_meet(row, access, (&self.loops, lanes)));
        };
        walk(body, &mut |node, _| {
            for_each_load_of(node, &mut look);
            node.written_elements().for_each(&mut look);
        });
        all
    }

    /// Loads the row of `access`, of which the loop in lanes makes `turns`.
    fn hold_row(&mut self, access: &'k Access, turns: &Range<i64>) -> Across<'k> {
        let element = self.element(access);
        let ty = self.program.kernel.arrays[access.array].element;
        let vector = operation::vector_of(ty);
        let bytes = (turns.end - turns.start) * i64::from(ty.bytes());
        let vectors = 0..bytes / i64::from(VECTOR_BYTES);
        let row = Across {
            access,
            first: turns.start,
            ty: vector,
            vectors: vectors.map(|_| self.builder.declare_var(vector)).collect(),
            address: element.address,
            displacement: element.displacement,
            flags: unaligned(element.flags),
        };
        self.load_row(&row);
        row
    }
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// The variables that have the elements of `access` in this turn, if the loop around has them
    /// in some: groups of known turns make up that loop, or it would not.
    pub(super) fn across(&mut self, access: &Access) -> Option<Vec<Variable>> {
        let iter = self.function.iter(self.iter);
        let mut rows = self.function.across.iter();
        let row = rows.find(|it| it.access.is_same(access))?;
        let first = self.function.constant(iter);
        debug_assert!(
            first.is_some(),
            "a row in vectors, and a turn that is not known"
        );
        let first = first?;
        let per_vector = VECTOR_BYTES / self.element_type(access).bytes();
        let before = usize::try_from(first - row.first).ok()? / per_vector as usize;
        let vectors = row.vectors.iter().skip(before);
        let count = self.group.count / per_vector;
        Some(vectors.take(count as usize).copied().collect())
    }
}

/// The loop in lanes that `body` is, beside scalars that it declares, and its turns, if these are
/// known.
fn only_loop(body: &[Node]) -> Option<(&AffineFor, Range<i64>)> {
    let end = |it: &Bound| it.as_single()?.as_constant();
    let mut found = None;
    for node in body {
        match node {
            Node::Declare { .. } => {}
            Node::AffineFor(inner) if inner.lanes > 1 && inner.step == 1 && found.is_none() => {
                found = Some(inner);
            }
            _ => return None,
        }
    }
    let turns = end(&found?.lower)?..end(&found?.upper)?;
    found.filter(|_| !turns.is_empty()).zip(Some(turns))
}

/// The places that `body` writes, each once.
fn written(body: &[Node]) -> Vec<&Access> {
    let mut found: Vec<&Access> = Vec::new();
    walk(body, &mut |node, _| {
        for access in node.written_elements() {
            if !found.iter().any(|it| it.is_same(access)) {
                found.push(access);
            }
        }
    });
    found
}

/// Whether `access` goes along with `inner` by its last subscript, and is the same in all turns of
/// the loop around, which changes what is `inside`.
fn is_along(access: &Access, inner: &AffineFor, inside: &Changed) -> bool {
    let Some((Subscript::Affine(last), rows)) = access.subscripts.split_last() else {
        return false;
    };
    let rest = match last.split_off(inner.iter) {
        Some((1, rest)) => Subscript::Affine(rest),
        _ => return false,
    };
    rows.iter().chain([&rest]).all(|it| inside.stays(it))
}
