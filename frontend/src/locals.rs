//! The locals that expressions, nodes and kernels mention.

use strew_affine::visit::for_each_local_read;
use strew_affine::{Expr, Kernel, LocalId, Node, Place, Subscript};

/// Every use of a local by the node itself, as a value or as a place.
pub(crate) fn for_each_own_use(node: &Node, visit: &mut impl FnMut(LocalId)) {
    for_each_local_read(node, visit);
    for place in node.places() {
        if let Place::Local(local) = place {
            visit(*local);
        }
    }
}

/// Every use of a local in `kernel`, as a value, as a place or in the result.
pub(crate) fn for_each_use_in_mut(kernel: &mut Kernel, visit: &mut impl FnMut(&mut LocalId)) {
    for_each_use_mut(&mut kernel.body, visit);
    if let Some(result) = &mut kernel.result {
        for_each_local_mut(result, visit);
    }
}

/// Every use of a local in `body`, as a value or as a place.
pub(crate) fn for_each_use_mut(body: &mut [Node], visit: &mut impl FnMut(&mut LocalId)) {
    for node in body {
        for_each_own_use_mut(node, visit);
        for block in node.blocks_mut() {
            for_each_use_mut(block, visit);
        }
    }
}

/// Every use of a local by the node itself, as a value or as a place.
pub(crate) fn for_each_own_use_mut(node: &mut Node, visit: &mut impl FnMut(&mut LocalId)) {
    for expr in node.expressions_mut() {
        for_each_local_mut(expr, visit);
    }
    for place in node.places_mut() {
        match place {
            Place::Local(local) => visit(local),
            Place::Element(access) => for_each_local_in_mut(&mut access.subscripts, visit),
        }
    }
}

/// Every use of a local in `expr`.
pub(crate) fn for_each_local_mut(expr: &mut Expr, visit: &mut impl FnMut(&mut LocalId)) {
    match expr {
        Expr::Local(local) => visit(local),
        Expr::Load(access) => for_each_local_in_mut(&mut access.subscripts, visit),
        other => {
            for operand in other.operands_mut() {
                for_each_local_mut(operand, visit);
            }
        }
    }
}

fn for_each_local_in_mut(subscripts: &mut [Subscript], visit: &mut impl FnMut(&mut LocalId)) {
    for subscript in subscripts {
        if let Subscript::Computed(expr) = subscript {
            for_each_local_mut(expr, visit);
        }
    }
}
