//! Small arrays that are memory, but not while a loop runs all of whose subscripts of them are constants: their elements are variables from
//! its beginning to its end. Local arrays are such, and private buffers while a body runs.

use super::access::Element;
use super::body::{hold_no_forall, is_separate, is_update};
use super::convert::clif_type;
use super::function::{FunctionLowering, offset};
use super::run_length::Buffers;
use crate::facts::Facts;
use crate::promoted::{few_elements, used_elements};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData};
use cranelift_frontend::Variable;
use strew_affine::visit::{Loop, allocated_arrays, walk};
use strew_affine::{ArrayId, Forall, Kernel, Node};

/// An array whose elements are variables for now.
pub(super) struct Held {
    array: ArrayId,
    /// Those that memory gets in the end.
    written: Vec<(Element, Variable)>,
}

/// Whether something could tell the difference when the body of `forall` has elements of its buffers in registers.
fn is_seen(forall: &Forall) -> bool {
    forall.is_speculative() || is_separate(forall) || !hold_no_forall(&forall.body)
}

/// Whether most statements that update buffers of `forall` find their elements in registers.
pub(super) fn holds_most(kernel: &Kernel, facts: &Facts, forall: &Forall) -> bool {
    let held = held_buffers(kernel, facts, forall);
    let (mut all, mut of_them) = (0, 0);
    walk(&forall.body, &mut |node, _| {
        if is_update(node, forall) {
            all += 1;
            let mut written = node.written_elements();
            of_them += usize::from(written.any(|it| held.contains(&it.array)));
        }
    });
    2 * of_them > all
}

/// The buffers of `forall` whose elements its body has in registers. One that has a single element is a run of its own.
fn held_buffers(kernel: &Kernel, facts: &Facts, forall: &Forall) -> Vec<ArrayId> {
    if is_seen(forall) {
        return Vec::new();
    }
    let is_held = |it: &ArrayId| {
        few_elements(kernel, *it) != Some(1)
            && facts.strided(*it).is_none()
            && used_elements(kernel, *it, &forall.body).is_some()
    };
    forall.own_buffers().filter(is_held).collect()
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Holds in registers what is summed up beside other updates, where nothing in the body could tell the difference.
    pub(super) fn hold_buffers(&mut self, forall: &Forall) -> Vec<Held> {
        if !is_seen(forall) {
            for private in &forall.privates {
                if self.has_one_element(private) {
                    self.begin_run(private, Buffers::Whole);
                }
            }
        }
        let buffers = held_buffers(self.program.kernel, self.program.facts, forall);
        let held = buffers
            .into_iter()
            .filter_map(|it| self.hold(it, &forall.body));
        held.collect()
    }

    /// Holds elements of local arrays while `node` runs, if it is a loop.
    pub(super) fn hold_locals(&mut self, node: &'k Node) -> Vec<Held> {
        let is_loop = Loop::of(node).is_some() || matches!(node, Node::ScfWhile { .. });
        let body = std::slice::from_ref(node);
        if self.small_arrays.is_empty() || !is_loop || !hold_no_forall(body) {
            return Vec::new();
        }
        let own = allocated_arrays(body);
        let mut arrays = self.small_arrays.clone();
        arrays.retain(|it| self.promoted.get(*it).is_none() && !own.contains(it));
        let held = arrays.into_iter().filter_map(|it| self.hold(it, body));
        held.collect()
    }

    /// Has the elements of `array` that `body` uses in variables, if it writes some of them.
    fn hold(&mut self, array: ArrayId, body: &[Node]) -> Option<Held> {
        let kernel = self.program.kernel;
        let used = used_elements(kernel, array, body)?;
        let memory = self.arrays.get(array)?.clone();
        if !used.values().any(|is_written| *is_written) {
            return None;
        }
        let ty = kernel.arrays[array].element;
        let elements = 0..few_elements(kernel, array)?;
        let variables = elements.map(|_| self.builder.declare_var(clif_type(ty)));
        let variables: Vec<_> = variables.collect();
        let address = self.beginning(&memory);
        let mut written = Vec::new();
        for (number, is_written) in used {
            let place = Element {
                address,
                displacement: offset(number * ty.bytes() as usize),
                flags: MemFlagsData::trusted().with_alias_region(Some(memory.region)),
            };
            let variable = *variables.get(number)?;
            let value = self.read_element(ty, &place);
            self.builder.def_var(variable, value);
            written.extend(is_written.then_some((place, variable)));
        }
        self.promoted.insert(array, variables);
        Some(Held { array, written })
    }

    /// Memory gets what was held.
    pub(super) fn let_go(&mut self, held: Vec<Held>) {
        for Held { array, written } in held {
            for (place, variable) in written {
                let value = self.builder.use_var(variable);
                let ins = self.builder.ins();
                ins.store(place.flags, value, place.address, place.displacement);
            }
            self.promoted.remove(array);
        }
    }
}
