//! What decides where a kernel goes and what it touches, and whether that is known everywhere.

use std::collections::HashSet;
use strew_affine::visit::walk;
use strew_affine::{Access, ArrayId, BinaryOp, Expr, Kernel, LocalId, Node, Place, Subscript};

/// Whether a subscript, a condition, a bound or the divisor of integers may depend on the value of
/// a function that is not [settled](strew_affine::Function::is_settled), directly or through what
/// the kernel stores. If not, such functions may have any value: the kernel touches the same
/// places, in the same order.
pub(crate) fn is_steered_by_unsettled_values(kernel: &Kernel) -> bool {
    let mut unsettled = Unsettled::default();
    loop {
        let known = unsettled.len();
        walk(&kernel.body, &mut |node, _| unsettled.node(kernel, node));
        if let Some(result) = &kernel.result {
            unsettled.is_in(kernel, result);
        }
        if unsettled.steer {
            return true;
        }
        if unsettled.len() == known {
            return false;
        }
    }
}

/// What may hold a value that is not settled.
#[derive(Default)]
struct Unsettled {
    locals: HashSet<LocalId>,
    arrays: HashSet<ArrayId>,
    /// Whether one of them decides something.
    steer: bool,
}

impl Unsettled {
    fn len(&self) -> usize {
        self.locals.len() + self.arrays.len()
    }

    fn node(&mut self, kernel: &Kernel, node: &Node) {
        let mut is_unsettled = false;
        for expr in node.expressions() {
            is_unsettled |= self.is_in(kernel, expr);
        }
        for access in node.written_elements() {
            self.subscripts(kernel, access);
        }
        match node {
            Node::Declare { local, .. } if is_unsettled => drop(self.locals.insert(*local)),
            Node::Assign { .. } | Node::Reduce { .. } if is_unsettled => {
                node.places().iter().for_each(|it| self.hold(it));
            }
            Node::ScfFor(_) | Node::ScfWhile { .. } | Node::ScfIf { .. } => {
                self.steer |= is_unsettled;
            }
            Node::Forall(forall) => {
                let merged = forall.buffers();
                let merged = merged.filter(|(buffer, _)| self.arrays.contains(buffer));
                let targets: Vec<_> = merged.map(|(_, target)| target).collect();
                self.arrays.extend(targets);
            }
            _ => {}
        }
    }

    fn hold(&mut self, place: &Place) {
        match place {
            Place::Local(local) => drop(self.locals.insert(*local)),
            Place::Element(access) => drop(self.arrays.insert(access.array)),
        }
    }

    /// Whether the value of `expr` may be unsettled; what decides something inside of it is looked
    /// at too.
    fn is_in(&mut self, kernel: &Kernel, expr: &Expr) -> bool {
        let operands = expr.operands().into_iter();
        let operands: Vec<_> = operands.map(|it| self.is_in(kernel, it)).collect();
        let first = operands.first().is_some_and(|it| *it);
        match expr {
            Expr::Load(access) => {
                self.subscripts(kernel, access);
                return self.arrays.contains(&access.array);
            }
            Expr::Local(local) => return self.locals.contains(local),
            Expr::And(..) | Expr::Or(..) | Expr::Select(..) => self.steer |= first,
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor, _) => {
                let may_fault = divisor.ty(kernel).is_integer();
                self.steer |= may_fault && operands.get(1).is_some_and(|it| *it);
            }
            _ => {}
        }
        let is_unsettled = matches!(expr, Expr::Call(function, _) if !function.is_settled());
        is_unsettled || operands.contains(&true)
    }

    fn subscripts(&mut self, kernel: &Kernel, access: &Access) {
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                self.steer |= self.is_in(kernel, expr);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_support::kernel;

    fn is_steered(body: &str) -> bool {
        is_steered_by_unsettled_values(&kernel(&format!(
            "kernel @k(n: i64, m: i64, seg: i64[n], x: f64[n], out: f64[m]) {{
               affine.for i in 0..n {{ {body} }}
             }}"
        )))
    }

    #[test]
    fn values_that_are_only_stored_decide_nothing() {
        for body in [
            "out[seg[i]] = exp(x[i])",
            "out[i64(sqrt(x[i]))] = x[i]",
            "let e: f64 = sin(x[i]) out[seg[i]] reduce(add) e * x[0]",
            "x[i] = cos(x[i]) out[seg[i]] = x[i] / x[0]",
            "scf.if floor(x[i]) < 1.0 { out[0] = exp(x[i]) }",
        ] {
            assert!(!is_steered(body), "{body}");
        }
    }

    #[test]
    fn whatever_they_decide_is_found_through_all_that_holds_them() {
        for body in [
            "out[i64(exp(x[i]))] = 1.0",
            "out[seg[i]] = x[i64(exp(x[i]))]",
            "let e: f64 = exp(x[i]) scf.if e < 1.0 { out[0] = 1.0 }",
            "out[i64(x[i])] = 1.0 x[i] = exp(x[i])",
            "x[i] = exp(x[i]) out[seg[i]] = x[i] < 1.0 ? x[0] : x[1]",
            "var e: f64 = exp(x[i]) scf.while e < 3.0 { e = e + 1.0 }",
            "scf.for k in 0..i64(hypot(x[i], 1.0)) { out[k] = 1.0 }",
            "seg[i] = 7 / i64(exp(x[i]))",
            "scf.if x[i] < 1.0 || exp(x[i]) < 2.0 && x[0] < 1.0 { out[0] = 1.0 }",
            "scf.forall c in 0..2 private(p: f64[n] = identity(add)) merge(x reduce(add) p) { p[0] reduce(add) exp(1.0) } out[i64(x[0])] = 1.0",
        ] {
            assert!(is_steered(body), "{body}");
        }
    }
}
