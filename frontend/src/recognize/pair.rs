//! An extremum and what comes with it: `if (x > best) { best = x; arg = i; }`.

use super::held::Held;
use strew_affine::{Access, BinaryOp, Combiner, CompareOp, Expr, Kernel, Node, Place, Subscript};

/// `if (condition) { best = x; arg = payload; }`, where `first` sets the best and `second` what comes with it.
pub(super) fn replaced_together(
    kernel: &Kernel,
    condition: &Expr,
    first: &Node,
    second: &Node,
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
    let combiner = match op {
        CompareOp::Gt => "argmax",
        CompareOp::Lt => "argmin",
        CompareOp::Ge => "argmax_last",
        CompareOp::Le => "argmin_last",
        CompareOp::Eq | CompareOp::Ne => return None,
    };
    let incoming = best.stored_as_compared(compared, value)?;
    let values = vec![incoming, payload.clone()];
    let are_apart = is_other_place(place, companion)
        && best.is_unread_by_subscripts_of(companion)
        && arg.is_unread_by_subscripts_of(place)
        && values
            .iter()
            .all(|it| best.is_unread_by(it) && arg.is_unread_by(it));
    let evaluated = Evaluated::by(kernel, condition);
    let is_safe = evaluated.covers_place(companion) && evaluated.cannot_fault(payload);
    (are_apart && is_safe).then_some(Node::Reduce {
        places: vec![place.clone(), companion.clone()],
        combiner: Combiner::from_name(combiner)?,
        values,
        span: span.to(*other),
    })
}

fn is_other_place(left: &Place, right: &Place) -> bool {
    match (left, right) {
        (Place::Element(left), Place::Element(right)) => left.array != right.array,
        (Place::Local(left), Place::Local(right)) => left != right,
        _ => true,
    }
}

/// What has been evaluated, without a fault, when the decision falls.
struct Evaluated<'k> {
    kernel: &'k Kernel,
    loads: Vec<&'k Access>,
}

impl<'k> Evaluated<'k> {
    fn by(kernel: &'k Kernel, condition: &'k Expr) -> Self {
        let mut evaluated = Self {
            kernel,
            loads: Vec::new(),
        };
        evaluated.add(condition);
        evaluated
    }

    /// The loads of `expr` that are evaluated whatever the values are.
    fn add(&mut self, expr: &'k Expr) {
        match expr {
            Expr::Load(access) => {
                for subscript in &access.subscripts {
                    if let Subscript::Computed(expr) = subscript {
                        self.add(expr);
                    }
                }
                self.loads.push(access);
            }
            Expr::And(first, _) | Expr::Or(first, _) | Expr::Select(first, ..) => self.add(first),
            other => {
                for operand in other.operands() {
                    self.add(operand);
                }
            }
        }
    }

    /// Whether `access` lies in its array because an access with the same subscripts lay in an array of the same extents.
    fn covers(&self, access: &Access) -> bool {
        let extents = |access: &Access| &self.kernel.arrays[access.array].extents;
        self.loads
            .iter()
            .any(|load| extents(load) == extents(access) && load.is_at_same_place(access))
    }

    fn covers_place(&self, place: &Place) -> bool {
        match place {
            Place::Element(access) => self.covers(access),
            Place::Local(_) => true,
        }
    }

    fn cannot_fault(&self, expr: &Expr) -> bool {
        let here = match expr {
            Expr::Load(access) => self.covers(access),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, left, right, _) => {
                left.ty(self.kernel).is_float() || is_nonzero(right)
            }
            _ => true,
        };
        here && expr
            .operands()
            .into_iter()
            .all(|operand| self.cannot_fault(operand))
    }
}

fn is_nonzero(expr: &Expr) -> bool {
    matches!(expr, Expr::Constant(value) if value.as_integer().is_some_and(|it| it != 0))
}
