//! Removes what computes values that nothing reads: declarations of locals and assignments to them.

use std::collections::{HashMap, HashSet};
use strew_affine::visit::{for_each_local, for_each_local_read};
use strew_affine::{BinaryOp, Expr, Factor, Kernel, LocalId, Node, Place, ScalarId, Variable};

/// Removes from `kernel` what nothing reads and what cannot fault. Locals that are never set again
/// become `let`.
pub(super) fn remove_unused(kernel: &mut Kernel) {
    let mut reads = Reads::default();
    strew_affine::visit::walk(&kernel.body, &mut |node, _| {
        for_each_read(node, &mut |local| {
            *reads.counts.entry(local).or_default() += 1
        });
    });
    if let Some(result) = &kernel.result {
        for_each_local(result, &mut |local| {
            *reads.counts.entry(local).or_default() += 1
        });
    }
    remove(&mut kernel.body, &mut reads, &[]);
    for (_, local) in kernel.locals.iter_mut() {
        local.mutable = false;
    }
    strew_affine::visit::walk(&kernel.body, &mut |node, _| {
        for place in node.places() {
            if let Place::Local(local) = place {
                kernel.locals[*local].mutable = true;
            }
        }
    });
}

/// What nodes do with locals.
#[derive(Default)]
struct Reads {
    /// How often each is read.
    counts: HashMap<LocalId, usize>,
    /// Those that are written by nodes that stay.
    written: HashSet<LocalId>,
}

impl Reads {
    /// Whether somebody but `node` reads `local`.
    fn is_read(&self, local: LocalId, node: &Node) -> bool {
        let own = decides_by(node).filter(|it| *it == local).count();
        let count = self.counts.get(&local);
        self.written.contains(&local) || count.is_some_and(|count| *count > own)
    }
}

/// From the last to the first, so that what only something removed read is removed too. The
/// parameters `positive` are greater than zero here.
fn remove(body: &mut Vec<Node>, reads: &mut Reads, positive: &[ScalarId]) {
    let mut kept = Vec::with_capacity(body.len());
    for mut node in std::mem::take(body).into_iter().rev() {
        let inside: Vec<_> = positive.iter().copied().chain(bound(&node)).collect();
        for block in node.blocks_mut().into_iter().rev() {
            remove(block, reads, &inside);
        }
        let locals = set_by(&node);
        let is_removed = sets_locals_alone(&node)
            && !locals.iter().any(|it| reads.is_read(*it, &node))
            && !node
                .expressions()
                .into_iter()
                .any(|it| can_fault_where(it, positive));
        if is_removed {
            for_each_read(&node, &mut |local| {
                if let Some(count) = reads.counts.get_mut(&local) {
                    *count -= 1;
                }
            });
        } else {
            // What is still written is still declared.
            reads.written.extend(locals);
            kept.push(node);
        }
    }
    kept.reverse();
    *body = kept;
}

/// The locals that the node itself gives values.
fn set_by(node: &Node) -> Vec<LocalId> {
    match node {
        Node::Declare { local, .. } => vec![*local],
        _ => node.places().iter().filter_map(Place::local).collect(),
    }
}

/// The locals of an update of several places together, such as the least number and where that is:
/// what one of them holds decides what the others become.
fn decides_by(node: &Node) -> impl Iterator<Item = LocalId> + '_ {
    let places = match node {
        Node::Reduce { places, .. } if places.len() > 1 => places.as_slice(),
        _ => &[],
    };
    places.iter().filter_map(Place::local)
}

/// Whether the node gives locals values, and does nothing else.
fn sets_locals_alone(node: &Node) -> bool {
    let places = node.places();
    let are_locals = !places.is_empty() && places.iter().all(|it| it.local().is_some());
    matches!(node, Node::Declare { .. }) || are_locals
}

/// Whether to compute `expr` may end in a fault.
pub(super) fn can_fault(expr: &Expr) -> bool {
    can_fault_where(expr, &[])
}

/// The same where the parameters `positive` are greater than zero.
fn can_fault_where(expr: &Expr, positive: &[ScalarId]) -> bool {
    let faults = match expr {
        Expr::Load(_) => true,
        Expr::Binary(_, _, divisor, _) if is_one_of(divisor, positive) => false,
        Expr::Binary(op, _, divisor, _) => may_divide_by_zero(*op, divisor),
        _ => false,
    };
    let mut operands = expr.operands().into_iter();
    faults || operands.any(|it| can_fault_where(it, positive))
}

fn is_one_of(expr: &Expr, positive: &[ScalarId]) -> bool {
    matches!(expr, Expr::Param(it) if positive.contains(it))
}

/// The parameter below which the iterator of a loop stays that begins at zero or behind: where it
/// turns, that is greater than zero.
fn bound(node: &Node) -> Option<ScalarId> {
    let Node::AffineFor(it) = node else {
        return None;
    };
    let lower = it.lower.as_single()?.as_constant()?;
    let upper = it.upper.as_single()?;
    let [term] = upper.terms() else {
        return None;
    };
    match term.factors.as_slice() {
        [Factor::Variable(Variable::Param(id))]
            if term.coefficient == 1 && lower >= 0 && upper.constant() <= 0 =>
        {
            Some(*id)
        }
        _ => None,
    }
}

/// Whether `op` can fault with this right operand.
pub(super) fn may_divide_by_zero(op: BinaryOp, divisor: &Expr) -> bool {
    matches!(op, BinaryOp::Div | BinaryOp::Rem) && divisor.as_divisor().is_none()
}

/// Every local that the node itself reads; one that it sets does not count as read by that, unless
/// it decides about others.
fn for_each_read(node: &Node, visit: &mut impl FnMut(LocalId)) {
    let own = set_by(node);
    for_each_local_read(node, &mut |local| {
        if !own.contains(&local) {
            visit(local);
        }
    });
    decides_by(node).for_each(visit);
}
