//! Bodies that make updates and combine them into nothing: each is put into the line of the range
//! that its element belongs to.

use super::body::constants;
use super::function::{FunctionLowering, offset};
use super::staged::Staged;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use std::mem::offset_of;
use strew_affine::{ArrayId, Expr, Forall, Place, Private};
use strew_runtime::abi::{LINE, Lines};

/// How it is known which range an update belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ranges {
    /// By its key.
    ByKey,
    /// Somebody has listed the ranges of all updates.
    Listed,
}

/// Lines while their function runs.
#[derive(Clone, Debug)]
pub(super) struct LinesValue {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    address: Value,
    places: Value,
    /// For each buffer the address of its values and their bytes; `None` if they are not asked for.
    columns: Vec<Option<(Value, u32)>>,
    range: RangeOf,
}

/// Where the range of an update comes from.
#[derive(Clone, Copy, Debug)]
enum RangeOf {
    Key {
        keys: Value,
        shift: Value,
    },
    /// The address of the next one.
    Listed(Variable),
    /// Whoever puts the values knows it.
    Staged(Staged),
}

impl LinesValue {
    pub(super) fn address(&self) -> Value {
        self.address
    }

    /// Where values wait, if they do.
    pub(super) fn staged(&self) -> Option<Staged> {
        match self.range {
            RangeOf::Staged(staged) => Some(staged),
            RangeOf::Key { .. } | RangeOf::Listed(_) => None,
        }
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes the lines at `address` known as those for `private`, whose buffers have no memory.
    pub(super) fn bind_lines(
        &mut self,
        (forall, private): (&Forall, &Private),
        address: Value,
        ranges: Ranges,
    ) {
        let Some(buffer) = self.bind_to_nothing(private) else {
            return;
        };
        let places = self.field(address, offset_of!(Lines, places));
        let values = self.field(address, offset_of!(Lines, values));
        let range = match ranges {
            Ranges::ByKey => RangeOf::Key {
                keys: self.field(address, offset_of!(Lines, keys)),
                shift: self.field(address, offset_of!(Lines, shift)),
            },
            Ranges::Listed => match self.begin_staged(forall, private) {
                Some(staged) => RangeOf::Staged(staged),
                None => RangeOf::Listed(self.listed_ranges(address)),
            },
        };
        let is_left_out = match ranges {
            Ranges::ByKey => constants(forall, private),
            Ranges::Listed => vec![None; private.buffers.len()],
        };
        let columns = self.columns(private, values).into_iter();
        let columns = columns.zip(is_left_out);
        let columns = columns.map(|(column, constant)| constant.is_none().then_some(column));
        let columns = columns.collect();
        self.lines.push(LinesValue {
            buffer,
            address,
            places,
            columns,
            range,
        });
    }

    /// What walks along the ranges of the updates.
    fn listed_ranges(&mut self, address: Value) -> Variable {
        let next = self.builder.declare_var(types::I64);
        let first = self.field(address, offset_of!(Lines, ranges));
        self.builder.def_var(next, first);
        next
    }

    /// For each buffer of `private` the address of its values, from the table `values`, and the
    /// bytes of one.
    fn columns(&mut self, private: &Private, values: Value) -> Vec<(Value, u32)> {
        let widths = private.types(self.program.kernel).into_iter();
        let columns = widths.enumerate().map(|(part, ty)| {
            let column = self.field(values, part * size_of::<u64>());
            (column, ty.bytes())
        });
        columns.collect()
    }

    /// The lines for updates of `places`, if they are private buffers that have some.
    pub(super) fn lines_of(&self, places: &[Place]) -> Option<LinesValue> {
        let Some(Place::Element(access)) = places.first() else {
            return None;
        };
        let mut lines = self.lines.iter();
        lines.find(|it| it.buffer == access.array).cloned()
    }

    /// Puts an update into its line. All `places` are at one element, but each is checked against
    /// its own extents.
    pub(super) fn put(&mut self, lines: &LinesValue, places: &'k [Place], values: &'k [Expr]) {
        let values: Vec<_> = values.iter().map(|value| self.expr(value)).collect();
        let flags = MemFlagsData::trusted();
        let (range, key) = match lines.range {
            RangeOf::Key { keys, shift } => {
                let Some(number) = self.key(places) else {
                    return;
                };
                if let Some(marks) = self.marks_of(lines.buffer) {
                    self.leave_if_number_is_marked(&marks, number);
                }
                (self.builder.ins().ushr(number, shift), Some((keys, number)))
            }
            RangeOf::Listed(next) => (self.next_range(next), None),
            RangeOf::Staged(staged) => {
                for value in values {
                    self.stage_one(lines, &staged, value);
                }
                return;
            }
        };
        let of_range = self.behind(lines.places, range, size_of::<u32>() as u32);
        let place = self.builder.ins().uload32(flags, of_range, 0);
        if let Some((keys, number)) = key {
            let at = self.behind(keys, place, size_of::<u16>() as u32);
            self.builder.ins().istore16(flags, number, at, 0);
        }
        let columns = lines.columns.iter().zip(values);
        for ((column, bytes), value) in columns.filter_map(|(it, value)| it.zip(Some(value))) {
            let at = self.behind(column, place, bytes);
            self.builder.ins().store(flags, value, at, 0);
        }
        let next = self.builder.ins().iadd_imm_s(place, 1);
        self.builder.ins().istore32(flags, next, of_range, 0);
        self.hand_over_if_end(lines, range, next);
    }

    /// The range at the address `next`, which moves on.
    fn next_range(&mut self, next: Variable) -> Value {
        let at = self.builder.use_var(next);
        let flags = MemFlagsData::trusted();
        let range = self.builder.ins().uload16(types::I64, flags, at, 0);
        let behind = self.builder.ins().iadd_imm_s(at, size_of::<u16>() as i64);
        self.builder.def_var(next, behind);
        range
    }

    /// Has the line of `range` emptied if `next` is a place behind its end.
    fn hand_over_if_end(&mut self, lines: &LinesValue, range: Value, next: Value) {
        let full = self.builder.create_block();
        let go_on = self.builder.create_block();
        let within = self.builder.ins().band_imm_s(next, i64::from(LINE) - 1);
        self.builder.ins().brif(within, go_on, &[], full, &[]);
        self.builder.set_cold_block(full);
        self.builder.switch_to_block(full);
        let arguments = [self.call, lines.address, range];
        self.call_or_leave(self.program.empty_line, &arguments);
        self.builder.ins().jump(go_on, &[]);
        self.builder.switch_to_block(go_on);
    }

    /// Leaves the address of the next range where the next part of the body finds it, and no value
    /// out of its line.
    pub(super) fn leave_lines(&mut self) {
        for lines in self.lines.clone() {
            match lines.range {
                RangeOf::Key { .. } => {}
                RangeOf::Listed(next) => {
                    let next = self.builder.use_var(next);
                    let flags = MemFlagsData::trusted();
                    let at = offset(offset_of!(Lines, ranges));
                    self.builder.ins().store(flags, next, lines.address, at);
                }
                RangeOf::Staged(staged) => self.put_staged(&lines, &staged),
            }
        }
    }
}
