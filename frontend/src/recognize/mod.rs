//! Which statements are reductions.
//!
//! This looks at one statement at a time and knows nothing of loops or dependences. A spelling is a reduction only if its C
//! meaning, conversions included, equals that of the combiner on NaN, ties and signed zeros; see [`strew_affine::Combine`]. What
//! C evaluates only when a condition holds may only be evaluated always when it cannot fault.

mod behind;
mod extremum;
mod held;
mod operator;
mod pair;
mod saturating;

pub(crate) use behind::behind;
use held::Held;
use strew_affine::{Combiner, Expr, Kernel, Node, Place, Span};

/// How a place is combined with what.
type Update = (Combiner, Expr);

/// `place = value` as a reduction if it is one, else as the assignment it is written as.
pub(crate) fn assignment(kernel: &Kernel, place: Place, value: Expr, span: Span) -> Node {
    let update = Held::new(kernel, &place).and_then(|held| {
        held.counted_by_comparison(&value)
            .or_else(|| held.updated_by_operator(&value))
            .or_else(|| held.counted_by_select(&value))
            .or_else(|| held.updated_by_select(&value))
            .or_else(|| held.updated_by_call(&value))
    });
    match update {
        Some(update) => reduction(place, update, span),
        None => Node::Assign { place, value, span },
    }
}

/// `if (condition) body` as a reduction if it is one, perhaps under a part of the condition.
pub(crate) fn guarded(kernel: &Kernel, condition: &Expr, body: &[Node]) -> Option<Node> {
    if let Expr::And(first, last) = condition {
        let reduction = guarded(kernel, last, body)?;
        return Some(Node::ScfIf {
            condition: (**first).clone(),
            then: vec![reduction],
            otherwise: vec![],
        });
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
        [first, second] => {
            let pair = |first, second| pair::replaced_together(kernel, condition, first, second);
            pair(first, second).or_else(|| pair(second, first))
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
