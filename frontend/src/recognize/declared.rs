//! Reductions by combiners that the file declares: `out[k] = lae(out[k], x)`.
//!
//! The statement and the declaration are lowered in the same way, calls put in, and what the
//! statement computes is compared with what is declared: they are the same expression, in which
//! what is held stands for `a` and one and the same value for `b`.

use super::evaluated::{Evaluated, SizesByForm};
use super::held::Held;
use super::symbolic::Symbolic;
use std::collections::HashSet;
use strew_affine::visit::{for_each_local, walk};
use strew_affine::{Combiner, Expr, Kernel, LocalId, Node, Operand, Place, Span, Subscript};

/// `lets`, which nothing but `place = value` behind them reads, and that statement, if it is a
/// reduction by one of `combiners`.
pub(crate) fn declared(
    kernel: &Kernel,
    combiners: &[Combiner],
    lets: &[Node],
    place: &Place,
    value: &Expr,
    span: Span,
) -> Option<Vec<Node>> {
    if combiners.is_empty() {
        return None;
    }
    let mut symbolic = Symbolic::new(kernel);
    symbolic.run(lets).ok()?;
    let value = symbolic.value(value).ok()?;
    let plain = plain_place(&symbolic, place)?;
    let held = Held::new(kernel, &plain)?;
    let (combiner, incoming) = combiners.iter().find_map(|combiner| {
        let declared = combiner.declaration()?;
        let incoming = incoming(&held, declared.expression()?, &value);
        let incoming = incoming.filter(|_| declared.element() == held.ty)?;
        Some((combiner, incoming))
    })?;
    let split = Split::of(&held, &symbolic, lets)?;
    let kept: Vec<_> = split
        .kept
        .iter()
        .map(|(local, _)| (*local, symbolic.value(&Expr::Local(*local))))
        .collect();
    let is_one_of = |value: &Expr| {
        value.is_same(incoming) || plain_subscripts(&plain).any(|it| it.is_same(value))
    };
    let is_evaluated =
        |(_, value): &(LocalId, Result<Expr, _>)| value.as_ref().is_ok_and(is_one_of);
    let same = kept
        .iter()
        .find(|(_, value)| value.as_ref().is_ok_and(|it| it.is_same(incoming)));
    if same.is_none() && !may_be_evaluated(kernel, &value, incoming) {
        return None;
    }
    // What the update evaluates anyway needs no name.
    if kept.iter().all(is_evaluated) {
        let update = (combiner.clone(), incoming.clone());
        return Some(vec![super::reduction(plain, update, span)]);
    }
    let incoming = match same {
        Some((local, _)) => Expr::Local(*local),
        None => incoming.clone(),
    };
    let mentions_dropped = |expr: &Expr| {
        let mut mentions = false;
        for_each_local(expr, &mut |it| mentions |= split.dropped.contains(&it));
        mentions
    };
    let is_found_by_dropped = match place {
        Place::Element(access) => mentions_dropped(&Expr::Load(access.clone())),
        Place::Local(local) => split.dropped.contains(local),
    };
    if mentions_dropped(&incoming) || is_found_by_dropped {
        return None;
    }
    let kept = split.kept.into_iter().map(|(_, node)| node.clone());
    let reduction = super::reduction(place.clone(), (combiner.clone(), incoming), span);
    Some(kept.chain([reduction]).collect())
}

/// `place` without the names of what its subscripts were computed to.
fn plain_place(symbolic: &Symbolic<'_>, place: &Place) -> Option<Place> {
    let Place::Element(access) = place else {
        return Some(place.clone());
    };
    match symbolic.value(&Expr::Load(access.clone())).ok()? {
        Expr::Load(access) => Some(Place::Element(access)),
        _ => None,
    }
}

fn plain_subscripts(place: &Place) -> impl Iterator<Item = &Expr> {
    let subscripts = match place {
        Place::Element(access) => access.subscripts.as_slice(),
        Place::Local(_) => &[],
    };
    subscripts.iter().filter_map(|it| match it {
        Subscript::Computed(index) => Some(index),
        Subscript::Affine(_) => None,
    })
}

/// What stands for `b` where `value` is `body` of what is held and that.
fn incoming<'e>(held: &Held<'_>, body: &Expr, value: &'e Expr) -> Option<&'e Expr> {
    let mut found = None;
    let matches = matches(held, body, value, &mut found);
    found.filter(|it| matches && held.is_unread_by(it))
}

fn matches<'e>(
    held: &Held<'_>,
    body: &Expr,
    value: &'e Expr,
    incoming: &mut Option<&'e Expr>,
) -> bool {
    let head = match (body, value) {
        (Expr::Operand(Operand::Held(_)), value) => return value.is_same(&held.load),
        (Expr::Operand(Operand::Incoming(_)), value) => {
            let first = *incoming.get_or_insert(value);
            return value.ty(held.kernel) == held.ty && value.is_same(first);
        }
        (Expr::Constant(body), Expr::Constant(value)) => return body == value,
        (Expr::Unary(body, _), Expr::Unary(value, _)) => body == value,
        (Expr::Binary(body, ..), Expr::Binary(value, ..)) => body == value,
        (Expr::Compare(body, ..), Expr::Compare(value, ..)) => body == value,
        (Expr::Call(body, _), Expr::Call(value, _)) => body == value,
        (Expr::Cast(body, _), Expr::Cast(value, _)) => body == value,
        (Expr::And(..), Expr::And(..))
        | (Expr::Or(..), Expr::Or(..))
        | (Expr::Select(..), Expr::Select(..)) => true,
        _ => false,
    };
    let (bodies, values) = (body.operands(), value.operands());
    let mut pairs = bodies.into_iter().zip(values.iter().copied());
    head && body.operands().len() == values.len()
        && pairs.all(|(body, value)| matches(held, body, value, incoming))
}

/// Whether `incoming`, which is a part of `value`, may be evaluated whatever the values are.
fn may_be_evaluated(kernel: &Kernel, value: &Expr, incoming: &Expr) -> bool {
    let mut sizes = SizesByForm;
    Evaluated::by(kernel, value, &mut sizes).cannot_fault(incoming)
}

/// Statements in front of an update: those that stay, and what the others set.
struct Split<'n> {
    kept: Vec<(LocalId, &'n Node)>,
    dropped: HashSet<LocalId>,
}

impl<'n> Split<'n> {
    /// `None` where one that would not stay could fault, in another way than by reading what is
    /// held.
    fn of(held: &Held<'_>, symbolic: &Symbolic<'_>, nodes: &'n [Node]) -> Option<Self> {
        let mut split = Self {
            kept: Vec::new(),
            dropped: HashSet::new(),
        };
        for node in nodes {
            match node {
                Node::Declare { local, value } if split.stays(held, *local, value) => {
                    split.kept.push((*local, node));
                }
                _ if cannot_fault(held, symbolic, node) => split.drop(node),
                _ => return None,
            }
        }
        Some(split)
    }

    fn stays(&self, held: &Held<'_>, local: LocalId, value: &Expr) -> bool {
        let mut is_apart = !held.kernel.locals[local].mutable && held.is_unread_by(value);
        for_each_local(value, &mut |it| is_apart &= !self.dropped.contains(&it));
        is_apart
    }

    fn drop(&mut self, node: &Node) {
        walk(std::slice::from_ref(node), &mut |node, _| {
            if let Node::Declare { local, .. } = node {
                self.dropped.insert(*local);
            }
        });
    }
}

/// Whether `node`, with all that is in it, cannot fault but by reading what is held.
fn cannot_fault(held: &Held<'_>, symbolic: &Symbolic<'_>, node: &Node) -> bool {
    let mut is_safe = true;
    walk(std::slice::from_ref(node), &mut |node, _| {
        for expr in node.expressions() {
            is_safe &= reads_only_held(held, symbolic, expr);
            is_safe &= !divides(held.kernel, expr);
        }
    });
    is_safe
}

fn reads_only_held(held: &Held<'_>, symbolic: &Symbolic<'_>, expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) => {
            let plain = symbolic.value(expr);
            plain.is_ok_and(|it| it.is_same(&held.load))
        }
        other => {
            let mut operands = other.operands().into_iter();
            operands.all(|it| reads_only_held(held, symbolic, it))
        }
    }
}

/// Whether integers are divided somewhere in `expr` by what may be 0.
pub(crate) fn divides(kernel: &Kernel, expr: &Expr) -> bool {
    let here = expr.may_divide_by_zero(kernel);
    here || expr.operands().into_iter().any(|it| divides(kernel, it))
}
