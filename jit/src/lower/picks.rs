//! Rows that keys pick, asked for in time.
//!
//! `y[j] += v[k] * x[col[k], j]`, or `x[col[k] * d + j]`, waits for each row of `x`: processors
//! foresee no keys. A turn asks for the row that the key [`TURNS`] behind its own says, also where
//! that is no turn of this loop, since rows of sparse matrices go on where others end. So it does
//! for rows that are updated, `g[word[k] * d + j] += x[i, j]`.

use super::ahead::{changed_inside, is_iter};
use super::function::FunctionLowering;
use super::loops::Counted;
use super::prefetch::{MOST_BYTES, TURNS, inner_loops};
use crate::facts::Checks;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::changed::Changed;
use strew_affine::visit::{declared_in, for_each_load};
use strew_affine::{Access, AffineFor, ArrayId, BinaryOp, Expr, IterId, Node, Subscript};

/// The bytes of a row from which asking pays: several of 32 bytes in 1 to 16 MiB are waited for at
/// once, and asking took a tenth.
const LEAST_BYTES: i64 = 64;

/// What an inner loop reads of a row that a key picks.
struct Picked<'k> {
    inner: &'k AffineFor,
    /// An element, with the key in the place of scalars.
    element: Access,
    key: Access,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Asks for the rows that the turn [`TURNS`] after the one of `iter` picks, also for such as
    /// it updates where these are `wanted`.
    pub(super) fn prefetch_picked(&mut self, counted: &Counted<'k>, iter: Value, wanted: bool) {
        // Elsewhere an element that nobody reads could leave 64 bits.
        if self.program.checks == Checks::Computed {
            for picked in self.picked_rows(counted, wanted) {
                self.ask_for_picked(&picked, counted, iter);
            }
        }
    }

    fn picked_rows(&self, counted: &Counted<'k>, updated: bool) -> Vec<Picked<'k>> {
        let mut all: Vec<Picked<'k>> = Vec::new();
        for inner in inner_loops(counted) {
            let inside = changed_inside(inner.iter, &inner.body);
            let mut take = |access: &Access| {
                let is_new = |it: &Picked<'k>| {
                    let mut known = all.iter();
                    known.all(|other| !other.element.is_same(&it.element))
                };
                let picked = self.picked_row(access, inner, (&inside, counted));
                all.extend(picked.filter(is_new));
            };
            for expr in inner.body.iter().flat_map(Node::expressions) {
                for_each_load(expr, &mut take);
            }
            if updated {
                self.updated_in_memory(inner).into_iter().for_each(take);
            }
        }
        all
    }

    /// The row of `access`, if `inner` goes along it and one key of the turn picks it.
    fn picked_row(
        &self,
        access: &Access,
        inner: &'k AffineFor,
        (inside, counted): (&Changed, &Counted<'k>),
    ) -> Option<Picked<'k>> {
        let (last, rows) = access.subscripts.split_last()?;
        let is_along = !inside.stays(last) && rows.iter().all(|it| inside.stays(it));
        let (element, key) = self.picked_element(access, counted)?;
        is_along.then_some(Picked {
            inner,
            element,
            key,
        })
    }

    /// `access` with what scalars of the turn are declared as in their place, and the one key of
    /// the turn that it is then told by.
    pub(super) fn picked_element(
        &self,
        access: &Access,
        counted: &Counted<'k>,
    ) -> Option<(Access, Access)> {
        let mut element = access.clone();
        let mut keys = Vec::new();
        for subscript in &mut element.subscripts {
            if let Subscript::Computed(expr) = subscript {
                self.write_out(expr, counted).then_some(())?;
                for_each_load(expr, &mut |it| keys.push(it.clone()));
            }
        }
        let is_read = |it: &Access| self.program.facts.is_read_only(it.array);
        let [key] = <[Access; 1]>::try_from(keys).ok()?;
        (is_of_turn(&key, counted.iter) && is_read(&key)).then_some((element, key))
    }

    /// Puts what scalars of the turn are declared as in their place; `false` where that does not
    /// tell what they are, or could trap.
    pub(super) fn write_out(&self, expr: &mut Expr, counted: &Counted<'k>) -> bool {
        match expr {
            Expr::Local(local) if self.program.kernel.locals[*local].mutable => false,
            Expr::Local(local) => match declared_in(counted.body, *local) {
                Some(declared) => {
                    *expr = declared.clone();
                    self.write_out(expr, counted)
                }
                None => !Changed::by(counted.body).has_local(*local),
            },
            Expr::Load(_) | Expr::Iter(_) | Expr::Param(_) | Expr::Constant(_) => true,
            Expr::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) | Expr::Cast(..) => {
                let mut operands = expr.operands_mut().into_iter();
                operands.all(|it| self.write_out(it, counted))
            }
            _ => false,
        }
    }

    fn ask_for_picked(&mut self, picked: &Picked<'k>, counted: &Counted<'k>, iter: Value) {
        let Picked {
            inner,
            element,
            key,
        } = picked;
        let Some(array) = self.arrays.get(element.array).cloned() else {
            return;
        };
        let (lower, upper) = (
            self.lower_bound(&inner.lower),
            self.upper_bound(&inner.upper),
        );
        let stride = self.stride_value(array.stride);
        let is_far = self.is_far(&array);
        let ins = &mut self.builder;
        let elements = ins.ins().isub(upper, lower);
        let bytes = ins.ins().imul(elements, stride);
        let is_long = IntCC::SignedGreaterThanOrEqual;
        let is_long = ins.ins().icmp_imm_s(is_long, bytes, LEAST_BYTES);
        let pays = ins.ins().band(is_far, is_long);
        let most = ins.ins().iconst(types::I64, MOST_BYTES);
        let length = ins.ins().umin(bytes, most);
        let later = ins.ins().iadd_imm_s(iter, TURNS);
        let keys = [key.array];
        self.ask_where_keys(&keys, pays, later, |function| {
            function.in_later_turn(counted.iter, &keys, later, |function| {
                function.iters.insert(inner.iter, lower);
                if let Some(address) = function.address_unchecked(element) {
                    function.ask_for_bytes(address, length);
                }
            });
        });
        self.iters.insert(counted.iter, iter);
    }

    /// Does what `ask` does where it `pays` and there is a key for the turn `later` in each of the
    /// arrays `keys`.
    pub(super) fn ask_where_keys(
        &mut self,
        keys: &[ArrayId],
        pays: Value,
        later: Value,
        ask: impl FnOnce(&mut Self),
    ) {
        let arrays = keys.iter().filter_map(|it| self.arrays.get(*it));
        let extents: Vec<_> = arrays
            .filter_map(|it| it.extents.first().copied())
            .collect();
        let extents = extents.into_iter();
        let fewest = extents.reduce(|one, other| self.builder.ins().umin(one, other));
        let Some(fewest) = fewest else {
            return;
        };
        let ins = &mut self.builder;
        // All but the comparison with the end is the same in every turn, and leaves the loop.
        let never = ins.ins().iconst(types::I64, 0);
        let end = ins.ins().select(pays, fewest, never);
        let is_there = ins.ins().icmp(IntCC::UnsignedLessThan, later, end);
        self.ask_where(is_there, ask);
    }

    /// Does what `ask` does in the turn `turn` of the loop over `iter`, for which there are `keys`.
    /// The iterator has that value from here on.
    pub(super) fn in_later_turn(
        &mut self,
        iter: IterId,
        keys: &[ArrayId],
        turn: Value,
        ask: impl FnOnce(&mut Self),
    ) {
        self.iters.insert(iter, turn);
        self.scoped(|function| {
            let arrays = &function.program.kernel.arrays;
            let bounds = keys.iter().filter_map(|it| arrays[*it].extents.first());
            let bounds: Vec<_> = bounds.collect();
            bounds
                .into_iter()
                .for_each(|it| function.keep_in_range(turn, it));
            ask(function);
        });
    }
}

/// Whether the iterator is the only subscript.
fn is_of_turn(key: &Access, iter: IterId) -> bool {
    matches!(key.subscripts.as_slice(), [subscript] if is_iter(subscript, iter))
}
