//! Array elements: addresses and range checks.

use super::Program;
use super::convert::{clif_type, convert, extend};
use super::function::{ArrayValue, FunctionLowering, Stride};
use super::known::Width;
use crate::site::Site;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value, types};
use strew_affine::visit::Loop;
use strew_affine::{Access, AffineExpr, ArrayId, IterId, Kernel, Subscript, Type, Variable};

/// An element that is known to lie in its array.
pub(super) struct Element {
    pub(super) address: Value,
    /// Bytes from `address`.
    pub(super) displacement: i32,
    pub(super) flags: MemFlagsData,
}

/// A subscript's value as `i64`, and the type it was computed in.
pub(super) struct Index {
    value: Value,
    /// To be added to `value`; zero unless the subscript is proved, since a check looks at `value`.
    constant: i64,
    ty: Type,
    proved: bool,
}

impl Index {
    /// `value` and a constant, which was found to be in range.
    pub(super) fn in_range(value: Value, constant: i64) -> Self {
        Self {
            value,
            constant,
            ty: Type::I64,
            proved: true,
        }
    }
}

/// `displacement` and the bytes to the element that lies `constant` elements further.
fn displaced_by(displacement: i32, stride: Stride, constant: i64) -> Option<i32> {
    let distance = match stride {
        Stride::Fixed(bytes) => constant.checked_mul(i64::from(bytes))?,
        Stride::Given(_) if constant == 0 => 0,
        Stride::Given(_) => return None,
    };
    i32::try_from(distance.checked_add(i64::from(displacement))?).ok()
}

/// The type that a subscript is computed in.
fn subscript_type(subscript: &Subscript, kernel: &Kernel) -> Type {
    match subscript {
        Subscript::Affine(_) => Type::I64,
        Subscript::Computed(expr) => expr.ty(kernel),
    }
}

/// Whether `access` is to another element, or row, in each turn of the loop of `iter`.
pub(super) fn moves_with(access: &Access, iter: IterId) -> bool {
    let variable = Variable::Iter(iter);
    let mentions =
        |it: &Subscript| matches!(it, Subscript::Affine(expr) if expr.mentions(variable));
    access.subscripts.iter().any(mentions)
}

impl FunctionLowering<'_, '_, '_> {
    /// Whether every subscript of `access` was proved to be in range when the call started.
    pub(super) fn is_proved(&self, access: &Access) -> bool {
        access
            .subscripts
            .iter()
            .all(|it| self.is_proved_subscript(it))
    }

    pub(super) fn is_proved_subscript(&self, subscript: &Subscript) -> bool {
        self.program.checks.is_proved(subscript, &self.loops)
    }

    /// Whether a computed subscript of `access` needs no check, whatever the arrays hold.
    pub(super) fn stays_in(&self, access: &Access, dimension: usize) -> bool {
        let Some(Subscript::Computed(expr)) = access.subscripts.get(dimension) else {
            return false;
        };
        let Program { kernel, facts, .. } = &*self.program;
        let code = (self.program.checks, self.program.oob);
        (facts.stays()).is_in(kernel, code, (access.array, dimension), expr)
    }

    /// Whether `access` is to an element that is there even where nothing around it runs.
    fn stays_anywhere(&self, access: &Access) -> bool {
        let Program { kernel, facts, .. } = &*self.program;
        let mut subscripts = access.subscripts.iter().enumerate();
        subscripts.all(|(dimension, it)| match it {
            Subscript::Affine(_) => self.is_proved_subscript(it),
            Subscript::Computed(_) => {
                let place = (access.array, dimension);
                self.stays_in(access, dimension) && facts.stays().has_element(kernel, place)
            }
        })
    }

    pub(super) fn load(&mut self, access: &Access) -> Value {
        if let Some(element) = self.promoted_element(access) {
            return self.builder.use_var(element);
        }
        let ty = self.program.kernel.arrays[access.array].element;
        match self.known_element(access) {
            Some((value, Width::Own)) => return value,
            Some((wide, Width::Extended)) => {
                return convert(&mut self.builder, wide, Type::I64, ty);
            }
            None => {}
        }
        let element = self.element_to_read(access);
        let value = self.read_element(ty, &element);
        self.keep_element(access, value, Width::Own);
        value
    }

    /// The value that `element`, of type `ty`, holds. Any byte but zero is a `bool` that is true.
    pub(super) fn read_element(&mut self, ty: Type, element: &Element) -> Value {
        let held = self.builder.ins().load(
            clif_type(ty),
            element.flags,
            element.address,
            element.displacement,
        );
        if ty == Type::Bool {
            self.builder.ins().icmp_imm_s(IntCC::NotEqual, held, 0)
        } else {
            held
        }
    }

    /// An integer element, sign- or zero-extended to 64 bits by the load itself.
    pub(super) fn load_extended(&mut self, access: &Access) -> Value {
        if let Some(element) = self.promoted_element(access) {
            return self.extended_element(access, element);
        }
        let ty = self.program.kernel.arrays[access.array].element;
        match self.known_element(access) {
            Some((wide, Width::Extended)) => return wide,
            Some((value, Width::Own)) => return extend(&mut self.builder, value, ty),
            None => {}
        }
        let element = self.element_to_read(access);
        let wide = self.read_extended(ty, &element);
        self.keep_element(access, wide, Width::Extended);
        wide
    }

    /// Element `index`, which is in range, of the array of `access`, which has one dimension;
    /// extended as well.
    pub(super) fn read_at(&mut self, access: &Access, index: Value) -> Value {
        let Some(array) = self.arrays.get(access.array).cloned() else {
            return index;
        };
        let (address, displacement) = self.address(&array, &[Index::in_range(index, 0)]);
        let element = Element {
            address,
            displacement,
            flags: MemFlagsData::trusted().with_alias_region(Some(array.region)),
        };
        let ty = self.program.kernel.arrays[access.array].element;
        self.read_extended(ty, &element)
    }

    pub(super) fn read_extended(&mut self, ty: Type, element: &Element) -> Value {
        let (flags, address, at) = (element.flags, element.address, element.displacement);
        let ins = self.builder.ins();
        match (ty.bytes(), ty.is_signed()) {
            (1, true) => ins.sload8(types::I64, flags, address, at),
            (1, false) => ins.uload8(types::I64, flags, address, at),
            (2, true) => ins.sload16(types::I64, flags, address, at),
            (2, false) => ins.uload16(types::I64, flags, address, at),
            (4, true) => ins.sload32(flags, address, at),
            (4, false) => ins.uload32(flags, address, at),
            _ => ins.load(types::I64, flags, address, at),
        }
    }

    /// The number of the element of `access`, which stands in `loops`, if that is computed instead
    /// of its subscripts.
    pub(super) fn as_one_index(&self, access: &Access, loops: &[Loop<'_>]) -> Option<AffineExpr> {
        let array = self.arrays.get(access.array)?;
        let mut subscripts = access.subscripts.iter();
        let follow = array.own_dimensions == 0
            && subscripts.all(|it| self.program.checks.is_proved(it, loops));
        let number = || access.in_fewer_divisions(self.program.kernel, loops);
        follow.then(number).flatten()
    }

    /// Evaluates all subscripts and checks those that are not proved. No array in a verified kernel
    /// is unknown, since it uses a private buffer only inside its forall.
    ///
    /// Subscripts that are linear again as the number of the element, as those of a collapsed array
    /// are, come as that one index.
    fn checked(&mut self, access: &Access) -> Option<(ArrayValue, Vec<Index>)> {
        let array = self.arrays.get(access.array).cloned()?;
        if let Some(number) = self.as_one_index(access, &self.loops) {
            return Some((array, vec![self.proved_index(&number)]));
        }
        let declared = &self.program.kernel.arrays[access.array].extents;
        let dimensions = declared.iter().zip(&array.extents);
        let stays = (0..access.subscripts.len()).map(|it| self.stays_in(access, it));
        let stays: Vec<_> = stays.collect();
        let dimensions: Vec<_> = access.subscripts.iter().zip(dimensions).collect();
        let indices = dimensions.iter().zip(&stays);
        let indices = indices.map(|((subscript, (bound, extent)), stays)| {
            let together = match stays {
                true => None,
                false => self.checked_together(subscript, bound, **extent),
            };
            together.unwrap_or_else(|| self.index(access, subscript))
        });
        let indices: Vec<_> = indices.collect();
        for (((subscript, (bound, extent)), index), stays) in
            dimensions.into_iter().zip(&indices).zip(stays)
        {
            let is_in_range = stays
                || index.proved
                || self.is_known_in_range(index.value, bound)
                || self.is_said_in_range(subscript, bound);
            if !is_in_range {
                self.check(access, index, *extent);
                self.keep_in_range(index.value, bound);
            }
        }
        Some((array, indices))
    }

    /// Checks that an element is in range.
    pub(super) fn check_access(&mut self, access: &Access) {
        if self.promoted_element(access).is_none() {
            self.checked(access);
        }
    }

    /// The values of all subscripts, which need not be in range.
    pub(super) fn subscript_values(&mut self, access: &Access) -> Vec<Value> {
        let subscripts = access.subscripts.iter();
        let values = subscripts.map(|it| self.subscript_value(access, it));
        values.collect()
    }

    /// The value of one of its subscripts, which need not be in range.
    pub(super) fn subscript_value(&mut self, access: &Access, subscript: &Subscript) -> Value {
        let index = self.index(access, subscript);
        match index.constant {
            // What is known of a value is known of that alone.
            0 => index.value,
            constant => self.builder.ins().iadd_imm_s(index.value, constant),
        }
    }

    /// The number of an element that is in range, row by row.
    pub(super) fn element_number(&mut self, access: &Access) -> Value {
        let Some((array, indices)) = self.checked(access) else {
            return self.builder.ins().iconst(types::I64, 0);
        };
        let start = self.builder.ins().iconst(types::I64, 0);
        let one = Stride::Fixed(1);
        let (number, displacement) = self.further((start, 0), &indices, &array.extents, one);
        self.builder
            .ins()
            .iadd_imm_s(number, i64::from(displacement))
    }

    /// The address of an element that is in range.
    pub(super) fn element(&mut self, access: &Access) -> Element {
        let Some((array, indices)) = self.checked(access) else {
            let address = self.builder.ins().iconst(types::I64, 0);
            return Element {
                address,
                displacement: 0,
                flags: MemFlagsData::trusted(),
            };
        };
        let (address, displacement) = self.address(&array, &indices);
        let mut flags = MemFlagsData::trusted().with_alias_region(Some(array.region));
        if self.is_movable(access) {
            flags = flags.with_readonly().with_can_move();
        }
        Element {
            address,
            displacement,
            flags,
        }
    }

    /// An element that is in range where it `holds`, and that nobody may touch where it does not.
    pub(super) fn element_where(&mut self, access: &Access, holds: Value) -> Option<Element> {
        let array = self.arrays.get(access.array).cloned()?;
        let subscripts = access.subscripts.iter();
        let indices: Vec<_> = subscripts.map(|it| self.index(access, it)).collect();
        for (index, extent) in indices.iter().zip(&array.extents) {
            if !index.proved {
                self.check_where(holds, access, (index, *extent));
            }
        }
        Some(Element {
            address: self.sum_of_address(&array, &indices),
            displacement: 0,
            flags: MemFlagsData::trusted().with_alias_region(Some(array.region)),
        })
    }

    /// A fault where an index is out of range and it `holds`. That it is out of range is as good as
    /// never, so what is asked first is foretold.
    fn check_where(&mut self, holds: Value, access: &Access, (index, extent): (&Index, Value)) {
        let [beyond, within] = [(); 2].map(|()| self.builder.create_block());
        let is_beyond = IntCC::UnsignedGreaterThanOrEqual;
        let is_beyond = self.builder.ins().icmp(is_beyond, index.value, extent);
        let ins = self.builder.ins();
        ins.brif(is_beyond, beyond, &[], within, &[]);
        self.builder.switch_to_block(beyond);
        self.builder.set_cold_block(beyond);
        let site = Site::out_of_range(access, index.ty, &self.enclosing_counters());
        self.fault_if(holds, site, Some((index.value, extent)));
        self.builder.ins().jump(within, &[]);
        self.builder.switch_to_block(within);
    }

    /// The address of an element that need not be in range; `None` for an array without memory.
    pub(super) fn address_unchecked(&mut self, access: &Access) -> Option<Value> {
        let array = self.arrays.get(access.array).cloned()?;
        let subscripts = access.subscripts.iter();
        let indices: Vec<_> = subscripts.map(|it| self.index(access, it)).collect();
        Some(self.sum_of_address(&array, &indices))
    }

    /// The address of the first element at `index` of the outermost dimension, which need not be in
    /// range.
    pub(super) fn address_at(&mut self, array: ArrayId, index: Value) -> Option<Value> {
        let array = self.arrays.get(array).cloned()?;
        let zero = self.builder.ins().iconst(types::I64, 0);
        let inner = array.extents.iter().skip(1).map(|_| zero);
        let indices = std::iter::once(index).chain(inner);
        let indices: Vec<_> = indices.map(|it| Index::in_range(it, 0)).collect();
        Some(self.sum_of_address(&array, &indices))
    }

    fn sum_of_address(&mut self, array: &ArrayValue, indices: &[Index]) -> Value {
        let (address, displacement) = self.address(array, indices);
        let ins = self.builder.ins();
        ins.iadd_imm_s(address, i64::from(displacement))
    }

    /// The address by Horner's rule over the extents, those inside of a record apart; what is
    /// constant becomes a displacement, which costs nothing.
    fn address(&mut self, array: &ArrayValue, indices: &[Index]) -> (Value, i32) {
        let records = indices.len().saturating_sub(array.own_dimensions);
        let (outer, own) = indices.split_at(records);
        let (extents, own_extents) = array.extents.split_at(records.min(array.extents.len()));
        let start = match i32::try_from(array.offset) {
            Ok(offset) => (array.address, offset),
            Err(_) => {
                let offset = i64::from(array.offset);
                (self.builder.ins().iadd_imm_s(array.address, offset), 0)
            }
        };
        let record = self.further(start, outer, extents, array.stride);
        let stride = Stride::Fixed(array.element_bytes);
        self.further(record, own, own_extents, stride)
    }

    /// The address of the element at `indices` of what begins at the first one.
    fn further(
        &mut self,
        (address, displacement): (Value, i32),
        indices: &[Index],
        extents: &[Value],
        stride: Stride,
    ) -> (Value, i32) {
        let Some((last, outer)) = indices.split_last() else {
            return (address, displacement);
        };
        let mut row = None;
        for (index, extent) in outer.iter().zip(extents.iter().skip(1)) {
            let position = self.add_to(row, index.value);
            let number = self.builder.ins().imul(position, *extent);
            // The rows next to this one are at the same distance in every turn.
            let distance = self.builder.ins().imul_imm_s(*extent, index.constant);
            row = Some(self.builder.ins().iadd(number, distance));
        }
        let index = self.add_to(row, last.value);
        if let Some(displacement) = displaced_by(displacement, stride, last.constant) {
            return (self.displaced(address, stride, index), displacement);
        }
        let index = self.builder.ins().iadd_imm_s(index, last.constant);
        (self.displaced(address, stride, index), displacement)
    }

    fn add_to(&mut self, row: Option<Value>, index: Value) -> Value {
        match row {
            Some(row) => self.builder.ins().iadd(row, index),
            None => index,
        }
    }

    fn displaced(&mut self, address: Value, stride: Stride, index: Value) -> Value {
        let ins = self.builder.ins();
        let distance = match stride {
            Stride::Fixed(bytes) if bytes.is_power_of_two() => {
                ins.ishl_imm_u(index, i64::from(bytes.trailing_zeros()))
            }
            Stride::Fixed(bytes) => ins.imul_imm_s(index, i64::from(bytes)),
            Stride::Given(bytes) => ins.imul(index, bytes),
        };
        self.builder.ins().iadd(address, distance)
    }

    /// A load that nothing writes over and that cannot fault may be moved, which keeps it next to
    /// its use. One behind a check or a condition, from which it may follow that it is in range,
    /// may not: it would be hoisted out of loops above that. It stays behind all conditions where
    /// it is another element in each turn of a loop that does. In such a loop it stays where it is
    /// if it must not come between others.
    pub(super) fn is_movable(&self, access: &Access) -> bool {
        let mut turning = self.turning.iter();
        let stays_behind = self.conditions == 0
            || turning.any(|(iter, conditions)| {
                *conditions == self.conditions && moves_with(access, *iter)
            });
        let turning = self.turning.last();
        let is_in_place = self.loads_in_place && turning.is_some_and(|it| moves_with(access, it.0));
        let is_read_only = self.program.facts.is_read_only(access.array);
        let goes_far =
            self.is_preparing && !self.loops.iter().any(|it| moves_with(access, it.iter()));
        is_read_only && stays_behind && !is_in_place && !goes_far && self.stays_anywhere(access)
    }

    fn index(&mut self, access: &Access, subscript: &Subscript) -> Index {
        let proved = self.is_proved_subscript(subscript);
        if !proved && let Some(value) = self.known_index(subscript) {
            return Index {
                value,
                constant: 0,
                ty: subscript_type(subscript, self.program.kernel),
                proved,
            };
        }
        let index = self.new_index(access, subscript, proved);
        if !proved {
            self.keep_index(subscript, index.value);
        }
        index
    }

    fn new_index(&mut self, access: &Access, subscript: &Subscript, proved: bool) -> Index {
        let ty = subscript_type(subscript, self.program.kernel);
        match subscript {
            Subscript::Affine(expr) if proved => self.proved_index(expr),
            Subscript::Affine(expr) => Index {
                value: self.affine(expr, Some(access)),
                constant: 0,
                ty,
                proved,
            },
            Subscript::Computed(expr) => Index {
                value: self.extended(expr),
                constant: 0,
                ty,
                proved,
            },
        }
    }

    fn proved_index(&mut self, expr: &AffineExpr) -> Index {
        let (value, constant) = self.terms_and_constant(expr);
        Index::in_range(value, constant)
    }

    /// As unsigned numbers, negative indices are beyond every extent, and so are those above the
    /// largest `i64`.
    fn check(&mut self, access: &Access, index: &Index, extent: Value) {
        let value = index.value;
        let outside = self
            .builder
            .ins()
            .icmp(IntCC::UnsignedGreaterThanOrEqual, value, extent);
        if !self.skip_if(outside) {
            let site = Site::out_of_range(access, index.ty, &self.enclosing_counters());
            self.fault_if(outside, site, Some((value, extent)));
        }
    }
}
