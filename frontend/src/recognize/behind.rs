//! Reductions whose operands were computed in front of the statement: what `h[k] = larger(h[k], x)`
//! becomes when the body of `larger` is put in.

use super::held::Held;
use strew_affine::visit::reads;
use strew_affine::{Expr, Kernel, LocalId, Node, Place, Span};

/// `lets`, which nothing but `place = value` behind them reads, and that statement, if it is
/// reductions once what was there is read in it and not in a `let`.
pub(crate) fn behind(
    kernel: &Kernel,
    lets: &[Node],
    place: &Place,
    value: &Expr,
    span: Span,
) -> Option<Vec<Node>> {
    let held = Held::new(kernel, place)?;
    let mut reads = Vec::new();
    let mut nodes = Vec::with_capacity(lets.len());
    for node in lets {
        let Node::Declare { local, value } = node else {
            return None;
        };
        if kernel.locals[*local].mutable {
            return None;
        }
        if held.is_held(value) {
            reads.push((*local, value));
        } else if held.is_unread_by(value) && !mentions(value, &reads) {
            nodes.push(node.clone());
        } else {
            return None;
        }
    }
    if reads.is_empty() {
        return None;
    }
    let mut value = value.clone();
    substitute(&mut value, &reads);
    if mentions(&value, &reads) {
        // In a subscript, where nothing is looked for.
        return None;
    }
    let statements = super::assignment(kernel, place.clone(), value, span);
    let is_reduced = |it: &Node| matches!(it, Node::Reduce { .. });
    if !statements.iter().all(is_reduced) {
        return None;
    }
    nodes.extend(statements);
    Some(nodes)
}

fn mentions(expr: &Expr, locals: &[(LocalId, &Expr)]) -> bool {
    locals.iter().any(|(local, _)| reads(expr, *local))
}

fn substitute(expr: &mut Expr, by: &[(LocalId, &Expr)]) {
    if let Expr::Local(local) = expr
        && let Some((_, value)) = by.iter().find(|(it, _)| it == local)
    {
        *expr = (*value).clone();
        return;
    }
    for operand in expr.operands_mut() {
        substitute(operand, by);
    }
}
