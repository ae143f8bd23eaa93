//! Small arrays that are memory, but not while a loop runs all of whose subscripts of them are
//! constants: their elements are variables from its beginning to its end. Local arrays are such,
//! and private buffers while a body runs.

use super::access::Element;
use super::body::{is_separate, is_update};
use super::convert::clif_type;
use super::function::{FunctionLowering, offset};
use super::run_length::Buffers;
use crate::facts::Facts;
use crate::promoted::{few_elements, used_elements};
use cranelift_codegen::ir::{InstBuilder, MemFlagsData};
use cranelift_frontend::Variable;
use strew_affine::visit::{Loop, allocated_arrays, has_forall, walk};
use strew_affine::{ArrayId, Forall, Kernel, Node};

/// As many elements as there are registers for beside what updates them: with 16 floats a loop
/// takes 1.1 to 1.2 times as long as in memory.
const MOST_HELD: usize = 12;

/// An array whose elements are variables for now.
pub(super) struct Held {
    array: ArrayId,
    /// Those that memory gets in the end.
    written: Vec<(Element, Variable)>,
}

/// Whether something could tell the difference when the body of `forall` has elements of its
/// buffers in registers.
fn is_seen(forall: &Forall) -> bool {
    forall.is_speculative() || is_separate(forall) || has_forall(&forall.body)
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

/// Whether the body of `forall` may have elements of several in registers, and then stores all of
/// them.
pub(super) fn may_hold(kernel: &Kernel, forall: &Forall) -> bool {
    small_buffers(kernel, forall).next().is_some()
}

/// The buffers of `forall` whose elements its body has in registers.
fn held_buffers(kernel: &Kernel, facts: &Facts, forall: &Forall) -> Vec<ArrayId> {
    let held = small_buffers(kernel, forall).filter(|it| facts.strided(*it).is_none());
    together(kernel, held)
}

/// Those that registers could have. One that has a single element is a run of its own.
fn small_buffers(kernel: &Kernel, forall: &Forall) -> impl Iterator<Item = ArrayId> {
    let is_small = |it: &ArrayId| {
        let is_one = few_elements(kernel, *it) == Some(1);
        !is_one && used_elements(kernel, *it, &forall.body).is_some()
    };
    let buffers = forall.own_buffers().filter(|_| !is_seen(forall));
    buffers.filter(is_small)
}

/// As many of `arrays`, from the first on, as there are registers for.
fn together(kernel: &Kernel, arrays: impl Iterator<Item = ArrayId>) -> Vec<ArrayId> {
    let mut left = MOST_HELD;
    let fits = |it: &ArrayId| {
        let rest = few_elements(kernel, *it).and_then(|it| left.checked_sub(it));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    arrays.filter(fits).collect()
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Holds in registers what is summed up beside other updates, where nothing in the body could
    /// tell the difference.
    pub(super) fn hold_single_elements(&mut self, forall: &Forall) {
        if is_seen(forall) {
            return;
        }
        for private in &forall.privates {
            if self.has_one_element(private) {
                self.begin_run(private, Buffers::Whole);
            }
        }
    }

    /// Holds the elements of small buffers in registers.
    pub(super) fn hold_buffers(&mut self, forall: &Forall) -> Vec<Held> {
        let buffers = held_buffers(self.program.kernel, self.program.facts, forall);
        let held = buffers
            .into_iter()
            .filter_map(|it| self.hold(it, &forall.body));
        held.collect()
    }

    /// Holds elements of local arrays while `node` runs, if it is a loop. One that runs again and
    /// again while there is the array may have few turns, for which that would take longer than it
    /// saves.
    pub(super) fn hold_locals(&mut self, node: &'k Node) -> Vec<Held> {
        let is_loop = Loop::of(node).is_some() || matches!(node, Node::ScfWhile { .. });
        let body = std::slice::from_ref(node);
        if self.small_arrays.is_empty() || !is_loop || has_forall(body) {
            return Vec::new();
        }
        let own = allocated_arrays(body);
        let around = self.loops.len();
        let is_near = |(it, loops): &&(ArrayId, usize)| {
            *loops == around && self.promoted.get(*it).is_none() && !own.contains(it)
        };
        let arrays = self.small_arrays.iter().filter(is_near).map(|it| it.0);
        let kernel = self.program.kernel;
        let arrays = arrays.filter(|it| used_elements(kernel, *it, body).is_some());
        let arrays = together(kernel, arrays);
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
