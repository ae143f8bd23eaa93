//! Scalars that live outside of a loop and are set in it.

use crate::address::find_variable;
use crate::witness;
use crate::{LoopPath, Reason};
use strew_affine::dependence::Target;
use strew_affine::visit;
use strew_affine::{AffineFor, Kernel, LocalId, Node, Place, Span};

/// The scalars that live outside of the loop, each with a statement in the loop that sets it.
pub(crate) fn set_in(target: &AffineFor) -> Vec<(LocalId, &Node)> {
    let declared = declared_in(&target.body);
    let mut set = Vec::new();
    visit::walk(&target.body, &mut |node, _| {
        set.extend(node.places().iter().filter_map(|place| match place {
            Place::Local(local) => Some((*local, node)),
            Place::Element(_) => None,
        }));
    });
    set.retain(|(local, _)| !declared.contains(local));
    set
}

/// The scalars that `nodes` declare, in all their blocks.
pub(crate) fn declared_in(nodes: &[Node]) -> Vec<LocalId> {
    let mut declared = Vec::new();
    visit::walk(nodes, &mut |node, _| {
        if let Node::Declare { local, .. } = node {
            declared.push(*local);
        }
    });
    declared
}

/// That the loop sets no scalar that lives outside of it.
pub(crate) fn check_none_set(
    kernel: &Kernel,
    path: &LoopPath,
    target: &AffineFor,
) -> Result<(), Reason> {
    match set_in(target).first() {
        Some((local, node)) => Err(carried(kernel, path, target, (*local, span_of(node)))),
        None => Ok(()),
    }
}

/// That iterations of the loop meet in a scalar, which a statement at `span` sets.
pub(crate) fn carried(
    kernel: &Kernel,
    path: &LoopPath,
    target: &AffineFor,
    (local, span): (LocalId, Span),
) -> Reason {
    let witness = witness::find_scalar(kernel, target.iter, local);
    Reason::CarriedScalar {
        path: path.clone(),
        name: kernel.locals[local].name.clone(),
        span,
        witness: witness.map(Box::new),
    }
}

/// The scalars called `names` that live outside of the loop and are set in it, and what says that
/// its iterations meet in the first of them.
///
/// # Errors
/// There is none, or one is not set there.
pub(crate) fn named_in<'k>(
    kernel: &'k Kernel,
    (path, target): (&'k LoopPath, &'k AffineFor),
    names: &[String],
) -> Result<(Vec<LocalId>, impl Fn() -> Reason + 'k), Reason> {
    let set = set_in(target);
    let find = |name: &String| {
        let variable = find_variable(kernel, name)?;
        let mut set = set.iter().copied();
        let found = set.find(|(it, _)| variable == Target::Local(*it));
        found.ok_or_else(|| Reason::NotWritten {
            path: path.clone(),
            array: name.clone(),
        })
    };
    let found: Vec<_> = names.iter().map(find).collect::<Result<_, _>>()?;
    let (first, node) = *found.first().ok_or(Reason::BadNumber {
        what: "the number of scalars",
        given: 0,
        least: 1,
        most: u64::MAX,
    })?;
    let locals = found.into_iter().map(|(local, _)| local).collect();
    Ok((locals, move || {
        carried(kernel, path, target, (first, span_of(node)))
    }))
}

/// Where a statement that sets something stands.
pub(crate) fn span_of(node: &Node) -> Span {
    match node {
        Node::Assign { span, .. } | Node::Reduce { span, .. } => *span,
        _ => Span::default(),
    }
}
