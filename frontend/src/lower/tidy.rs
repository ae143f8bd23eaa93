//! Brings a lowered kernel into its final form: locals that nothing uses go, the others are
//! numbered in the order of the text, and every name is given once.

use super::best::keep_the_best;
use super::common::compute_once;
use super::forward::forward;
use super::localize::localize;
use super::unused::remove_unused;
use crate::locals::for_each_use_in_mut;
use std::collections::{HashMap, HashSet};
use strew_affine::visit::Loop;
use strew_affine::{ArrayId, IterId, Kernel, LocalId, Node};

/// Tidies `kernel`. What it computes, and where it faults, stays.
pub(super) fn tidy(kernel: &mut Kernel) {
    remove_unused(kernel);
    localize(kernel);
    compute_once(kernel);
    forward(kernel);
    keep_the_best(kernel);
    remove_unused(kernel);
    number_locals(kernel);
    name_all(kernel);
}

fn number_locals(kernel: &mut Kernel) {
    let mut locals = la_arena::Arena::new();
    let mut numbers = HashMap::new();
    let old = std::mem::take(&mut kernel.locals);
    let mut declared = Vec::new();
    for_each_declaration(&kernel.body, &mut |local| declared.push(local));
    for local in declared {
        numbers.insert(local, locals.alloc(old[local].clone()));
    }
    for_each_use_in_mut(kernel, &mut |local| {
        *local = numbers.get(local).copied().unwrap_or(*local);
    });
    renumber_declarations(&mut kernel.body, &numbers);
    kernel.locals = locals;
}

fn for_each_declaration(body: &[Node], visit: &mut impl FnMut(LocalId)) {
    strew_affine::visit::walk(body, &mut |node, _| {
        if let Node::Declare { local, .. } = node {
            visit(*local);
        }
    });
}

fn renumber_declarations(body: &mut [Node], numbers: &HashMap<LocalId, LocalId>) {
    for node in body {
        if let Node::Declare { local, .. } = node {
            *local = numbers.get(local).copied().unwrap_or(*local);
        }
        for block in node.blocks_mut() {
            renumber_declarations(block, numbers);
        }
    }
}

/// What binds a name inside of a kernel.
enum Binder {
    Iter(IterId),
    Local(LocalId),
    Array(ArrayId),
}

/// The first of a name keeps it, later ones get a number.
fn name_all(kernel: &mut Kernel) {
    let mut binders = Vec::new();
    strew_affine::visit::walk(&kernel.body, &mut |node, _| {
        binders.extend(Loop::of(node).map(|it| Binder::Iter(it.iter())));
        match node {
            Node::Declare { local, .. } => binders.push(Binder::Local(*local)),
            Node::Alloc { array } => binders.push(Binder::Array(*array)),
            _ => {}
        }
    });
    let mut names = Names {
        taken: given_names(kernel, &binders),
        numbers: HashMap::new(),
    };
    for scalar in kernel.scalars.values_mut().filter(|it| it.inferred) {
        names.make_unique(&mut scalar.name);
    }
    for binder in binders {
        let name = match binder {
            Binder::Iter(iter) => &mut kernel.iters[iter].name,
            Binder::Local(local) => &mut kernel.locals[local].name,
            Binder::Array(array) => &mut kernel.arrays[array].name,
        };
        names.make_unique(name);
    }
}

/// The names that the source gives to parameters, and those of arrays that nothing here declares.
fn given_names(kernel: &Kernel, binders: &[Binder]) -> HashSet<String> {
    let local: HashSet<ArrayId> = binders
        .iter()
        .filter_map(|it| match it {
            Binder::Array(array) => Some(*array),
            _ => None,
        })
        .collect();
    let scalars = kernel.scalars.values().filter(|it| !it.inferred);
    let arrays = kernel.arrays.iter().filter(|(id, _)| !local.contains(id));
    let records = kernel.records.values().map(|it| it.name.clone());
    scalars
        .map(|it| it.name.clone())
        .chain(arrays.map(|(_, it)| it.name.clone()))
        .chain(records)
        .collect()
}

/// The names given so far, and the last number given for each base: without it a thousand locals of
/// one name would be compared with each other.
struct Names {
    taken: HashSet<String>,
    numbers: HashMap<String, u32>,
}

impl Names {
    fn make_unique(&mut self, name: &mut String) {
        if self.taken.insert(name.clone()) {
            return;
        }
        let number = self.numbers.entry(name.clone()).or_insert(1);
        loop {
            *number += 1;
            let candidate = format!("{name}_{number}");
            if self.taken.insert(candidate.clone()) {
                *name = candidate;
                return;
            }
        }
    }
}
