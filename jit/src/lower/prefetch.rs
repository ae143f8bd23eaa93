//! Rows that a later turn updates, asked for in time.
//!
//! `out[key[i], j] += x[i, j]` waits for each row, since processors foresee no keys: and rows of some lines fill their queues of stores, so
//! that they do not get to the next one by themselves. Which row a later turn updates can be read from `key` now, though.

use super::ahead::Inside;
use super::function::{ArrayValue, FunctionLowering, Stride};
use super::loops::Counted;
use super::rows::row_of;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::interpret::Oob;
use strew_affine::visit::Loop;
use strew_affine::{Access, Expr, LocalId, Node, Place, Subscript};

/// So many turns ahead: with 4 to 16, rows of 256 bytes in 16 to 64 MiB took 0.6 of the time without.
const TURNS: i64 = 16;

/// The bytes of a row from which asking pays, and of which more are foreseen by processors.
const ROW_BYTES: (i64, i64) = (128, 1024);

/// Smaller arrays are near.
const LEAST_BYTES: i64 = 1 << 20;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Asks for the rows that the turn [`TURNS`] after the one of `iter` updates.
    pub(super) fn prefetch_rows(&mut self, counted: &Counted<'k>, iter: Value) {
        let may = counted.step == 1 && self.program.oob == Oob::Error;
        if !may || !matches!(counted.around, Loop::Affine(_)) {
            return;
        }
        for row in self.later_rows(counted) {
            self.prefetch_row(&row, counted, iter);
        }
    }

    /// The rows that inner loops of `counted` update, by keys that can be read in any turn.
    fn later_rows(&self, counted: &Counted<'k>) -> Vec<Access> {
        let inner = counted.body.iter().filter_map(|node| match node {
            Node::AffineFor(inner) => Some(inner),
            _ => None,
        });
        let rows = inner.filter_map(|inner| {
            let inside = Inside::of(inner.iter, &inner.body);
            let mut updated = inner.body.iter().flat_map(Node::written_elements);
            updated.find_map(|access| {
                let row = row_of(access)?;
                let is_row = row.subscripts.iter().all(|it| inside.stays(it));
                let in_memory = self.goes_to_memory(&[Place::Element(access.clone())]);
                let last = access.subscripts.last();
                let is_along = last.is_some_and(|it| !inside.stays(it));
                (is_row && in_memory && is_along).then_some(row)
            })
        });
        rows.filter_map(|row| self.with_keys(row, counted.body))
            .collect()
    }

    /// `row` with the keys in the place of the scalars that hold them; `None` where there are none, or others.
    fn with_keys(&self, mut row: Access, body: &[Node]) -> Option<Access> {
        let mut has_keys = false;
        for subscript in &mut row.subscripts {
            let Subscript::Computed(expr) = subscript else {
                continue;
            };
            let key = match expr {
                Expr::Local(local) => declared(*local, body)?,
                _ => expr,
            };
            let Expr::Load(access) = key else {
                return None;
            };
            has_keys = self.is_proved(access) && self.program.facts.is_read_only(access.array);
            if !has_keys {
                return None;
            }
            *subscript = Subscript::Computed(key.clone());
        }
        has_keys.then_some(row)
    }

    fn prefetch_row(&mut self, row: &Access, counted: &Counted<'k>, iter: Value) {
        let Some(array) = self.arrays.get(row.array).cloned() else {
            return;
        };
        let (Stride::Fixed(width), Some((columns, outer))) =
            (array.stride, array.extents.split_last())
        else {
            return;
        };
        let ins = &mut self.builder;
        // All but the comparison with the end is the same in every turn, and leaves the loop.
        let bytes = ins.ins().imul_imm_s(*columns, i64::from(width));
        let whole = outer
            .iter()
            .fold(bytes, |all, extent| ins.ins().imul(all, *extent));
        let is_far = ins
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThan, whole, LEAST_BYTES);
        let is_long = ins
            .ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThanOrEqual, bytes, ROW_BYTES.0);
        let pays = ins.ins().band(is_far, is_long);
        let never = ins.ins().iconst(types::I64, i64::MIN);
        let end = ins.ins().select(pays, counted.upper, never);
        let later = ins.ins().iadd_imm_s(iter, TURNS);
        let is_turn = ins.ins().icmp(IntCC::SignedLessThan, later, end);
        let [asks, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(is_turn, asks, &[], next, &[]);
        self.builder.switch_to_block(asks);
        self.iters.insert(counted.iter, later);
        self.scoped(|function| function.ask_for(row, &array, bytes));
        self.iters.insert(counted.iter, iter);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Asks for `row` of `array`, of so many bytes, if its updates are made here.
    fn ask_for(&mut self, row: &Access, array: &ArrayValue, bytes: Value) {
        let number = self.row_number(row);
        let [asks, next] = [(); 2].map(|()| self.builder.create_block());
        match self.is_own_row(number) {
            Some(is_own) => self.builder.ins().brif(is_own, asks, &[], next, &[]),
            None => self.builder.ins().jump(asks, &[]),
        };
        self.builder.switch_to_block(asks);
        let distance = self.builder.ins().imul(number, bytes);
        let first = self.builder.ins().iadd(array.address, distance);
        let first = self
            .builder
            .ins()
            .iadd_imm_s(first, i64::from(array.offset));
        let most = self.builder.ins().iconst(types::I64, ROW_BYTES.1);
        let length = self.builder.ins().umin(bytes, most);
        let function = self.program.prefetch_row;
        let callee = self
            .program
            .module
            .declare_func_in_func(function, self.builder.func);
        self.builder.ins().call(callee, &[first, length]);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }
}

/// What `body` declares `local` as.
fn declared(local: LocalId, body: &[Node]) -> Option<&Expr> {
    body.iter().find_map(|node| match node {
        Node::Declare { local: it, value } if *it == local => Some(value),
        _ => None,
    })
}
