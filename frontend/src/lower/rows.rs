//! Whether two pointers are in one row: the subscripts in front of those that move.

use super::Lowering;
use super::value::{self, Typed};
use strew_affine::{CompareOp, Expr as Computation, Node, Span};

/// A subscript in front of the one that moves, and its place.
type Row = (Typed, Span);

impl Lowering<'_> {
    /// Keeps `value` as it is now; what is declared just before and holds it already does.
    pub(super) fn kept_again(&mut self, value: Typed, span: Span, body: &mut Vec<Node>) -> Typed {
        let mut declared = body.iter().rev().map_while(|node| match node {
            Node::Declare { local, value } => Some((*local, value)),
            _ => None,
        });
        let locals = &self.kernel.locals;
        let found = declared.find(|(it, held)| !locals[*it].mutable && **held == value.expr);
        match found.map(|(local, _)| local) {
            Some(local) => Typed {
                expr: Computation::Local(local),
                ..value
            },
            None => self.kept(value, span, body),
        }
    }

    /// What `left op right` is for pointers into rows, where `compared` says it of pointers into
    /// one row. `None` where rows are not written as the same. They may still differ, since a
    /// variable in them may have been set in between.
    pub(super) fn compared_in_rows(
        &self,
        op: CompareOp,
        (left, right): (&[Row], &[Row]),
        compared: Typed,
    ) -> Option<Typed> {
        let mut rows = left.iter().zip(right);
        let is_same = |((left, _), (right, _)): (&Row, &Row)| {
            self.written_as(&left.expr) == self.written_as(&right.expr)
        };
        if left.len() != right.len() || !rows.all(is_same) {
            return None;
        }
        let rows = left.iter().zip(right);
        let rows = rows.filter(|((left, _), (right, _))| left.expr != right.expr);
        // The subscripts behind count where those in front are equal.
        Some(
            rows.rev()
                .fold(compared, |compared, ((left, _), (right, _))| {
                    let rows = |op| value::compare(op, left.clone(), right.clone());
                    let in_one = |compared| value::and(rows(CompareOp::Eq), compared);
                    match op {
                        CompareOp::Eq => in_one(compared),
                        CompareOp::Ne => value::or(rows(op), compared),
                        CompareOp::Lt | CompareOp::Le => {
                            value::or(rows(CompareOp::Lt), in_one(compared))
                        }
                        CompareOp::Gt | CompareOp::Ge => {
                            value::or(rows(CompareOp::Gt), in_one(compared))
                        }
                    }
                }),
        )
    }

    /// What the source has for `value`.
    fn written_as<'v>(&'v self, value: &'v Computation) -> &'v Computation {
        match value {
            Computation::Local(local) => self.kept.get(local).unwrap_or(value),
            _ => value,
        }
    }
}
