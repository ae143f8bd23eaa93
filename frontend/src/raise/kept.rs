//! Bounds of loops that do not count, which stay what they are: `p < row[i + 1]` in a loop that
//! may be left is read once, in front of it.

use super::Raising;
use super::written::Written;
use strew_affine::visit::for_each_load;
use strew_affine::{Expr, Local, Node, Span, Value};

impl Raising<'_> {
    /// The condition of a loop that writes what `written` says, with what it compares read in front
    /// of the loop where that stays. All of it would have been read there, too, to find out whether
    /// there is a first turn.
    pub(super) fn with_kept(
        &mut self,
        condition: Expr,
        written: &Written,
        span: Span,
        before: &mut Vec<Node>,
    ) -> Expr {
        match condition {
            Expr::And(left, right) if holds_at_first(&left, before) => {
                let right = self.with_kept(*right, written, span, before);
                Expr::And(left, Box::new(right))
            }
            Expr::And(left, right) => {
                let left = self.with_kept(*left, written, span, before);
                Expr::And(Box::new(left), right)
            }
            Expr::Compare(op, left, right) => {
                let sides = [*left, *right].map(|it| self.kept_before(it, written, span, before));
                let [left, right] = sides.map(Box::new);
                Expr::Compare(op, left, right)
            }
            other => other,
        }
    }

    /// One side of a comparison.
    fn kept_before(
        &mut self,
        side: Expr,
        written: &Written,
        span: Span,
        before: &mut Vec<Node>,
    ) -> Expr {
        let mut loads = false;
        for_each_load(&side, &mut |_| loads = true);
        if !loads || !written.leaves(&side) {
            return side;
        }
        let local = self.kernel.locals.alloc(Local {
            name: "end".to_owned(),
            ty: side.ty(&self.kernel),
            mutable: false,
            is_element: false,
            span,
        });
        let value = side;
        before.push(Node::Declare { local, value });
        Expr::Local(local)
    }
}

/// Whether `condition` is a variable that was just declared to hold.
fn holds_at_first(condition: &Expr, before: &[Node]) -> bool {
    match (condition, before.last()) {
        (Expr::Local(flag), Some(Node::Declare { local, value })) => {
            local == flag && *value == Expr::Constant(Value::bool(true))
        }
        _ => false,
    }
}
