//! Bodies that update some elements of their private buffers, and leave the others to somebody
//! else.

use super::function::FunctionLowering;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use cranelift_frontend::Variable;
use std::ops::Range;
use strew_affine::{Access, ArrayId, Forall, Place, Private};
use strew_runtime::abi::Status;

/// The elements of a buffer that are updated.
#[derive(Clone, Debug)]
pub(super) struct Within {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    elements: Range<Value>,
    /// One bit for each of the buffers that are merged together of which an update went beyond.
    beyond: Variable,
    bit: i64,
    /// Not zero if all updates behind one that went beyond do so, too.
    ends: Value,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// The numbers of elements stand behind the addresses and the distances, and behind them
    /// whether the body may end.
    pub(super) fn bind_within(&mut self, forall: &'k Forall, privates: Value) {
        self.bind_buffers(forall, privates);
        let buffers = forall.buffers().count();
        let mut position = 2 * buffers;
        let elements = forall.privates.iter().map(|private| {
            let first = self.read(types::I64, privates, position);
            let end = self.read(types::I64, privates, position + buffers);
            position += private.buffers.len();
            first..end
        });
        let elements = elements.collect();
        let ends = self.read(types::I64, privates, 4 * buffers);
        self.keep_within(&forall.privates, elements, ends);
    }

    /// Leaves out updates of all but these elements of the buffers of each of `privates`, which
    /// follow each other; ends where updates of all of them went beyond, if `ends` is not zero.
    fn keep_within(&mut self, privates: &[Private], elements: Vec<Range<Value>>, ends: Value) {
        let beyond = self.builder.declare_var(types::I64);
        let nowhere = self.builder.ins().iconst(types::I64, 0);
        self.builder.def_var(beyond, nowhere);
        for (position, (private, elements)) in privates.iter().zip(elements).enumerate() {
            let buffer = private.buffers.first().copied();
            self.within.extend(buffer.map(|buffer| {
                Within {
                    buffer,
                    elements,
                    beyond,
                    // More than there are bits have none, and never end.
                    bit: u32::try_from(position)
                        .ok()
                        .and_then(|it| 1_i64.checked_shl(it))
                        .unwrap_or(0),
                    ends,
                }
            }));
        }
    }

    /// Which elements of the buffers that `places` lie in are updated, if not all.
    pub(super) fn within_of<'p>(&self, places: &'p [Place]) -> Option<(&Within, &'p Access)> {
        let Some(Place::Element(access)) = places.first() else {
            return None;
        };
        let mut within = self.within.iter();
        let within = within.find(|it| it.buffer == access.array);
        within.map(|it| (it, access))
    }

    /// Goes on where `places` are to be updated, and says where to go behind the update, if not all
    /// elements are.
    pub(super) fn within(&mut self, places: &[Place]) -> Option<Block> {
        let (within, access) = self.within_of(places)?;
        let within = within.clone();
        let [inside, outside, next] = [(); 3].map(|()| self.builder.create_block());
        let number = self.element_number(access);
        let Range { start, end } = within.elements;
        let from_start = self.builder.ins().isub(number, start);
        let elements = self.builder.ins().isub(end, start);
        let below = IntCC::UnsignedLessThan;
        let is_inside = self.builder.ins().icmp(below, from_start, elements);
        self.builder
            .ins()
            .brif(is_inside, inside, &[], outside, &[]);
        self.builder.set_cold_block(outside);
        self.builder.switch_to_block(outside);
        let is_below = self.builder.ins().icmp(below, number, end);
        let past = self.builder.create_block();
        self.builder.ins().brif(is_below, next, &[], past, &[]);
        self.builder.set_cold_block(past);
        self.builder.switch_to_block(past);
        self.go_beyond(&within, next);
        self.builder.switch_to_block(inside);
        Some(next)
    }

    /// Ends if updates of all buffers went beyond, else goes on in `next`.
    fn go_beyond(&mut self, within: &Within, next: Block) {
        let all = self
            .within
            .iter()
            .map(|it| it.bit)
            .fold(0, |all, bit| all | bit);
        let before = self.builder.use_var(within.beyond);
        let beyond = self.builder.ins().bor_imm_s(before, within.bit);
        self.builder.def_var(within.beyond, beyond);
        let can_end = self.within.iter().all(|it| it.bit != 0);
        if !can_end {
            self.builder.ins().jump(next, &[]);
            return;
        }
        let end = self.builder.create_block();
        let are_all = self.builder.ins().icmp_imm_s(IntCC::Equal, beyond, all);
        let ends = self
            .builder
            .ins()
            .icmp_imm_s(IntCC::NotEqual, within.ends, 0);
        let is_end = self.builder.ins().band(are_all, ends);
        self.builder.ins().brif(is_end, end, &[], next, &[]);
        self.builder.set_cold_block(end);
        self.builder.switch_to_block(end);
        self.end_runs();
        self.return_status(Status::Done);
    }
}
