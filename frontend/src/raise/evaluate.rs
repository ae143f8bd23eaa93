//! Expressions with what is known of their values.

use super::Raising;
use crate::lower::interval::Interval;
use crate::lower::value::{self, Typed};
use strew_affine::{Access, Expr, IterId, Place, ScalarId, Subscript, Type, UnaryOp, Variable};

/// A value of more operations is not computed again wherever the variable that has it is read.
const MOST_REPEATED: usize = 8;

impl Raising<'_> {
    /// The value of `expr`, what it reads raised.
    pub(super) fn value(&mut self, expr: &Expr) -> Typed {
        match expr {
            Expr::Constant(value) => Typed::constant(*value),
            Expr::Iter(iter) => self.iterator(*iter),
            Expr::Param(param) => self.parameter(*param),
            Expr::Local(local) => match self.facts.now.get(local) {
                Some(known) => known.clone(),
                None => Typed::any(expr.clone(), self.kernel.locals[*local].ty),
            },
            Expr::Load(access) => {
                let ty = self.kernel.arrays[access.array].element;
                Typed::any(Expr::Load(self.access(access)), ty)
            }
            Expr::Unary(UnaryOp::Not, operand) => value::not(self.value(operand)),
            Expr::Unary(UnaryOp::Neg, operand) if self.is_c_type(operand) => {
                value::negated(self.value(operand), &self.context.ranges)
            }
            Expr::Unary(UnaryOp::BitNot, operand) if self.is_c_type(operand) => {
                value::complement(self.value(operand), &self.context.ranges)
            }
            Expr::Binary(op, left, right, span) if self.is_c_type(left) => {
                let (left, right) = (self.value(left), self.value(right));
                value::arithmetic(*op, left, right, *span, &self.context.ranges)
            }
            Expr::Compare(op, left, right) if self.is_c_type(left) => {
                let (left, right) = (self.value(left), self.value(right));
                value::compare(*op, left, right)
            }
            Expr::And(left, right) => self.conjunction(left, right),
            Expr::Or(left, right) => {
                let (left, right) = (self.value(left), self.value(right));
                value::or(left, right)
            }
            Expr::Select(condition, then, otherwise) if self.is_c_type(then) => {
                self.choice(condition, then, otherwise)
            }
            Expr::Cast(Type::Bool, operand) => self.value(operand).condition(),
            Expr::Cast(ty, operand) => self.value(operand).convert(*ty),
            Expr::Operand(_)
            | Expr::Threads
            | Expr::Call(..)
            | Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Compare(..)
            | Expr::Select(..) => self.as_it_is(expr),
        }
    }

    fn iterator(&self, iter: IterId) -> Typed {
        let variable = Variable::Iter(iter);
        let range = self.context.ranges.get(variable);
        Typed::variable(Expr::Iter(iter), Type::I64, variable, range)
    }

    fn conjunction(&mut self, left: &Expr, right: &Expr) -> Typed {
        let left = self.value(left);
        let right = self.value_where(&left, right);
        value::and(left, right)
    }

    fn choice(&mut self, condition: &Expr, then: &Expr, otherwise: &Expr) -> Typed {
        let condition = self.value(condition);
        let then = self.value_where(&condition, then);
        let otherwise = self.value(otherwise);
        value::select(condition, then, otherwise)
    }

    fn parameter(&self, param: ScalarId) -> Typed {
        let ty = self.kernel.scalars[param].ty;
        // Affine expressions are made of integers, which a truth value is not.
        if ty == Type::Bool || Interval::of(ty).is_none() {
            return Typed::any(Expr::Param(param), ty);
        }
        let range = self.context.ranges.get(Variable::Param(param));
        Typed::variable(Expr::Param(param), ty, Variable::Param(param), range)
    }

    /// C promotes the operands of every operator; a type that it would promote comes from somewhere
    /// else.
    fn is_c_type(&self, operand: &Expr) -> bool {
        operand.ty(&self.kernel).bits() >= 32
    }

    fn as_it_is(&mut self, expr: &Expr) -> Typed {
        let mut raised = expr.clone();
        for operand in raised.operands_mut() {
            *operand = self.value(operand).expr;
        }
        let ty = expr.ty(&self.kernel);
        Typed::any(raised, ty)
    }

    /// The value of `expr` where `condition` holds.
    fn value_where(&mut self, condition: &Typed, expr: &Expr) -> Typed {
        let outside = self.context.mark();
        for guard in condition.known.conditions.iter().flatten() {
            let sides = [&guard.condition.left, &guard.condition.right];
            let needed = self.requirements(&sides, &guard.provided);
            if needed.is_some_and(|it| it.is_empty()) {
                self.context.learn_condition(&guard.condition);
            }
        }
        let value = self.value(expr);
        self.context.return_to(outside);
        value
    }

    pub(super) fn place(&mut self, place: &Place) -> Place {
        match place {
            Place::Element(access) => Place::Element(self.access(access)),
            Place::Local(local) => Place::Local(*local),
        }
    }

    fn access(&mut self, access: &Access) -> Access {
        let subscripts = access.subscripts.iter().map(|it| match it {
            Subscript::Affine(affine) => Subscript::Affine(affine.clone()),
            Subscript::Computed(expr) => {
                let value = self.value(expr);
                let settled = value.affine().and_then(|it| self.settled(&it));
                match settled {
                    Some(affine) => Subscript::Affine(affine),
                    None => Subscript::Computed(value.expr),
                }
            }
        });
        Access {
            array: access.array,
            subscripts: subscripts.collect(),
            span: access.span,
        }
    }

    /// Whether `expr` is cheap, and has the same value wherever it is computed in its block.
    pub(super) fn is_lasting(&self, expr: &Expr) -> bool {
        let mut budget = MOST_REPEATED;
        self.is_lasting_within(expr, &mut budget)
    }

    fn is_lasting_within(&self, expr: &Expr, budget: &mut usize) -> bool {
        let Some(rest) = budget.checked_sub(1) else {
            return false;
        };
        *budget = rest;
        match expr {
            Expr::Constant(_) | Expr::Iter(_) | Expr::Param(_) | Expr::Threads => true,
            Expr::Local(local) => !self.kernel.locals[*local].mutable,
            Expr::Load(_) | Expr::Operand(_) | Expr::Call(..) | Expr::Select(..) => false,
            Expr::Binary(op, _, right, _)
                if matches!(
                    op,
                    strew_affine::BinaryOp::Div | strew_affine::BinaryOp::Rem
                ) && !matches!(**right, Expr::Constant(_)) =>
            {
                false
            }
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Compare(..)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Cast(..) => expr
                .operands()
                .into_iter()
                .all(|it| self.is_lasting_within(it, budget)),
        }
    }
}
