//! Elements that stay in vectors from one statement to the next: what is written again, or read, is
//! not stored and loaded in between.

use super::vectors::Vectors;
use super::{First, Row};
use crate::lower::operation;
use cranelift_codegen::ir::{InstBuilder, Value};
use strew_affine::bounds::greatest_inside;
use strew_affine::lanes::{Lanes, VECTOR_BYTES};
use strew_affine::visit::Loop;
use strew_affine::{Access, AffineExpr, Subscript};

/// What was written in this turn and is not in memory yet.
#[derive(Debug)]
pub(super) struct Held<'k> {
    pub(super) access: &'k Access,
    pub(super) vectors: Vec<Value>,
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
        let group = self.group;
        self.store_held(|it| may_meet(it, access, (&loops, &group.lanes)));
    }

    /// Stores what is held of the accesses that `is_meant`, and holds it no longer.
    pub(super) fn store_held(&mut self, is_meant: impl Fn(&Access) -> bool) {
        let (mut meant, others): (Vec<_>, _) = std::mem::take(&mut self.held)
            .into_iter()
            .partition(|it| is_meant(it.access));
        self.held = others;
        while let Some(it) = meant.pop() {
            match self.group.lanes.is_strided(it.access) {
                true => self.store_apart(it, &mut meant),
                false => self.store(it.access, &it.vectors),
            }
        }
    }

    /// Where the element of the first lane is.
    pub(super) fn first(&mut self, access: &'k Access) -> Option<First> {
        if self.group.lanes.has_loops() {
            return Some(self.function.first_here(access, self.group));
        }
        let Row {
            address,
            displacement,
            flags,
            stride,
            ..
        } = *self.group.rows.get(&std::ptr::from_ref(access))?;
        let bytes = self.element_type(access).bytes();
        let first = self.function.iter(self.iter);
        let known = self.function.constant(first);
        let ins = &mut self.function.builder;
        let distance = match (stride, known) {
            (Some(stride), _) => Some(ins.ins().imul(first, stride)),
            (None, Some(0)) => None,
            (None, _) => Some((ins.ins()).ishl_imm_u(first, i64::from(bytes.trailing_zeros()))),
        };
        Some(First {
            address: distance.map_or(address, |it| ins.ins().iadd(address, it)),
            displacement,
            flags,
            stride,
        })
    }

    /// How far behind the first element of `access` each of so many vectors begins.
    fn behind(&self, access: &Access, displacement: i32) -> impl Iterator<Item = i32> + use<> {
        let bytes = self.element_type(access).bytes();
        let vectors = 0..self.group.count * bytes / VECTOR_BYTES;
        vectors.map(move |it| displacement.wrapping_add((it * VECTOR_BYTES) as i32))
    }

    fn load(&mut self, access: &'k Access) -> Vec<Value> {
        let ty = operation::vector_of(self.element_type(access));
        let Some(first) = self.first(access) else {
            return Vec::new();
        };
        if let Some(stride) = first.stride {
            return self.load_apart(access, first, stride);
        }
        let behind = self.behind(access, first.displacement);
        let ins = &mut self.function.builder;
        behind
            .map(|it| ins.ins().load(ty, first.flags, first.address, it))
            .collect()
    }

    fn store(&mut self, access: &'k Access, vectors: &[Value]) {
        let Some(first) = self.first(access) else {
            return;
        };
        let behind = self.behind(access, first.displacement);
        for (vector, behind) in vectors.iter().zip(behind) {
            let ins = self.function.builder.ins();
            ins.store(first.flags, *vector, first.address, behind);
        }
    }
}

/// Whether vectors of the two accesses may share elements. Different arrays never do, nor do rows
/// with different numbers, as every subscript is in its range: numbers that are the same in all
/// lanes and differ by a constant, or of which the bounds of `loops` show that one is greater. Nor
/// do elements of one row each of which lies between two of the other access.
pub(super) fn may_meet(
    one: &Access,
    other: &Access,
    (loops, lanes): (&[Loop<'_>], &Lanes<'_>),
) -> bool {
    let stays = |it: &Subscript| !lanes.is_moving(it);
    let mut both = one.subscripts.iter().zip(&other.subscripts);
    let are_apart =
        both.any(|(one, other)| stays(one) && stays(other) && is_apart(one, other, loops));
    one.array == other.array && !are_apart && !is_between(one, other, lanes)
}

/// Whether each of both has a place for itself between two elements of the other.
fn is_between(one: &Access, other: &Access, lanes: &Lanes<'_>) -> bool {
    let distance = lanes.distance(one).filter(|it| *it != 0);
    let is_alike = lanes.distance(other) == distance;
    let between = lanes.behind(one, other).zip(distance);
    is_alike && between.is_some_and(|(behind, distance)| behind % distance != 0)
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
