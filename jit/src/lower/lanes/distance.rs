//! Elements that lie at a distance from lane to lane: pixels of three colours, numbers of two
//! parts, arrays from their end to their beginning.
//!
//! Where they are near each other, whole vectors of the array are loaded and picked from; so they
//! are where all elements of records are read, see [`transposed`](super::transposed). What fills
//! all elements between the lanes is stored in whole vectors; other elements one by one, since what
//! lies between them may be another thread's.

use super::First;
use super::held::Held;
use super::value::{per_vector, shuffled, vector};
use super::vectors::Vectors;
use crate::isa::shuffles_bytes;
use crate::lower::convert::clif_type;
use crate::lower::operation;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::lanes::windows;
use strew_affine::{Access, Type};

/// Where lanes at a known distance have their elements.
#[derive(Clone, Copy)]
pub(super) struct Apart {
    pub(super) ty: Type,
    /// Of the first lane.
    pub(super) address: Value,
    displacement: i32,
    pub(super) flags: MemFlagsData,
    /// In elements.
    pub(super) distance: i64,
}

impl Apart {
    /// How far behind `address` the element lies that is so many behind that of the first lane.
    pub(super) fn place(&self, elements: i64) -> i32 {
        let bytes = elements.wrapping_mul(i64::from(self.ty.bytes()));
        self.displacement.wrapping_add(bytes as i32)
    }

    /// The first element in memory of the lanes of a vector that begins with this lane, counted
    /// from that of the first one.
    fn lowest(&self, lane: u32) -> i64 {
        let last = i64::from(per_vector(self.ty)) - 1;
        let first = i64::from(lane) * self.distance;
        first.min(first + last * self.distance)
    }
}

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// The elements of `access`, of which `first` says where they begin, `stride` bytes apart.
    pub(super) fn load_apart(
        &mut self,
        access: &Access,
        first: First,
        stride: Value,
    ) -> Vec<Value> {
        let apart = self.apart(access, first);
        let each = per_vector(self.element_type(access));
        let is_near = self.shuffles_bytes() && self.group.lanes.is_near(access);
        let lanes = (0..self.group.count).step_by(each as usize);
        match apart {
            Some(apart) if is_near => lanes.map(|it| self.load_near(&apart, it)).collect(),
            Some(apart) if let Some(place) = self.place_in_block(access) => lanes
                .filter_map(|it| self.load_from_blocks(&apart, it, place))
                .collect(),
            Some(apart) => {
                let loaded = lanes.filter_map(|it| self.load_each(&apart, it..it + each));
                loaded.collect()
            }
            None => match self.place_in_block(access) {
                Some(place) => self.load_from_rows(access, (first, stride), place),
                None => self.load_strided(access, first, stride),
            },
        }
    }

    pub(super) fn shuffles_bytes(&self) -> bool {
        shuffles_bytes(self.function.program.module.isa())
    }

    fn apart(&self, access: &Access, first: First) -> Option<Apart> {
        let distance = self.group.lanes.distance(access)?;
        Some(Apart {
            ty: self.element_type(access),
            address: first.address,
            displacement: first.displacement,
            flags: first.flags,
            distance,
        })
    }

    /// The vector of the lanes from `lane` on, out of vectors of the array.
    fn load_near(&mut self, apart: &Apart, lane: u32) -> Value {
        let each = per_vector(apart.ty);
        let begins = windows(apart.distance, each);
        let lowest = apart.lowest(lane);
        let ty = operation::vector_of(apart.ty);
        let load = |builder: &mut FunctionBuilder<'_>, begin: &u64| {
            let place = apart.place(lowest + *begin as i64);
            builder.ins().load(ty, apart.flags, apart.address, place)
        };
        let builder = &mut self.function.builder;
        let vectors: Vec<_> = begins.iter().map(|it| load(builder, it)).collect();
        // In which vector the element of each lane is, and where there.
        let places = (0..each).map(|lane| {
            let lane = match apart.distance < 0 {
                true => each - 1 - lane,
                false => lane,
            };
            let place = apart.distance.unsigned_abs() * u64::from(lane);
            let vector = begins.iter().rposition(|begin| *begin <= place);
            let vector = vector.unwrap_or_default();
            (vector, (place - begins[vector]) as u32)
        });
        picked(builder, apart.ty, &vectors, &places.collect::<Vec<_>>())
    }

    /// The vector of these lanes, each loaded by itself.
    fn load_each(&mut self, apart: &Apart, lanes: std::ops::Range<u32>) -> Option<Value> {
        let builder = &mut self.function.builder;
        let loaded = lanes.map(|lane| {
            let place = apart.place(i64::from(lane) * apart.distance);
            let ty = clif_type(apart.ty);
            builder.ins().load(ty, apart.flags, apart.address, place)
        });
        let loaded: Vec<_> = loaded.collect();
        vector(builder, apart.ty, &loaded)
    }

    /// Elements at a distance that is not known, one by one.
    fn load_strided(&mut self, access: &Access, first: First, stride: Value) -> Vec<Value> {
        let ty = self.element_type(access);
        let addresses = self.addresses(first.address, stride);
        let builder = &mut self.function.builder;
        let vectors = addresses.chunks(per_vector(ty) as usize).filter_map(|of| {
            let lanes = of.iter().map(|address| {
                let ins = builder.ins();
                ins.load(clif_type(ty), first.flags, *address, first.displacement)
            });
            let lanes: Vec<_> = lanes.collect();
            vector(builder, ty, &lanes)
        });
        vectors.collect()
    }

    /// Where the elements of the lanes are, `stride` bytes from each other.
    pub(super) fn addresses(&mut self, first: Value, stride: Value) -> Vec<Value> {
        let mut address = first;
        let addresses = (0..self.group.count).map(|_| {
            let next = self.function.builder.ins().iadd(address, stride);
            std::mem::replace(&mut address, next)
        });
        addresses.collect()
    }

    /// Stores `first` and those of `others` that fill the elements between its lanes, which are
    /// none of the others any more.
    pub(super) fn store_apart(&mut self, first: Held<'k>, others: &mut Vec<Held<'k>>) {
        let accesses: Vec<_> = others.iter().chain([&first]).map(|it| it.access).collect();
        let filling = self.group.lanes.filling(first.access, &accesses);
        let Some(filling) = filling.filter(|_| self.shuffles_bytes()) else {
            return self.store_lanes(&first);
        };
        others.push(first);
        let rows = filling.into_iter().filter_map(|access| {
            let is_meant = |it: &Held<'_>| std::ptr::eq(it.access, access);
            let position = others.iter().position(is_meant)?;
            Some(others.swap_remove(position))
        });
        self.store_filled(&rows.collect::<Vec<_>>());
    }

    fn place_of(&mut self, access: &'k Access) -> Option<Apart> {
        let first = self.first(access)?;
        self.apart(access, first)
    }

    /// Stores `rows`, of which the first elements of all, then the second ones, and so on, follow
    /// each other.
    fn store_filled(&mut self, rows: &[Held<'k>]) {
        let Some(apart) = rows.first().and_then(|it| self.place_of(it.access)) else {
            return;
        };
        let each = i64::from(per_vector(apart.ty));
        let vectors = rows.first().map_or(0, |it| it.vectors.len());
        let builder = &mut self.function.builder;
        let mut place = 0;
        for number in 0..vectors {
            let beside = rows.iter().filter_map(|it| it.vectors.get(number).copied());
            let beside: Vec<_> = beside.collect();
            for vector in interleaved(builder, apart.ty, &beside) {
                builder
                    .ins()
                    .store(apart.flags, vector, apart.address, apart.place(place));
                place += each;
            }
        }
    }

    /// Stores the element of each lane by itself, or all of a vector from the last one to the
    /// first.
    fn store_lanes(&mut self, held: &Held<'k>) {
        let Some(apart) = self.place_of(held.access) else {
            return;
        };
        let each = per_vector(apart.ty);
        let is_reversed = apart.distance == -1 && self.shuffles_bytes();
        let builder = &mut self.function.builder;
        for (number, vector) in (0..).zip(&held.vectors) {
            if is_reversed {
                let places: Vec<_> = (0..each).rev().map(|lane| (0, lane)).collect();
                let reversed = picked(builder, apart.ty, &[*vector], &places);
                let place = apart.place(apart.lowest(number * each));
                builder
                    .ins()
                    .store(apart.flags, reversed, apart.address, place);
                continue;
            }
            for lane in 0..each {
                let value = builder.ins().extractlane(*vector, lane as u8);
                let place = apart.place(i64::from(number * each + lane) * apart.distance);
                builder
                    .ins()
                    .store(apart.flags, value, apart.address, place);
            }
        }
    }
}

/// The vector that has in each lane what is in that lane of that one of `vectors`.
pub(super) fn picked(
    builder: &mut FunctionBuilder<'_>,
    ty: Type,
    vectors: &[Value],
    places: &[(usize, u32)],
) -> Value {
    let bytes = ty.bytes();
    // Of two vectors, of which the bytes are numbered one behind the other.
    let numbers = |number_of: &dyn Fn(u32, usize, u32) -> u32| -> [u8; 16] {
        std::array::from_fn(|byte| {
            let (lane, behind) = (byte as u32 / bytes, byte as u32 % bytes);
            let (vector, of) = places.get(lane as usize).copied().unwrap_or_default();
            (number_of(lane, vector, of) * bytes + behind) as u8
        })
    };
    let (first, others) = vectors.split_first().expect("a vector at the least");
    let second = others.first().unwrap_or(first);
    let lanes = per_vector(ty);
    // Lanes of later vectors are whatever they are.
    let both = numbers(&|_, vector, of| match vector {
        0 => of,
        1 => lanes + of,
        _ => 0,
    });
    let mut found = shuffled(builder, *first, *second, both);
    for (position, vector) in others.iter().enumerate().skip(1) {
        let added = numbers(&|lane, vector, of| match vector == position + 1 {
            true => lanes + of,
            false => lane,
        });
        found = shuffled(builder, found, *vector, added);
    }
    found
}

/// The same of those vectors alone that have one of `places`.
fn picked_from_few(
    builder: &mut FunctionBuilder<'_>,
    ty: Type,
    vectors: &[Value],
    places: impl Iterator<Item = (usize, u32)>,
) -> Value {
    let mut few: Vec<Value> = Vec::new();
    let places = places.map(|(vector, lane)| {
        let vector = vectors[vector];
        let known = few.iter().position(|it| *it == vector);
        let position = known.unwrap_or_else(|| {
            few.push(vector);
            few.len() - 1
        });
        (position, lane)
    });
    let places: Vec<_> = places.collect();
    picked(builder, ty, &few, &places)
}

/// The first lanes of all of `vectors`, then the second ones, and so on.
fn interleaved(builder: &mut FunctionBuilder<'_>, ty: Type, vectors: &[Value]) -> Vec<Value> {
    let count = vectors.len();
    let lanes = per_vector(ty);
    if count.is_multiple_of(2) {
        // Of every second one first: two at once go between each other by one instruction.
        let [even, odd] = [0, 1].map(|first| {
            let half: Vec<_> = vectors.iter().skip(first).step_by(2).copied().collect();
            interleaved(builder, ty, &half)
        });
        let pairs = even.into_iter().zip(odd);
        return pairs
            .flat_map(|(even, odd)| {
                [0, lanes / 2].map(|first| {
                    let places: Vec<_> = (0..lanes)
                        .map(|lane| ((lane % 2) as usize, first + lane / 2))
                        .collect();
                    picked(builder, ty, &[even, odd], &places)
                })
            })
            .collect();
    }
    if count == 1 {
        return vectors.to_vec();
    }
    let all = (0..count as u32).map(|number| {
        let places = (number * lanes..(number + 1) * lanes)
            .map(|it| (it as usize % count, it / count as u32));
        picked_from_few(builder, ty, vectors, places)
    });
    all.collect()
}
