//! Elements that stay in vectors from one statement to the next: what is written again, or read, is not stored and loaded in between.

use super::Row;
use super::value;
use super::vectors::Vectors;
use crate::lower::convert::clif_type;
use crate::lower::operation;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use strew_affine::bounds::greatest_inside;
use strew_affine::lanes::VECTOR_BYTES;
use strew_affine::visit::Loop;
use strew_affine::{Access, AffineExpr, Subscript};

/// What was written in this turn and is not in memory yet.
#[derive(Debug)]
pub(super) struct Held<'k> {
    access: &'k Access,
    vectors: Vec<Value>,
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// The elements of `access`, one for each lane.
    pub(super) fn get(&mut self, access: &'k Access) -> Vec<Value> {
        if let Some(held) = self.held.iter().find(|it| it.access.is_same(access)) {
            return held.vectors.clone();
        }
        if let Some(across) = self.across(access) {
            let vectors = across.into_iter();
            return vectors
                .map(|it| self.function.builder.use_var(it))
                .collect();
        }
        self.store_met(access);
        self.load(access)
    }

    /// The elements of `access` become `vectors`.
    pub(super) fn set(&mut self, access: &'k Access, vectors: Vec<Value>) {
        if let Some(across) = self.across(access) {
            for (variable, vector) in across.into_iter().zip(vectors) {
                self.function.builder.def_var(variable, vector);
            }
            return;
        }
        match self.held.iter_mut().find(|it| it.access.is_same(access)) {
            Some(held) => held.vectors = vectors,
            None => {
                self.store_met(access);
                self.held.push(Held { access, vectors });
            }
        }
    }

    /// Stores what is held of elements that `access` may be of, too.
    fn store_met(&mut self, access: &Access) {
        let loops = self.function.loops.clone();
        self.store_held(|it| may_meet(it, access, &loops));
    }

    /// Stores what is held of the accesses that `is_meant`, and holds it no longer.
    pub(super) fn store_held(&mut self, is_meant: impl Fn(&Access) -> bool) {
        let (meant, others) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|it| is_meant(it.access));
        self.held = others;
        let meant: Vec<Held<'k>> = meant;
        for it in meant {
            self.store(it.access, &it.vectors);
        }
    }

    /// Where the element of the first lane is, and how far behind `address` each vector begins.
    fn places(&mut self, access: &Access) -> Option<(Value, Vec<i32>, MemFlagsData)> {
        let Row {
            address,
            displacement,
            flags,
            ..
        } = *self.group.rows.get(&std::ptr::from_ref(access))?;
        let bytes = self.element_type(access).bytes();
        let first = self.function.iter(self.iter);
        let known = self.function.constant(first);
        let ins = &mut self.function.builder;
        let address = match known {
            Some(0) => address,
            _ => {
                let distance = ins
                    .ins()
                    .ishl_imm_u(first, i64::from(bytes.trailing_zeros()));
                ins.ins().iadd(address, distance)
            }
        };
        let vectors = 0..self.group.count * bytes / VECTOR_BYTES;
        let behind = vectors.map(|it| displacement.wrapping_add((it * VECTOR_BYTES) as i32));
        Some((address, behind.collect(), flags))
    }

    fn load(&mut self, access: &Access) -> Vec<Value> {
        let ty = operation::vector_of(self.element_type(access));
        let row = self.group.rows.get(&std::ptr::from_ref(access)).copied();
        if let Some((row, stride)) = row.and_then(|row| Some((row, row.stride?))) {
            return self.load_apart(access, row, stride);
        }
        let Some((address, behind, flags)) = self.places(access) else {
            return Vec::new();
        };
        let ins = &mut self.function.builder;
        behind
            .into_iter()
            .map(|it| ins.ins().load(ty, flags, address, it))
            .collect()
    }

    /// Elements `stride` bytes apart, one by one.
    fn load_apart(&mut self, access: &Access, row: Row, stride: Value) -> Vec<Value> {
        let ty = self.element_type(access);
        let (count, each) = (self.group.count, value::per_vector(ty));
        let first = self.function.iter(self.iter);
        let ins = &mut self.function.builder;
        let distance = ins.ins().imul(first, stride);
        let mut address = ins.ins().iadd(row.address, distance);
        let mut vectors = Vec::new();
        for _ in 0..count / each {
            let mut lanes = Vec::new();
            for _ in 0..each {
                let load = ins
                    .ins()
                    .load(clif_type(ty), row.flags, address, row.displacement);
                lanes.push(load);
                address = ins.ins().iadd(address, stride);
            }
            vectors.extend(value::vector(ins, ty, &lanes));
        }
        vectors
    }

    fn store(&mut self, access: &Access, vectors: &[Value]) {
        let Some((address, behind, flags)) = self.places(access) else {
            return;
        };
        for (vector, behind) in vectors.iter().zip(behind) {
            let ins = self.function.builder.ins();
            ins.store(flags, *vector, address, behind);
        }
    }
}

/// Whether vectors of the two accesses may share elements. Different arrays never do, nor do rows with different numbers, as every
/// subscript is in its range: numbers that differ by a constant, or of which the bounds of `loops` show that one is greater.
pub(super) fn may_meet(one: &Access, other: &Access, loops: &[Loop<'_>]) -> bool {
    let numbers = |access: &'_ Access| access.subscripts.len().saturating_sub(1);
    let outer = one.subscripts.iter().zip(&other.subscripts);
    let mut outer = outer.take(numbers(one).min(numbers(other)));
    one.array == other.array && !outer.any(|(one, other)| is_apart(one, other, loops))
}

fn is_apart(one: &Subscript, other: &Subscript, loops: &[Loop<'_>]) -> bool {
    let (Subscript::Affine(one), Subscript::Affine(other)) = (one, other) else {
        return false;
    };
    let is_less = |one: &AffineExpr, other: &AffineExpr| {
        let distance = one.minus(other).ok();
        let greatest = distance.and_then(|it| greatest_inside(&it, loops));
        greatest.is_some_and(|it| it < 0)
    };
    is_less(one, other) || is_less(other, one)
}
