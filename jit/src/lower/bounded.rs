//! `while` loops that end by themselves: a variable goes by ones to a bound that stays, as in a
//! search that `break` ends sooner. Like loops with iterators they need not ask in each turn
//! whether the call is to stop.

use super::leave::flag;
use strew_affine::visit::walk;
use strew_affine::{CompareOp, Expr, Kernel, LocalId, Node, Place};

/// Whether a loop over `body` while `condition` holds has no more turns than a variable has steps.
pub(super) fn is_bounded(kernel: &Kernel, condition: &Expr, body: &[Node]) -> bool {
    match condition {
        Expr::And(left, right) => {
            is_bounded(kernel, left, body) || is_bounded_by(kernel, right, flag(condition), body)
        }
        _ => is_bounded_by(kernel, condition, None, body),
    }
}

/// The same of one part of a condition, another part of which may ask for `flag`.
fn is_bounded_by(kernel: &Kernel, condition: &Expr, flag: Option<LocalId>, body: &[Node]) -> bool {
    let Expr::Compare(CompareOp::Lt, left, right) = condition else {
        return false;
    };
    let stays = match **right {
        Expr::Constant(_) | Expr::Param(_) => true,
        Expr::Local(end) => !kernel.locals[end].mutable,
        _ => false,
    };
    match **left {
        Expr::Local(variable) => {
            stays && steps(body, variable, flag) && is_set_once(body, variable)
        }
        _ => false,
    }
}

/// Whether each turn but the last one ends with a step of `variable`.
fn steps(body: &[Node], variable: LocalId, going_on: Option<LocalId>) -> bool {
    match body.last() {
        Some(Node::Reduce {
            places,
            combiner,
            values,
            ..
        }) => {
            let one = |it: &Expr| matches!(it, Expr::Constant(it) if it.as_integer() == Some(1));
            let is_it = places.as_slice() == [Place::Local(variable)];
            is_it && combiner.name() == "add" && values.first().is_some_and(one)
        }
        Some(Node::ScfIf {
            condition, then, ..
        }) => {
            let goes_on = matches!(condition, Expr::Local(it) if Some(*it) == going_on);
            goes_on && steps(then, variable, going_on)
        }
        _ => false,
    }
}

fn is_set_once(body: &[Node], variable: LocalId) -> bool {
    let mut times = 0;
    walk(body, &mut |node, _| {
        let places = node.places().into_iter();
        times += places.filter(|it| **it == Place::Local(variable)).count();
    });
    times == 1
}
