//! Conditions that only decide what scalars become: both sides are computed, and the condition picks.
//!
//! That costs a few instructions more than a jump that is foretold, and far fewer than one that is not: in a merge of two sorted rows, or
//! a search by halves, nobody can tell which way the next comparison goes.

use super::function::{Binding, FunctionLowering};
use crate::CompileError;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use strew_affine::{BinaryOp, Expr, LocalId, Node, Operand, Place};

/// So many operations on both sides together cost less than half of the jumps being foretold wrongly.
const MOST_OPERATIONS: usize = 8;

/// What a side does to the scalars.
type Values = Vec<(Variable, Value)>;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Lowers both sides of a condition without a jump, if they may be: whether it did.
    pub(super) fn choose(
        &mut self,
        condition: &Expr,
        sides: [&'k [Node]; 2],
    ) -> Result<bool, CompileError> {
        let Some(targets) = self.choice(sides) else {
            return Ok(false);
        };
        let condition = self.expr(condition);
        let before = self.values_of(&targets);
        self.nodes(sides[0])?;
        let then = self.values_of(&targets);
        for (variable, value) in before {
            self.builder.def_var(variable, value);
        }
        self.nodes(sides[1])?;
        let otherwise = self.values_of(&targets);
        for ((variable, then), (_, otherwise)) in then.into_iter().zip(otherwise) {
            let picked = self.builder.ins().select(condition, then, otherwise);
            self.builder.def_var(variable, picked);
        }
        self.pick_early(condition, &targets);
        Ok(true)
    }

    fn values_of(&mut self, targets: &[Variable]) -> Values {
        let targets = targets.iter().copied();
        let value = |variable| (variable, self.builder.use_var(variable));
        targets.map(value).collect()
    }

    /// The scalars that `sides` set, if that is all they do, it is cheap, and nothing in it can fail.
    pub(super) fn choice(&self, sides: [&'k [Node]; 2]) -> Option<Vec<Variable>> {
        let mut targets = Vec::new();
        let mut operations = 0;
        for node in sides.into_iter().flatten() {
            let variable = self.cheap_target(node, &mut operations)?;
            if !targets.contains(&variable) {
                targets.push(variable);
            }
        }
        (operations <= MOST_OPERATIONS).then_some(targets)
    }

    /// The scalar that the statement `node` sets, if it is of that kind; adds what it takes to `operations`.
    fn cheap_target(&self, node: &Node, operations: &mut usize) -> Option<Variable> {
        let (place, values) = match node {
            Node::Assign { place, value, .. } => (place, std::slice::from_ref(value)),
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => {
                let [place @ Place::Local(local)] = places.as_slice() else {
                    return None;
                };
                let bodies = combiner.bodies(&[self.program.kernel.locals[*local].ty])?;
                let is_cheap = |body: &Expr| self.is_cheap(body, operations);
                bodies.iter().all(is_cheap).then_some(())?;
                (place, values.as_slice())
            }
            _ => return None,
        };
        let Place::Local(local) = place else {
            return None;
        };
        let is_cheap = |value: &Expr| self.is_cheap(value, operations);
        values.iter().all(is_cheap).then_some(())?;
        self.variable_of(*local)
    }

    /// What `local` is held in, if it is an integer that is sure to have a value. A choice of floats is a jump after all.
    fn variable_of(&self, local: LocalId) -> Option<Variable> {
        let is_float = self.program.kernel.locals[local].ty.is_float();
        match self.locals.get(local)? {
            Binding::Mutable(variable) if !is_float && !self.is_uncertain(local) => Some(*variable),
            _ => None,
        }
    }

    fn is_uncertain(&self, local: LocalId) -> bool {
        self.program.uncertain.contains(&local)
    }

    /// Whether `expr` takes few instructions and cannot fail; adds how many to `operations`.
    fn is_cheap(&self, expr: &Expr, operations: &mut usize) -> bool {
        let here = match expr {
            Expr::Constant(_)
            | Expr::Iter(_)
            | Expr::Param(_)
            | Expr::Operand(Operand::Held(_) | Operand::Incoming(_)) => {
                return true;
            }
            Expr::Local(local) => return !self.is_uncertain(*local),
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..)
            | Expr::Load(_)
            | Expr::Call(..)
            | Expr::Operand(Operand::Host(_)) => false,
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Compare(..)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Select(..)
            | Expr::Cast(..) => true,
        };
        *operations += 1;
        let mut operands = expr.operands().into_iter();
        here && operands.all(|it| self.is_cheap(it, operations))
    }
}
