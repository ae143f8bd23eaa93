//! Bodies that keep the element they update in a register for as long as it is the same one.
//!
//! When consecutive updates go to one element, each of them waits until the one before has been
//! stored and can be loaded again, which takes longer than the update itself. Here the element is
//! stored only when another one comes. Where there is but one element, it is loaded when the body
//! begins, and stored when it ends if it was updated.

use super::access::Element;
use super::convert::clif_type;
use super::function::FunctionLowering;
use crate::promoted::few_elements;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{AliasRegion, InstBuilder, MemFlagsData, Value, types};
use cranelift_frontend::Variable;
use strew_affine::{ArrayId, Combiner, Expr, Node, Place, Private, Type};

/// The element that was updated last, of buffers that are merged together.
#[derive(Clone, Debug)]
pub(super) struct Run {
    buffer: ArrayId,
    parts: Vec<Part>,
    /// Where the only elements of the buffers are, which are held from the beginning on.
    only: Option<Vec<Value>>,
}

/// What of its buffers a body has.
#[derive(Clone, Copy, Debug)]
pub(super) enum Buffers {
    /// All of them.
    Whole,
    /// Some elements: where others would be there may be no memory.
    Ranges,
}

/// Where it is in one of the buffers, and its value, which memory does not have yet.
#[derive(Clone, Debug)]
struct Part {
    ty: Type,
    /// That of the buffer: with any other, what is stored would not be seen by loads of its
    /// elements.
    region: Option<AliasRegion>,
    /// A place for stores of no element, which is its place before it is one of the elements.
    nowhere: Value,
    place: Variable,
    held: Variable,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Begins a run for `private`, at a place that is none of its elements. The only
    /// element of a buffer is held from the beginning on.
    pub(super) fn begin_run(&mut self, private: &Private, buffers: Buffers) {
        let Some(buffer) = private.buffers.first() else {
            return;
        };
        let only = match buffers {
            Buffers::Whole => self.only_elements(private),
            Buffers::Ranges => None,
        };
        if let Some(place) = only.as_ref().and_then(|it| it.first()) {
            self.reach(*buffer, *place);
        }
        let elements = private.types(self.program.kernel).into_iter();
        let parts = elements
            .zip(&private.buffers)
            .enumerate()
            .map(|(position, (ty, buffer))| {
                let region = self.arrays.get(*buffer).map(|array| array.region);
                let nowhere = self.stack(size_of::<u64>());
                let place = self.builder.declare_var(types::I64);
                self.builder.def_var(place, nowhere);
                let held = self.builder.declare_var(clif_type(ty));
                // Anything will do before the first element comes.
                let only = only.as_ref().and_then(|it| it.get(position));
                let flags =
                    MemFlagsData::trusted().with_alias_region(region.filter(|_| only.is_some()));
                let from = only.copied().unwrap_or(nowhere);
                let first = self.builder.ins().load(clif_type(ty), flags, from, 0);
                self.builder.def_var(held, first);
                Part {
                    ty,
                    region,
                    nowhere,
                    place,
                    held,
                }
            });
        let parts = parts.collect();
        self.runs.push(Run {
            buffer: *buffer,
            parts,
            only,
        });
    }

    /// Where the elements of the buffers of `private` are, if each has one.
    fn only_elements(&mut self, private: &Private) -> Option<Vec<Value>> {
        if !self.has_one_element(private) {
            return None;
        }
        let mut places = Vec::new();
        for buffer in &private.buffers {
            let array = self.arrays.get(*buffer)?.clone();
            places.push(self.beginning(&array));
        }
        Some(places)
    }

    /// Whether each of the buffers of `private` has one.
    pub(super) fn has_one_element(&self, private: &Private) -> bool {
        let mut buffers = private.buffers.iter();
        buffers.all(|it| few_elements(self.program.kernel, *it) == Some(1))
    }

    /// The run that an update of `places` belongs to, if they are private buffers that have one.
    pub(super) fn run_of(&self, places: &[Place]) -> Option<Run> {
        let Some(Place::Element(access)) = places.first() else {
            return None;
        };
        let mut runs = self.runs.iter();
        runs.find(|it| it.buffer == access.array).cloned()
    }

    /// What `place`, the only element of a buffer, is held in, if that is an integer.
    pub(super) fn only_held(&self, place: &Place) -> Option<Variable> {
        let run = self.run_of(std::slice::from_ref(place))?;
        match (run.only, run.parts.as_slice()) {
            (Some(_), [part]) if part.ty.is_integer() => Some(part.held),
            _ => None,
        }
    }

    /// Updates the element at `places`, which are one element of all buffers.
    pub(super) fn update_in_run(
        &mut self,
        run: &Run,
        places: &'k [Place],
        combiner: &Combiner,
        values: &'k [Expr],
    ) {
        let incoming: Vec<_> = values.iter().map(|value| self.expr(value)).collect();
        self.update_run_by(run, places, combiner, &incoming);
    }

    /// The same with values that were computed already.
    pub(super) fn update_run_by(
        &mut self,
        run: &Run,
        places: &'k [Place],
        combiner: &Combiner,
        incoming: &[Value],
    ) {
        let accesses = places.iter().filter_map(|place| match place {
            Place::Element(access) => Some(access),
            Place::Local(_) => None,
        });
        let elements: Vec<_> = accesses.map(|access| self.element(access)).collect();
        self.go_to(run, &elements);
        self.combine_into_run(run, places, combiner, incoming);
    }

    /// Updates the element that is held by a statement that is known to go there.
    pub(super) fn update_held(&mut self, node: &'k Node) {
        if let Node::Reduce {
            places,
            combiner,
            values,
            ..
        } = node
            && let Some(run) = self.run_of(places)
        {
            let incoming: Vec<_> = values.iter().map(|value| self.expr(value)).collect();
            self.combine_into_run(&run, places, combiner, &incoming);
        }
    }

    fn combine_into_run(
        &mut self,
        run: &Run,
        places: &'k [Place],
        combiner: &Combiner,
        incoming: &[Value],
    ) {
        let types: Vec<_> = run.parts.iter().map(|part| part.ty).collect();
        let bodies = combiner.bodies(&types).unwrap_or_default();
        let parts = run.parts.iter();
        let held: Vec<_> = parts.map(|part| self.builder.use_var(part.held)).collect();
        let combined = self.combined(places, &bodies, &types, &held, incoming);
        for (part, value) in run.parts.iter().zip(combined) {
            self.builder.def_var(part.held, value);
        }
    }

    /// Makes `elements` the run's element: stores the one before and loads this one, if they are
    /// not the same.
    fn go_to(&mut self, run: &Run, elements: &[Element]) {
        if let Some(only) = &run.only {
            for (part, place) in run.parts.iter().zip(only) {
                self.builder.def_var(part.place, *place);
            }
            return;
        }
        let places: Vec<_> = elements.iter().map(|it| self.whole_address(it)).collect();
        let (Some(part), Some(place)) = (run.parts.first(), places.first()) else {
            return;
        };
        let other = self.builder.create_block();
        let next = self.builder.create_block();
        let before = self.builder.use_var(part.place);
        let is_other = self.builder.ins().icmp(IntCC::NotEqual, before, *place);
        self.builder.ins().brif(is_other, other, &[], next, &[]);
        self.builder.switch_to_block(other);
        self.store_run(run);
        self.reach(run.buffer, *place);
        for ((part, element), place) in run.parts.iter().zip(elements).zip(places) {
            let held = self.read_element(part.ty, element);
            self.builder.def_var(part.held, held);
            self.builder.def_var(part.place, place);
        }
        self.builder.ins().jump(next, &[]);
        self.builder.switch_to_block(next);
    }

    fn store_run(&mut self, run: &Run) {
        for part in &run.parts {
            let place = self.builder.use_var(part.place);
            let held = self.builder.use_var(part.held);
            let flags = MemFlagsData::trusted().with_alias_region(part.region);
            self.builder.ins().store(flags, held, place, 0);
        }
    }

    /// Stores what memory does not have yet, for statements that go to memory: the next one that
    /// does not loads its element. The only elements of buffers are held all the same. What the
    /// runs were is returned.
    pub(super) fn leave_runs(&mut self) -> Vec<Run> {
        let runs = std::mem::take(&mut self.runs);
        for run in &runs {
            if run.only.is_some() {
                self.runs.push(run.clone());
                continue;
            }
            self.store_run(run);
            for part in &run.parts {
                self.builder.def_var(part.place, part.nowhere);
            }
        }
        runs
    }

    /// Stores what memory does not have yet.
    pub(super) fn end_runs(&mut self) {
        for run in self.runs.clone() {
            self.store_run(&run);
        }
    }
}
