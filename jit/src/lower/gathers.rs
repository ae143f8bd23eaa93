//! Elements that updates of a later turn are computed from, asked for in time.
//!
//! `out[key[i]] += x[key[i]]` waits for `x[key[i]]`. Where updates are made at once processors get
//! to the next turns by themselves; putting them into lines takes so many instructions that they
//! see few turns ahead.

use super::ahead::changed_inside;
use super::function::{ArrayValue, FunctionLowering};
use super::loops::Counted;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::interpret::Oob;
use strew_affine::visit::{Loop, for_each_load_of, walk};
use strew_affine::{Access, ArrayId, Subscript};

/// So many iterations of the loop as it was written ahead.
const ITERATIONS: i64 = 16;

/// Smaller arrays are near.
pub(super) const FAR_BYTES: i64 = 1 << 20;

/// In more places a turn reads what processors have no room to wait for at once.
const MOST_PLACES: usize = 12;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Asks for what a later turn than that of `iter` reads by keys, in bodies that put updates
    /// into lines.
    pub(super) fn prefetch_gathered(&mut self, counted: &Counted<'k>, iter: Value) {
        let may = !self.lines.is_empty() && self.program.oob == Oob::Error;
        if !may || !matches!(counted.around, Loop::Affine(_)) {
            return;
        }
        let gathered = self.gathered(counted);
        let arrays = gathered.iter().map(|it| it.array);
        let Some(pays) = self.any_is_far(arrays) else {
            return;
        };
        let ahead = counted
            .step
            .saturating_mul((ITERATIONS / counted.step).max(1));
        let ins = &mut self.builder;
        // All but the comparison with the end is the same in every turn, and leaves the loop.
        let distance = ins.ins().iconst(types::I64, ahead);
        let never = ins.ins().iconst(types::I64, -1);
        let least = ins.ins().select(pays, distance, never);
        let left = ins.ins().isub(counted.upper, iter);
        let is_turn = ins.ins().icmp(IntCC::UnsignedGreaterThan, left, least);
        let later = ins.ins().iadd_imm_s(iter, ahead);
        self.ask_where(is_turn, |function| {
            function.iters.insert(counted.iter, later);
            function.scoped(|function| gathered.iter().for_each(|it| function.ask_for_element(it)));
        });
        self.iters.insert(counted.iter, iter);
    }

    /// The places that a turn of `counted` reads by keys, as far as these can be read in any turn,
    /// and are the same in loops inside of it.
    fn gathered(&self, counted: &Counted<'k>) -> Vec<Access> {
        let inner = counted.body.iter().filter_map(Loop::of);
        let inner: Vec<_> = inner
            .map(|it| changed_inside(it.iter(), it.body()))
            .collect();
        let stays = |it: &Subscript| inner.iter().all(|inside| inside.stays(it));
        let mut found: Vec<Access> = Vec::new();
        walk(counted.body, &mut |node, _| {
            for_each_load_of(node, &mut |access| {
                let place = self.with_keys(access.clone(), counted.body);
                let place = place.filter(|it| it.subscripts.iter().all(stays));
                let is_new = |place: &Access| found.iter().all(|it| !is_next_to(it, place));
                found.extend(place.filter(is_new));
            });
        });
        found.truncate(MOST_PLACES);
        found
    }

    /// Whether one of the arrays is far from the processor; `None` where there are none.
    pub(super) fn any_is_far(&mut self, arrays: impl Iterator<Item = ArrayId>) -> Option<Value> {
        let arrays = arrays.filter_map(|it| self.arrays.get(it));
        let arrays: Vec<_> = arrays.cloned().collect();
        let far: Vec<_> = arrays.iter().map(|it| self.is_far(it)).collect();
        let far = far.into_iter();
        far.reduce(|one, other| self.builder.ins().bor(one, other))
    }

    pub(super) fn is_far(&mut self, array: &ArrayValue) -> Value {
        let bytes = self.stride_value(array.stride);
        let ins = &mut self.builder;
        let whole = array
            .extents
            .iter()
            .fold(bytes, |all, extent| ins.ins().imul(all, *extent));
        ins.ins()
            .icmp_imm_u(IntCC::UnsignedGreaterThan, whole, FAR_BYTES)
    }

    pub(super) fn ask_for_element(&mut self, place: &Access) {
        let Some(address) = self.address_unchecked(place) else {
            return;
        };
        self.ask_for_line(address);
    }

    /// Asks for the line that `address` is in.
    pub(super) fn ask_for_line(&mut self, address: Value) {
        let one = self.builder.ins().iconst(types::I64, 1);
        self.ask_for_bytes(address, one);
    }
}

/// Whether both are of one array, by the same keys: they lie within a few elements of each other.
fn is_next_to(one: &Access, other: &Access) -> bool {
    let mut subscripts = one.subscripts.iter().zip(&other.subscripts);
    let is_same = |(one, other): (&Subscript, &Subscript)| match (one, other) {
        (Subscript::Affine(_), Subscript::Affine(_)) => true,
        _ => one.is_same(other),
    };
    one.array == other.array && subscripts.all(is_same)
}
