//! Elements of records, or of rows, that are read side by side: as many whole vectors of the array
//! as there are lanes, one for each record, of which the lanes that are wanted come together two by
//! two.
//!
//! All elements of a record share what is loaded and most of what is put together: four of four
//! take four loads and eight instructions, and sixteen of sixteen sixteen and sixty-four.

use super::First;
use super::distance::{Apart, picked};
use super::value::per_vector;
use super::vectors::Vectors;
use crate::lower::operation;
use cranelift_codegen::ir::{InstBuilder, MemFlagsData, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::visit::{for_each_load_of, walk};
use strew_affine::{Access, Type};

impl<'k> Vectors<'_, '_, 'k, '_> {
    /// The lane of its vector in which the element of `access` lies, where the statements read all
    /// elements of that vector. Nothing else tells that they are there.
    pub(super) fn place_in_block(&self, access: &Access) -> Option<i64> {
        if self.group.lanes.has_loops() || !self.shuffles_bytes() {
            return None;
        }
        let each = i64::from(per_vector(self.element_type(access)));
        let mut beside = Vec::new();
        walk(self.together, &mut |node, _| {
            for_each_load_of(node, &mut |it| {
                if it.array == access.array && !self.group.lanes.is_picked(it) {
                    beside.extend(self.group.lanes.behind(access, it));
                }
            });
        });
        let is_read = |behind: i64| beside.contains(&behind);
        // All that are read one behind the other are in the same blocks.
        let first = (1_i64..).take_while(|it| is_read(-it)).count() as i64;
        let place = first % each;
        (-place..each - place).all(is_read).then_some(place)
    }

    /// The vector of the lanes from `lane` on, whose elements are in the records at this `place` of
    /// a vector each.
    pub(super) fn load_from_blocks(
        &mut self,
        apart: &Apart,
        lane: u32,
        place: i64,
    ) -> Option<Value> {
        let each = per_vector(apart.ty);
        let rows = (lane..lane + each).map(|it| {
            let at = apart.place(i64::from(it) * apart.distance - place);
            (apart.address, at)
        });
        self.load_column((apart.ty, apart.flags), rows, place)
    }

    /// The elements of `access`, each at this `place` of a vector of its own row, which lie
    /// `stride` bytes from each other.
    pub(super) fn load_from_rows(
        &mut self,
        access: &Access,
        (first, stride): (First, Value),
        place: i64,
    ) -> Vec<Value> {
        let ty = self.element_type(access);
        let before = place as i32 * ty.bytes().cast_signed();
        let at = first.displacement.wrapping_sub(before);
        let addresses = self.addresses(first.address, stride);
        let rows = addresses.chunks(per_vector(ty) as usize);
        let vectors = rows.filter_map(|rows| {
            let rows = rows.iter().map(|it| (*it, at));
            self.load_column((ty, first.flags), rows, place)
        });
        vectors.collect()
    }

    /// The lanes at this `place` of the vectors at these addresses, of which there are as many as
    /// lanes.
    fn load_column(
        &mut self,
        (ty, flags): (Type, MemFlagsData),
        rows: impl Iterator<Item = (Value, i32)>,
        place: i64,
    ) -> Option<Value> {
        let builder = &mut self.function.builder;
        let vector = operation::vector_of(ty);
        let rows = rows.map(|(address, at)| builder.ins().load(vector, flags, address, at));
        let rows: Vec<_> = rows.collect();
        column(builder, ty, rows, place as u32)
    }
}

/// The lanes number `place` of all of `rows`, of which there are as many as lanes.
fn column(
    builder: &mut FunctionBuilder<'_>,
    ty: Type,
    mut rows: Vec<Value>,
    mut place: u32,
) -> Option<Value> {
    let lanes = per_vector(ty);
    // So many lanes of each vector are of one column.
    let mut together = 1;
    while let [_, _, ..] = rows[..] {
        let columns = lanes / together;
        let first = if place < columns / 2 { 0 } else { columns / 2 };
        place -= first;
        let places = (0..lanes).map(|lane| {
            let (unit, behind) = (lane / together, lane % together);
            let column = first + unit / 2;
            ((unit % 2) as usize, column * together + behind)
        });
        let places: Vec<_> = places.collect();
        let pairs = rows.chunks_exact(2);
        rows = pairs.map(|it| picked(builder, ty, it, &places)).collect();
        together *= 2;
    }
    rows.pop()
}
