//! `while` loops that end by themselves, and soon: a variable of 32 bits goes by ones to a bound
//! that stays, as in a search that `break` ends sooner, and a turn has no loop in it. They need not
//! ask in each turn whether the call is to stop.

use super::leave::flag;
use super::weight::calls;
use strew_affine::visit::{Loop, walk};
use strew_affine::{CompareOp, Expr, Kernel, LocalId, Node, Place};

/// Whether a loop over `body` while `condition` holds has no more turns than a variable has steps,
/// none of which takes long.
pub(super) fn is_bounded(kernel: &Kernel, condition: &Expr, body: &[Node]) -> bool {
    let mut is_short = calls(body) == 0;
    walk(body, &mut |node, _| {
        is_short &= Loop::of(node).is_none() && !matches!(node, Node::ScfWhile { .. });
    });
    is_short && has_steps(kernel, condition, body)
}

fn has_steps(kernel: &Kernel, condition: &Expr, body: &[Node]) -> bool {
    match condition {
        Expr::And(left, right) => {
            has_steps(kernel, left, body) || is_bounded_by(kernel, right, flag(condition), body)
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
        Expr::Local(variable) if kernel.locals[variable].ty.bytes() <= 4 => {
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
            condition,
            then,
            otherwise,
            ..
        }) => {
            let goes_on = matches!(condition, Expr::Local(it) if Some(*it) == going_on);
            goes_on && otherwise.is_empty() && steps(then, variable, going_on)
        }
        _ => false,
    }
}

fn is_set_once(body: &[Node], variable: LocalId) -> bool {
    let mut times = 0;
    walk(body, &mut |node, _| {
        let places = node.places().iter();
        times += places.filter(|it| **it == Place::Local(variable)).count();
    });
    times == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::text;

    fn is_bounded_in(condition: &str, body: &str) -> bool {
        let source = format!(
            "kernel @k(n: i32, m: i64, x: f64[m]) {{
               var i: i32 = 0 var j: i64 = 0 var go: bool = true
               scf.while {condition} {{ {body} }}
             }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let found = kernel.body.iter().find_map(|node| match node {
            Node::ScfWhile {
                condition, body, ..
            } => Some(is_bounded(&kernel, condition, body)),
            _ => None,
        });
        found.expect("a loop")
    }

    #[test]
    fn searches_are_bounded_and_what_may_go_on_is_not() {
        let search = "scf.if x[i] < 0.0 { go = false } scf.if go { i reduce(add) 1 }";
        assert!(is_bounded_in("go && i < n", search));
        assert!(is_bounded_in("i < 9", "x[i] = 0.0 i reduce(add) 1"));
        for (condition, body) in [
            (
                "go && i < n",
                "scf.if go { i reduce(add) 1 } else { go = true }",
            ),
            ("go && j < m", "scf.if go { j reduce(add) 1 }"),
            ("i < n", "i reduce(add) 2"),
            ("i < n", "i reduce(add) -1"),
            ("i < n", "scf.if x[i] < 0.0 { i reduce(add) 1 }"),
            ("i < n", "i = 0 i reduce(add) 1"),
            ("i < n", "x[i] = exp(x[i]) i reduce(add) 1"),
            (
                "i < n",
                "affine.for k in 0..m { x[k] = 0.0 } i reduce(add) 1",
            ),
            ("f64(i) < x[0]", "i reduce(add) 1"),
        ] {
            assert!(!is_bounded_in(condition, body), "{condition}: {body}");
        }
    }
}
