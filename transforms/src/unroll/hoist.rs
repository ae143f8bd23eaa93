//! Which loads an unrolled loop does first.

use crate::copy::Copying;
use crate::in_range::is_in_range;
use crate::tree::{for_each_expr_mut, scalar_for};
use std::collections::{BTreeSet, HashSet};
use strew_affine::visit::{self, Loop};
use strew_affine::{Access, AffineFor, Expr, Kernel, LocalId, Node, Overflow, Subscript, Variable};

/// So many loads are done early at most: more would wait in memory, since processors have only so
/// many registers.
const MOST_EARLY: usize = 8;

/// The loads of a body that may be done before all its copies.
pub(super) struct Hoisting<'k> {
    loads: Vec<&'k Access>,
}

impl<'k> Hoisting<'k> {
    /// Nothing is done early.
    pub(super) fn none() -> Self {
        Self { loads: Vec::new() }
    }

    /// Loads that each iteration of `target` does, that a subscript needs, that stay inside their
    /// array whatever the sizes are, and whose array is not written in the loop: done early they
    /// give the same value and never fault. None when those of `copies` copies are too many.
    pub(super) fn of(
        kernel: &Kernel,
        target: &'k AffineFor,
        around: &[Loop<'_>],
        copies: usize,
    ) -> Self {
        let written = written_in(&target.body);
        let loops = [around, &[Loop::Affine(target)]].concat();
        let is_movable = |access: &Access| {
            !written.contains(&access.array)
                && depends_only_on(access, &loops)
                && is_in_range(kernel, &loops, access)
        };
        let mut loads: Vec<&Access> = Vec::new();
        for access in loads_for_subscripts(&target.body) {
            if is_movable(access) && !loads.iter().any(|known| is_same(known, access)) {
                loads.push(access);
            }
        }
        if loads.len().saturating_mul(copies) > MOST_EARLY {
            loads.clear();
        }
        Self { loads }
    }

    /// Declares the loads of one copy and lets `block`, the copy, use them.
    pub(super) fn hoist(
        &self,
        kernel: &mut Kernel,
        copying: &Copying,
        block: &mut [Node],
        suffix: i64,
    ) -> Result<Vec<Node>, Overflow> {
        let mut declared = Vec::new();
        for load in &self.loads {
            let access = copying.access(load)?;
            let local = scalar_for(kernel, &access, suffix);
            let local = kernel.locals.alloc(local);
            for_each_expr_mut(block, &mut |expr| {
                if matches!(expr, Expr::Load(it) if is_same(it, &access)) {
                    *expr = Expr::Local(local);
                }
            });
            let value = Expr::Load(access);
            declared.push(Node::Declare { local, value });
        }
        Ok(declared)
    }
}

fn is_same(left: &Access, right: &Access) -> bool {
    left.array == right.array && left.subscripts == right.subscripts
}

/// The arrays that `body` writes; those that it allocates it fills with zeros.
fn written_in(body: &[Node]) -> HashSet<strew_affine::ArrayId> {
    let mut written = HashSet::from_iter(visit::allocated_arrays(body));
    visit::walk(body, &mut |node, _| {
        written.extend(node.written_elements().map(|access| access.array));
        if let Node::Forall(forall) = node {
            written.extend(forall.buffers().map(|(_, target)| target));
        }
    });
    written
}

/// Whether the subscripts are affine in the iterators of `loops`.
fn depends_only_on(access: &Access, loops: &[Loop<'_>]) -> bool {
    let is_known = |variable| match variable {
        Variable::Param(_) => true,
        Variable::Iter(iter) => loops.iter().any(|it| it.iter() == iter),
    };
    access.subscripts.iter().all(|subscript| match subscript {
        Subscript::Affine(expr) => {
            let mut known = true;
            expr.for_each_variable(&mut |variable| known &= is_known(variable));
            known
        }
        Subscript::Computed(_) => false,
    })
}

/// The loads that each run of `body` does and whose values go into a subscript, directly or through
/// declared scalars.
fn loads_for_subscripts(body: &[Node]) -> Vec<&Access> {
    let mut needed = BTreeSet::new();
    let mut found = Vec::new();
    // Backwards, so that what a scalar is needed for is known when its declaration comes.
    for node in body.iter().rev() {
        let mut here = Vec::new();
        match node {
            Node::Declare { local, value } => {
                let is_needed = needed.contains(local);
                search(value, is_needed, &mut here, &mut needed);
            }
            Node::Assign { .. } | Node::Reduce { .. } => {
                for value in node.expressions() {
                    search(value, false, &mut here, &mut needed);
                }
                for access in node.written_elements() {
                    search_subscripts(access, &mut here, &mut needed);
                }
            }
            _ => {}
        }
        found.push(here);
    }
    found.into_iter().rev().flatten().collect()
}

/// Looks through what is evaluated in any case. `in_subscript` says that the value goes into one.
fn search<'k>(
    expr: &'k Expr,
    in_subscript: bool,
    found: &mut Vec<&'k Access>,
    needed: &mut BTreeSet<LocalId>,
) {
    match expr {
        Expr::Load(access) => {
            search_subscripts(access, found, needed);
            if in_subscript {
                found.push(access);
            }
        }
        Expr::Local(local) if in_subscript => drop(needed.insert(*local)),
        Expr::And(first, _) | Expr::Or(first, _) | Expr::Select(first, _, _) => {
            search(first, in_subscript, found, needed);
        }
        _ => {
            for operand in expr.operands() {
                search(operand, in_subscript, found, needed);
            }
        }
    }
}

fn search_subscripts<'k>(
    access: &'k Access,
    found: &mut Vec<&'k Access>,
    needed: &mut BTreeSet<LocalId>,
) {
    for subscript in &access.subscripts {
        if let Subscript::Computed(expr) = subscript {
            search(expr, true, found, needed);
        }
    }
}
