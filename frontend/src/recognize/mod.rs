//! Which statements are reductions.
//!
//! This looks at one statement at a time and knows nothing of loops or dependences. A spelling is a
//! reduction only if its C meaning, conversions included, equals that of the combiner on NaN, ties
//! and signed zeros; see [`strew_affine::Combine`]. What C evaluates only when a condition holds
//! may only be evaluated always when it cannot fault.

mod behind;
mod chain;
mod declared;
mod evaluated;
mod extremum;
mod held;
mod operator;
mod pair;
mod saturating;
mod symbolic;
mod truth;

pub(crate) use behind::behind;
pub(crate) use declared::{declared, divides};
pub(crate) use evaluated::{Sizes, SizesByForm};
pub(crate) use held::without_conversions;
pub(crate) use pair::replacing_when;
pub(crate) use symbolic::{MOST_OPERATIONS, NoExpression, Symbolic, replaced};
pub(crate) use truth::flag;

use evaluated::Evaluated;
use held::Held;
use strew_affine::{Block, Combiner, Expr, Kernel, Node, Place, Span, Subscript};

/// How a place is combined with what.
type Update = (Combiner, Expr);

/// `place = value` as reductions if it is any, else as the assignment it is written as.
pub(crate) fn assignment(kernel: &Kernel, place: Place, value: Expr, span: Span) -> Vec<Node> {
    let updates = Held::new(kernel, &place).and_then(|held| held.updates(&value));
    match updates {
        Some(updates) => {
            let reductions = updates.into_iter();
            let reductions = reductions.map(|it| reduction(place.clone(), it, span));
            reductions.collect()
        }
        None => vec![Node::Assign { place, value, span }],
    }
}

/// `place = value` as one reduction, if it is that but for reading other elements of the array, and
/// data say which element it is for. Whether that may run in another order is for those to say who
/// know the loops around.
pub(crate) fn scattered(kernel: &Kernel, place: &Place, value: &Expr, span: Span) -> Option<Node> {
    let Place::Element(access) = place else {
        return None;
    };
    let is_computed = |it: &Subscript| matches!(it, Subscript::Computed(_));
    if !access.subscripts.iter().any(is_computed) {
        return None;
    }
    let updates = Held::among_others(kernel, place)?.updates(value)?;
    let [update] = <[Update; 1]>::try_from(updates).ok()?;
    Some(reduction(place.clone(), update, span))
}

impl Held<'_> {
    /// The updates, one after the other, that `held = value` is.
    fn updates(&self, value: &Expr) -> Option<Vec<Update>> {
        let one = self
            .updated_truth(value)
            .or_else(|| self.updated_logically(value))
            .or_else(|| self.counted_by_comparison(value))
            .or_else(|| self.updated_by_operator(value))
            .or_else(|| self.counted_by_select(value))
            .or_else(|| self.counted_by_clamp(value))
            .or_else(|| self.updated_by_select(value))
            .or_else(|| self.updated_by_call(value))
            .or_else(|| self.updated_by_sum(value));
        match one {
            Some(one) => Some(vec![one]),
            None => self.updated_step_by_step(value),
        }
    }
}

/// `if (condition) then else otherwise`, a reduction if it is one, for a condition at `span`.
pub(crate) fn branch(
    kernel: &Kernel,
    (condition, span): (Expr, Span),
    then: Block,
    otherwise: Block,
) -> Node {
    let sizes = &mut SizesByForm;
    let reduction = match otherwise.is_empty() {
        true => guarded(kernel, (&condition, span), &then, sizes),
        false => None,
    };
    reduction.unwrap_or(Node::ScfIf {
        condition,
        then,
        otherwise,
        span,
    })
}

/// `if (condition) body` as a reduction if it is one, perhaps under a part of the condition, which
/// stands at `span`.
pub(crate) fn guarded(
    kernel: &Kernel,
    (condition, span): (&Expr, Span),
    body: &[Node],
    sizes: &mut dyn Sizes,
) -> Option<Node> {
    if let Expr::And(first, last) = condition {
        if let Some(reduction) = guarded(kernel, (last, span), body, sizes) {
            return Some(Node::ScfIf {
                condition: (**first).clone(),
                then: [reduction].into(),
                otherwise: Block::default(),
                span,
            });
        }
        let reduction = guarded(kernel, (first, span), body, sizes)?;
        let mut evaluated = Evaluated::by_all(kernel, first, sizes);
        return evaluated
            .cannot_fault(last)
            .then(|| only_where(kernel, reduction, last))
            .flatten();
    }
    match body {
        [Node::Assign { place, value, span }] => {
            let update = Held::new(kernel, place)?.replaced_when(condition, value)?;
            Some(reduction(place.clone(), update, *span))
        }
        [
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            },
        ] => match (places.as_slice(), values.as_slice()) {
            ([place], [value]) => {
                let held = Held::new(kernel, place)?;
                let update = held.counted_when(condition, combiner, value)?;
                Some(reduction(place.clone(), update, *span))
            }
            _ => None,
        },
        [first, second] => pair::replaced_together(kernel, condition, first, second, sizes)
            .or_else(|| pair::replaced_together(kernel, condition, second, first, sizes)),
        _ => None,
    }
}

/// `reduction` where `condition` holds too, tested after what decides on the reduction: elsewhere
/// its place is combined with the identity, so that the subscripts of the place are still looked
/// at.
fn only_where(kernel: &Kernel, reduction: Node, condition: &Expr) -> Option<Node> {
    match reduction {
        Node::ScfIf {
            condition: outer,
            then,
            otherwise,
            span,
        } => {
            let [inner] = <[Node; 1]>::try_from(Vec::from(then)).ok()?;
            Some(Node::ScfIf {
                condition: outer,
                then: [only_where(kernel, inner, condition)?].into(),
                otherwise,
                span,
            })
        }
        Node::Reduce {
            places,
            combiner,
            mut values,
            span,
        } => {
            for place in &places {
                Held::new(kernel, place).filter(|held| held.is_unread_by(condition))?;
            }
            let types: Vec<_> = values.iter().map(|it| it.ty(kernel)).collect();
            // The first part decides whether the others are taken.
            let neutral = Expr::Constant(*combiner.identity(&types)?.first()?);
            let key = values.first_mut()?;
            *key = Expr::select(condition.clone(), key.clone(), neutral);
            Some(Node::Reduce {
                places,
                combiner,
                values,
                span,
            })
        }
        _ => None,
    }
}

fn reduction(place: Place, (combiner, value): Update, span: Span) -> Node {
    Node::Reduce {
        places: vec![place],
        combiner,
        values: vec![value],
        span,
    }
}
