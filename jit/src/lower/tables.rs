//! Bodies that combine updates into several buffers by turns, so that one does not wait for the one
//! before.

use super::function::{ArrayValue, FunctionLowering};
use cranelift_codegen::ir::{InstBuilder, Value};
use strew_affine::{ArrayId, Place, Private};
use strew_runtime::abi::TABLES;

/// Several of each of the buffers that are merged together.
#[derive(Clone, Debug)]
pub(super) struct Tables {
    /// The first of the buffers that are merged together.
    buffer: ArrayId,
    /// Table by table, the buffers.
    tables: Vec<Vec<(ArrayId, ArrayValue)>>,
    turns: Turns,
}

/// Which of several places each statement updates by turns. A statement that is lowered more than
/// once, such as for what a loop in lanes leaves over, has the same turn each time: the grouping
/// follows from the kernel, not from how its code is made.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns(Vec<*const Place>);

impl Turns {
    /// The turn of the statement that updates `places`, in this lane.
    pub(super) fn of(&mut self, places: &[Place], lane: usize) -> usize {
        let known = self.0.iter().position(|it| *it == places.as_ptr());
        let number = known.unwrap_or_else(|| {
            self.0.push(places.as_ptr());
            self.0.len() - 1
        });
        number + lane
    }
}

impl FunctionLowering<'_, '_, '_> {
    /// Makes tables of the buffers of `private`, which are known as the first of them; each lies
    /// `distance` bytes behind the one before.
    pub(super) fn bind_tables(&mut self, private: &Private, distance: Value) {
        let Some(buffer) = private.buffers.first() else {
            return;
        };
        let mut table: Vec<_> = private
            .buffers
            .iter()
            .filter_map(|buffer| Some((*buffer, self.arrays.get(*buffer)?.clone())))
            .collect();
        let mut tables = Vec::new();
        for _ in 0..TABLES {
            tables.push(table.clone());
            for (_, array) in &mut table {
                array.address = self.builder.ins().iadd(array.address, distance);
            }
        }
        self.tables.push(Tables {
            buffer: *buffer,
            tables,
            turns: Turns::default(),
        });
    }

    /// The number of the tables that `places` lie in, if they are buffers that have several.
    pub(super) fn tables_of(&self, places: &[Place]) -> Option<usize> {
        let Some(Place::Element(access)) = places.first() else {
            return None;
        };
        let mut tables = self.tables.iter();
        tables.position(|it| it.buffer == access.array)
    }

    /// Makes the next table the one that `places` lie in, if they are buffers that have several.
    pub(super) fn take_turns(&mut self, places: &[Place]) {
        let lane = self.lane();
        let number = self.tables_of(places);
        let Some(tables) = number.and_then(|it| self.tables.get_mut(it)) else {
            return;
        };
        let turn = tables.turns.of(places, lane) % TABLES;
        for (buffer, array) in tables.tables.get(turn).into_iter().flatten() {
            self.arrays.insert(*buffer, array.clone());
        }
    }
}
