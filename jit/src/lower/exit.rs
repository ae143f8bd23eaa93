//! Ways out of a function before its end: faults, and requests to stop. All of them lie off the hot
//! path.

use super::convert::convert;
use super::function::{FunctionLowering, offset};
use crate::compiled::Faults;
use crate::site::Site;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, MemFlagsData, Value, types};
use std::collections::HashMap;
use std::mem::offset_of;
use strew_affine::{Counter, Type};
use strew_runtime::abi::{Call, FaultRecord, MAX_DEPTH, Status};

/// The blocks that leave a function. They are shared: together they are a large part of the code of
/// a small loop.
#[derive(Default)]
pub(super) struct Exits {
    /// Those that only return a status.
    plain: Vec<(Status, Block)>,
    /// Those that write a fault record, one for each turn of the loops around, outermost first: a
    /// loop that is made in several ways, or several of whose turns are made together, has several.
    faults: HashMap<Vec<(Value, Type)>, Block>,
}

impl FunctionLowering<'_, '_, '_> {
    pub(super) fn return_status(&mut self, status: Status) {
        let status = self.builder.ins().iconst(types::I32, status as i64);
        self.builder.ins().return_(&[status]);
    }

    /// Goes on only when `condition` does not hold; else leaves through a block of its own, which
    /// `leave` fills.
    pub(super) fn leave_if(&mut self, condition: Value, leave: impl FnOnce(&mut Self)) {
        let cold = self.builder.create_block();
        let next = self.builder.create_block();
        self.builder.set_cold_block(cold);
        self.builder.ins().brif(condition, cold, &[], next, &[]);
        self.builder.switch_to_block(cold);
        leave(self);
        self.go_on_in(next);
    }

    /// Goes on in `block`, which is jumped to from one place alone: variables are there what they
    /// are at that place.
    pub(super) fn go_on_in(&mut self, block: Block) {
        self.builder.switch_to_block(block);
        self.builder.seal_block(block);
    }

    /// The same, with nothing to do but to return `status`.
    pub(super) fn leave_with(&mut self, condition: Value, status: Status) {
        let next = self.builder.create_block();
        let mut exits = self.exits.plain.iter();
        let known = exits.find(|(returned, _)| *returned == status);
        if let Some((_, exit)) = known {
            self.builder.ins().brif(condition, *exit, &[], next, &[]);
        } else {
            let exit = self.builder.create_block();
            self.exits.plain.push((status, exit));
            self.builder.ins().brif(condition, exit, &[], next, &[]);
            self.builder.set_cold_block(exit);
            self.builder.switch_to_block(exit);
            self.return_status(status);
        }
        self.go_on_in(next);
    }

    /// Leaves when somebody asked the call to stop.
    pub(super) fn poll_stop(&mut self) {
        let flags = MemFlagsData::trusted();
        let asked = self.builder.ins().load(types::I32, flags, self.stop, 0);
        self.leave_with(asked, Status::Stopped);
    }

    /// Leaves with a fault at `site` when `condition` holds; of an index out of range, with the
    /// index and the extent.
    pub(super) fn fault_if(
        &mut self,
        condition: Value,
        site: Site,
        index_and_extent: Option<(Value, Value)>,
    ) {
        match self.program.faults {
            Faults::Bare => self.leave_with(condition, Status::Fault),
            Faults::Located => self.leave_if(condition, |function| {
                function.fault(site, index_and_extent);
            }),
        }
    }

    /// What a counter of a loop around holds, and its type.
    fn counter(&mut self, counter: Counter) -> (Value, Type) {
        match counter {
            Counter::Iter(iter) => (self.iter(iter), Type::I64),
            Counter::Local(local) => (self.local(local), self.program.kernel.locals[local].ty),
        }
    }

    fn fault(&mut self, mut site: Site, index_and_extent: Option<(Value, Value)>) {
        site.counters.truncate(MAX_DEPTH);
        let turn: Vec<_> = site.counters.iter().map(|it| self.counter(*it)).collect();
        let known = self.exits.faults.get(&turn).copied();
        let exit = known.unwrap_or_else(|| self.builder.create_block());
        let number = self.program.sites.len();
        let number = self.builder.ins().iconst(types::I32, number as i64);
        let (index, extent) = index_and_extent.unwrap_or_else(|| {
            let nothing = self.builder.ins().iconst(types::I64, 0);
            (nothing, nothing)
        });
        let arguments = [number, index, extent].map(BlockArg::Value);
        self.builder.ins().jump(exit, &arguments);
        if known.is_none() {
            self.fault_exit(exit, &turn);
            self.exits.faults.insert(turn, exit);
        }
        self.program.sites.push(site);
    }

    /// The block that writes the fault record with these values of what counts the loops around.
    /// They dominate it, since every way to it comes from inside of that turn.
    fn fault_exit(&mut self, exit: Block, turn: &[(Value, Type)]) {
        self.builder.set_cold_block(exit);
        self.builder.switch_to_block(exit);
        let fields = [
            (types::I32, offset_of!(FaultRecord, site)),
            (types::I64, offset_of!(FaultRecord, index)),
            (types::I64, offset_of!(FaultRecord, extent)),
        ];
        let values = fields.map(|(ty, _)| self.builder.append_block_param(exit, ty));
        for ((_, field), value) in fields.into_iter().zip(values) {
            self.record(field, value);
        }
        let depth = self.builder.ins().iconst(types::I32, turn.len() as i64);
        self.record(offset_of!(FaultRecord, depth), depth);
        for (position, (value, ty)) in turn.iter().enumerate() {
            let at = offset_of!(FaultRecord, iteration) + position * size_of::<i64>();
            let value = convert(&mut self.builder, *value, *ty, Type::I64);
            self.record(at, value);
        }
        self.return_status(Status::Fault);
    }

    fn record(&mut self, field: usize, value: Value) {
        let at = offset(offset_of!(Call, fault) + field);
        let flags = MemFlagsData::trusted();
        self.builder.ins().store(flags, value, self.call, at);
    }
}
