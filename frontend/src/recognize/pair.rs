//! An extremum and what comes with it: `if (x > best) { best = x; arg = i; }`.

use super::evaluated::{Evaluated, Sizes};
use super::held::Held;
use strew_affine::{Combiner, CompareOp, Expr, Kernel, Node, Place};

/// `if (condition) { best = x; arg = payload; }`, where `first` sets the best and `second` what
/// comes with it.
pub(super) fn replaced_together(
    kernel: &Kernel,
    condition: &Expr,
    first: &Node,
    second: &Node,
    sizes: &mut dyn Sizes,
) -> Option<Node> {
    let (
        Node::Assign { place, value, span },
        Node::Assign {
            place: companion,
            value: payload,
            span: other,
        },
    ) = (first, second)
    else {
        return None;
    };
    let (best, arg) = (Held::new(kernel, place)?, Held::new(kernel, companion)?);
    let (op, compared) = best.compared(condition)?;
    let combiner = replacing_when(op)?;
    let incoming = best.stored_as_compared(compared, value)?;
    let values = vec![incoming, payload.clone()];
    let are_apart = is_other_place(place, companion)
        && best.is_unread_by_subscripts_of(companion)
        && arg.is_unread_by_subscripts_of(place)
        && values
            .iter()
            .all(|it| best.is_unread_by(it) && arg.is_unread_by(it));
    if !are_apart {
        return None;
    }
    let mut evaluated = Evaluated::by(kernel, condition, sizes);
    let is_safe = evaluated.covers_companion(place, companion) && evaluated.cannot_fault(payload);
    is_safe.then_some(Node::Reduce {
        places: vec![place.clone(), companion.clone()],
        combiner,
        values,
        span: span.to(*other),
    })
}

/// What replaces an extremum and what comes with it where `op` holds of what is incoming and what
/// is held.
pub(crate) fn replacing_when(op: CompareOp) -> Option<Combiner> {
    Combiner::from_name(match op {
        CompareOp::Gt => "argmax",
        CompareOp::Lt => "argmin",
        CompareOp::Ge => "argmax_last",
        CompareOp::Le => "argmin_last",
        CompareOp::Eq | CompareOp::Ne => return None,
    })
}

fn is_other_place(left: &Place, right: &Place) -> bool {
    match (left, right) {
        (Place::Element(left), Place::Element(right)) => left.array != right.array,
        (Place::Local(left), Place::Local(right)) => left != right,
        _ => true,
    }
}
