//! What a body finds in the places of its private buffers, made known to it.

use super::function::{FunctionLowering, Stride};
use super::private_calls::first_of_records;
use super::rows::Owner;
use super::sort::Ranges;
use cranelift_codegen::ir::{Value, types};
use strew_affine::{Forall, Private};

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Whose rows they are stands behind the addresses and the distances.
    pub(super) fn bind_owned_rows(&mut self, forall: &'k Forall, privates: Value) {
        self.bind_buffers(forall, privates);
        let behind = 2 * forall.buffers().count();
        let mut read = |position| self.read(types::I64, privates, behind + position);
        let owner = Owner {
            number: read(0),
            owners: read(1),
            shift: read(2),
        };
        self.bind_rows(forall, owner);
    }

    /// The distance from each table to the next stands at `position`.
    pub(super) fn bind_all_tables(&mut self, forall: &'k Forall, privates: Value, position: usize) {
        let distance = self.read(types::I64, privates, position);
        for private in &forall.privates {
            self.bind_tables(private, distance);
        }
    }

    /// The pages stand behind the addresses and the distances.
    pub(super) fn bind_paged(&mut self, forall: &'k Forall, privates: Value) {
        self.bind_each(forall, privates, &[]);
        let mut position = 2 * forall.buffers().count();
        for private in &forall.privates {
            let pages = self.read(types::I64, privates, position);
            self.bind_pages(private, pages);
            position += private.buffers.len();
        }
    }

    pub(super) fn bind_bounds(&mut self, forall: &'k Forall, privates: Value) {
        self.each_of(forall, privates, |function, private, address| {
            function.begin_bounds(private, address);
        });
    }

    pub(super) fn bind_all_lines(&mut self, forall: &'k Forall, privates: Value, ranges: Ranges) {
        self.each_of(forall, privates, |function, private, address| {
            function.bind_lines((forall, private), address, ranges);
        });
    }

    /// Binds what stands in the places of the first of the buffers that are merged together.
    pub(super) fn each_of(
        &mut self,
        forall: &'k Forall,
        privates: Value,
        mut bind: impl FnMut(&mut Self, &'k Private, Value),
    ) {
        let mut position = 0;
        for private in &forall.privates {
            let address = self.read(types::I64, privates, position);
            bind(self, private, address);
            position += private.buffers.len();
        }
    }

    pub(super) fn bind_buffers(&mut self, forall: &'k Forall, privates: Value) {
        // One distance for all fields of the same records is one product for what they have in
        // common.
        let records = first_of_records(self.program.kernel, forall);
        self.bind_each(forall, privates, &records);
    }

    /// Binds all buffers; the distance between the records of each stands in the place of the
    /// buffer that `like` says, or in its own.
    fn bind_each(&mut self, forall: &'k Forall, privates: Value, like: &[Option<usize>]) {
        let count = forall.buffers().count();
        for (position, (buffer, _)) in forall.buffers().enumerate() {
            let address = self.read(types::I64, privates, position);
            if let Some(own) = self.program.facts.strided(buffer) {
                let place = like.get(position).copied().flatten().unwrap_or(position);
                let stride = self.read(types::I64, privates, count + place);
                self.bind_strided(buffer, (address, 0), Stride::Given(stride), own);
            } else {
                self.bind_array(buffer, address);
            }
        }
    }
}
