//! Rows that a later turn updates or reads, asked for in time.
//!
//! `out[key[i], j] += x[i, j]` waits for each row, since processors foresee no keys: and rows of
//! some lines fill their queues of stores, so that they do not get to the next one by themselves.
//! Which row a later turn updates can be read from `key` now, though. And rows of `x` they foresee
//! up to the end of a page only.

use super::access::moves_with;
use super::ahead::changed_inside;
use super::function::{ArrayValue, FunctionLowering, Stride};
use super::gathers::FAR_BYTES;
use super::loops::Counted;
use super::rows::row_of;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::changed::Changed;
use strew_affine::interpret::Oob;
use strew_affine::visit::{Loop, declared_in, for_each_load};
use strew_affine::{Access, AffineFor, Expr, Node, Place, Subscript};

/// So many turns ahead: with 4 to 16, rows of 256 bytes in 16 to 64 MiB took 0.6 of the time
/// without.
pub(super) const TURNS: i64 = 16;

/// The bytes of a row from which asking pays, if it is updated: in 8 MiB, rows of 32 bytes took
/// half of the time.
const UPDATED_BYTES: i64 = 16;

/// The same if it is read: of shorter ones processors foresee the next.
const READ_BYTES: i64 = 128;

/// Processors foresee what is behind so many bytes of a row.
pub(super) const MOST_BYTES: i64 = 1024;

/// Rows so near to that of this turn are foreseen too, where keys rise or fall: asking for these
/// only takes time.
const NEAR: i64 = 4 * TURNS;

/// Rows that may be far from the processor.
pub(super) struct FarRows {
    array: ArrayValue,
    /// Of each.
    bytes: Value,
    /// Whether asking for them pays.
    pub(super) pays: Value,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Asks for the rows that the turn [`TURNS`] after the one of `iter` updates, and for those
    /// that it reads.
    pub(super) fn prefetch_rows(&mut self, counted: &Counted<'k>, iter: Value) {
        let may = counted.step == 1 && self.program.oob == Oob::Error;
        // An owner of rows asks for its own alone, as the loop that lists its turns does.
        if !may || self.rows.owner.is_some() {
            return;
        }
        let updated = match counted.around {
            Loop::Affine(_) => self.later_rows(counted),
            _ => Vec::new(),
        };
        self.prefetch_picked(counted, iter, updated.is_empty());
        self.prefetch_heads(counted, iter);
        if updated.is_empty() {
            return;
        }
        for row in self.read_rows(counted) {
            let far = self.far_read(&row);
            self.in_time(far, counted, iter, |function, far, turns| {
                function.ask_for_read(&row, far, counted, turns);
            });
        }
        for row in updated {
            let far = self.far_updated(&row);
            self.in_time(far, counted, iter, |function, far, turns| {
                function.ask_for_updated(&row, far, counted, turns);
            });
        }
    }

    /// The rows that inner loops of `counted` update, by keys that can be read in any turn.
    pub(super) fn later_rows(&self, counted: &Counted<'k>) -> Vec<Access> {
        let rows = inner_loops(counted).filter_map(|inner| {
            let inside = changed_inside(inner.iter, &inner.body);
            let updated = self.updated_in_memory(inner);
            updated
                .into_iter()
                .find_map(|access| row_along(access, &inside))
        });
        rows.filter_map(|row| self.with_keys(row, counted.body))
            .collect()
    }

    /// What statements of `inner` write, where that is in memory.
    pub(super) fn updated_in_memory(&self, inner: &'k AffineFor) -> Vec<&'k Access> {
        let written = inner.body.iter().flat_map(Node::written_elements);
        let is_there = |access: &&Access| self.goes_to_memory(&[Place::Element((*access).clone())]);
        written.filter(is_there).collect()
    }

    /// The rows that inner loops of `counted` read, by no keys, another one in each turn.
    pub(super) fn read_rows(&self, counted: &Counted<'k>) -> Vec<Access> {
        let mut rows: Vec<Access> = Vec::new();
        for inner in inner_loops(counted) {
            let inside = changed_inside(inner.iter, &inner.body);
            for expr in inner.body.iter().flat_map(Node::expressions) {
                for_each_load(expr, &mut |access| {
                    let row = row_along(access, &inside);
                    let row =
                        row.filter(|row| moves_with(row, counted.iter) && self.is_proved(row));
                    let is_new = |row: &Access| rows.iter().all(|it| !it.is_at_same_place(row));
                    rows.extend(row.filter(is_new));
                });
            }
        }
        rows
    }

    /// `row` with the keys in the place of the scalars that hold them; `None` where there are none,
    /// or others.
    pub(super) fn with_keys(&self, mut row: Access, body: &[Node]) -> Option<Access> {
        let mut has_keys = false;
        for subscript in &mut row.subscripts {
            let Subscript::Computed(expr) = subscript else {
                continue;
            };
            let key = match expr {
                Expr::Local(local) => declared_in(body, *local)?,
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

    /// Asks for what the turn [`TURNS`] after the one of `iter` needs, in what `ask` does with
    /// `far` and the two turns, where that pays.
    fn in_time(
        &mut self,
        far: Option<FarRows>,
        counted: &Counted<'k>,
        iter: Value,
        ask: impl FnOnce(&mut Self, &FarRows, [Value; 2]),
    ) {
        let Some(far) = far else {
            return;
        };
        let ins = &mut self.builder;
        // All but the comparison with the end is the same in every turn, and leaves the loop.
        let never = ins.ins().iconst(types::I64, i64::MIN);
        let end = ins.ins().select(far.pays, counted.upper, never);
        let later = ins.ins().iadd_imm_s(iter, TURNS);
        let is_turn = ins.ins().icmp(IntCC::SignedLessThan, later, end);
        self.ask_where(is_turn, |function| ask(function, &far, [iter, later]));
    }

    /// As [`FunctionLowering::far_rows`], for rows that are updated.
    pub(super) fn far_updated(&mut self, row: &Access) -> Option<FarRows> {
        self.far_rows(row, UPDATED_BYTES)
    }

    /// As [`FunctionLowering::far_rows`], for rows that are read.
    pub(super) fn far_read(&mut self, row: &Access) -> Option<FarRows> {
        self.far_rows(row, READ_BYTES)
    }

    /// What asking for rows such as `row` takes, where rows are not told by fields of records.
    fn far_rows(&mut self, row: &Access, least: i64) -> Option<FarRows> {
        let array = self.arrays.get(row.array).cloned()?;
        let (Stride::Fixed(width), Some((columns, outer)), 0) = (
            array.stride,
            array.extents.split_last(),
            array.own_dimensions,
        ) else {
            return None;
        };
        let ins = &mut self.builder;
        let bytes = ins.ins().imul_imm_s(*columns, i64::from(width));
        let whole = outer
            .iter()
            .fold(bytes, |all, extent| ins.ins().imul(all, *extent));
        let far = IntCC::UnsignedGreaterThan;
        let is_far = ins.ins().icmp_imm_u(far, whole, FAR_BYTES);
        let long = IntCC::UnsignedGreaterThanOrEqual;
        let is_long = ins.ins().icmp_imm_u(long, bytes, least);
        let pays = ins.ins().band(is_far, is_long);
        Some(FarRows { array, bytes, pays })
    }

    /// Does what `ask` does where `condition` holds.
    pub(super) fn ask_where(&mut self, condition: Value, ask: impl FnOnce(&mut Self)) {
        let [asks, next] = [(); 2].map(|()| self.builder.create_block());
        self.builder.ins().brif(condition, asks, &[], next, &[]);
        self.builder.switch_to_block(asks);
        self.scoped(ask);
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    /// Asks for the row that the turn `later` reads, in the turn `now`.
    pub(super) fn ask_for_read(
        &mut self,
        row: &Access,
        far: &FarRows,
        counted: &Counted<'k>,
        [now, later]: [Value; 2],
    ) {
        let number = self.row_of_turn(row, counted, later);
        self.ask_for(number, far);
        self.iters.insert(counted.iter, now);
    }

    /// Asks for the row that the turn `later` updates, in the turn `now`, unless these are near
    /// each other.
    pub(super) fn ask_for_updated(
        &mut self,
        row: &Access,
        far: &FarRows,
        counted: &Counted<'k>,
        [now, later]: [Value; 2],
    ) {
        let [later, now] = [later, now].map(|turn| self.row_of_turn(row, counted, turn));
        let ins = &mut self.builder;
        let distance = ins.ins().isub(later, now);
        let distance = ins.ins().iadd_imm_s(distance, NEAR);
        let beyond = IntCC::UnsignedGreaterThan;
        let is_beyond = ins.ins().icmp_imm_u(beyond, distance, 2 * NEAR);
        self.ask_where(is_beyond, |function| function.ask_for(later, far));
    }

    /// The number of `row` in a turn, which the iterator has the value of from here on.
    fn row_of_turn(&mut self, row: &Access, counted: &Counted<'k>, turn: Value) -> Value {
        self.iters.insert(counted.iter, turn);
        self.scoped(|function| function.row_number(row))
    }

    /// Asks for the row `number`.
    fn ask_for(&mut self, number: Value, far: &FarRows) {
        let ins = &mut self.builder;
        let distance = ins.ins().imul(number, far.bytes);
        let first = ins.ins().iadd(far.array.address, distance);
        let first = ins.ins().iadd_imm_s(first, i64::from(far.array.offset));
        let most = ins.ins().iconst(types::I64, MOST_BYTES);
        let length = ins.ins().umin(far.bytes, most);
        self.ask_for_bytes(first, length);
    }

    /// Asks for `length` bytes from `first` on.
    pub(super) fn ask_for_bytes(&mut self, first: Value, length: Value) {
        let function = self.program.prefetch_row;
        let callee = self
            .program
            .module
            .declare_func_in_func(function, self.builder.func);
        self.builder.ins().call(callee, &[first, length]);
    }
}

pub(super) fn inner_loops<'k>(counted: &Counted<'k>) -> impl Iterator<Item = &'k AffineFor> {
    counted.body.iter().filter_map(|node| match node {
        Node::AffineFor(inner) => Some(inner),
        _ => None,
    })
}

/// The row of `access` that a loop goes along.
fn row_along(access: &Access, inside: &Changed) -> Option<Access> {
    let row = row_of(access)?;
    let is_row = row.subscripts.iter().all(|it| inside.stays(it));
    let is_along = access.subscripts.last().is_some_and(|it| !inside.stays(it));
    (is_row && is_along).then_some(row)
}
