//! Random expressions.

use super::expression::{Binary, Expression, Unary};
use super::function::{Array, Extent, Form, Function};
use super::generate::{Generator, Local};
use super::literals::{LITERALS, MATH};
use super::statement::Statement;
use crate::random::Random;
use strew::ir::Type;

impl Random {
    fn literal(&mut self) -> Expression {
        let (text, ty) = *self.pick(&LITERALS);
        Expression::Literal(text.to_owned(), ty)
    }
}

pub(super) fn number(value: i32) -> Box<Expression> {
    Box::new(Expression::Literal(value.to_string(), Type::I32))
}

pub(super) fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    Expression::Binary(operator, Box::new(left), Box::new(right))
}

impl Generator<'_> {
    /// An expression of any type whose tree is at most this deep.
    pub(super) fn expression(&mut self, depth: usize) -> Expression {
        if depth == 0 {
            return self.leaf(0);
        }
        let depth = depth - 1;
        if self.may_change && self.random.percent(4) {
            return self.effect();
        }
        match self.random.below(100) {
            0..22 => self.leaf(depth + 1),
            22..44 => {
                let operator = *self.random.pick(&Binary::ARITHMETIC);
                binary(operator, self.expression(depth), self.expression(depth))
            }
            44..51 => self.quotient(depth),
            51..58 => {
                let operator = *self.random.pick(&Binary::BITWISE);
                binary(operator, self.integer(depth), self.integer(depth))
            }
            58..64 => {
                let operator = *self.random.pick(&Binary::SHIFTS);
                binary(operator, self.integer(depth), self.integer(depth))
            }
            64..72 => {
                let operator = *self.random.pick(&Binary::COMPARISONS);
                binary(operator, self.expression(depth), self.expression(depth))
            }
            72..77 => {
                let operator = *self.random.pick(&Binary::LOGICAL);
                binary(operator, self.expression(depth), self.expression(depth))
            }
            77..84 => Expression::Conditional(
                Box::new(self.expression(depth)),
                Box::new(self.expression(depth)),
                Box::new(self.expression(depth)),
            ),
            84..90 => self.cast(depth),
            90..93 => self.math(depth),
            93..95 => self.helper().unwrap_or_else(|| self.leaf(depth)),
            _ => self.unary(depth),
        }
    }

    fn quotient(&mut self, depth: usize) -> Expression {
        let (dividend, divisor) = (self.expression(depth), self.expression(depth));
        if dividend.ty().is_float() || divisor.ty().is_float() {
            return binary(Binary::Divide, dividend, divisor);
        }
        Expression::Quotient {
            operator: *self.random.pick(&Binary::QUOTIENTS),
            dividend: Box::new(dividend),
            divisor: Box::new(divisor),
            may_be_zero: self.random.percent(3),
        }
    }

    fn cast(&mut self, depth: usize) -> Expression {
        let ty = self.random.ty();
        let value = self.value_for(ty, depth);
        Expression::Cast(self.random.spelling(ty), ty, Box::new(value))
    }

    fn unary(&mut self, depth: usize) -> Expression {
        match self.random.below(4) {
            0 => Expression::Unary(Unary::Plus, Box::new(self.expression(depth))),
            1 => Expression::Unary(Unary::Minus, Box::new(self.expression(depth))),
            2 => Expression::Unary(Unary::Complement, Box::new(self.integer(depth))),
            _ => Expression::Unary(Unary::Not, Box::new(self.expression(depth))),
        }
    }

    /// A call of the library. What it gives for any operands is what the library of the machine
    /// gives.
    fn math(&mut self, depth: usize) -> Expression {
        if self.random.percent(10) {
            let value = self.integer(depth);
            return Expression::Call("abs".to_owned(), Type::I32, vec![value]);
        }
        let (name, operands) = *self.random.pick(&MATH);
        let (suffix, ty) = *self.random.pick(&[("", Type::F64), ("f", Type::F32)]);
        let operands = (0..operands).map(|_| self.expression(depth.min(1)));
        let operands = operands.collect();
        Expression::Call(format!("{name}{suffix}"), ty, operands)
    }

    /// A call of a function that only reads.
    fn helper(&mut self) -> Option<Expression> {
        let helpers = self.helpers;
        let reading = helpers
            .iter()
            .filter(|it| it.arrays.iter().all(|it| !it.is_written));
        let reading: Vec<_> = reading.collect();
        if reading.is_empty() {
            return None;
        }
        let helper = *self.random.pick(&reading);
        let call = self.call_of(helper)?;
        match &helper.result_record {
            Some(structure) => self.member_of(call, structure),
            None => Some(call),
        }
    }

    /// A call of `helper`, if there are arrays as it takes them.
    pub(super) fn call_of(&mut self, helper: &Function) -> Option<Expression> {
        let mut arguments = vec![self.length(Extent::N), self.length(Extent::M)];
        for (_, ty, _) in &helper.scalars {
            arguments.push(self.value_for(*ty, 1));
        }
        for (structure, _) in &helper.records {
            arguments.push(self.record_value(structure));
        }
        for parameter in helper.passed() {
            let array = self
                .readable()
                .iter()
                .find(|it| fits(it, parameter))?
                .clone();
            arguments.push(Expression::Variable(array.name, array.ty));
        }
        let result = helper.result.map_or(Type::I32, |it| it.1);
        Some(Expression::Call(helper.name.clone(), result, arguments))
    }

    fn leaf(&mut self, depth: usize) -> Expression {
        match self.random.below(100) {
            0..25 => self.random.literal(),
            60.. if depth > 0 && !self.readable().is_empty() => {
                let arrays = self.readable();
                let array = self.random.pick(&arrays);
                Expression::Element(self.element(array, depth - 1))
            }
            _ => {
                let locals = self.visible();
                self.random.pick(&locals).expression()
            }
        }
    }

    /// The arrays that may be read here.
    pub(super) fn readable(&self) -> Vec<Array> {
        let is_readable = |it: &&Array| self.may_read_written || !it.is_written;
        self.arrays.iter().filter(is_readable).cloned().collect()
    }

    /// An expression of an integer type.
    pub(super) fn integer(&mut self, depth: usize) -> Expression {
        let value = self.expression(depth);
        if value.ty().is_float() {
            let ty = self.random.integer_type();
            self.truncated(value, ty)
        } else {
            value
        }
    }

    /// An expression that changes a variable nobody else speaks of before the end of the statement,
    /// so that C leaves no order open.
    pub(super) fn effect(&mut self) -> Expression {
        let (ty, name) = (self.random.ty(), self.name('e'));
        let first = self.unchanging(|it| it.value_for(ty, 1));
        let spelling = self.random.spelling(ty);
        self.before
            .push(Statement::Declare(spelling.to_owned(), name.clone(), first));
        let variable = Expression::Variable(name.clone(), ty);
        let changed = self.change(name.clone(), ty);
        self.late.push(Local::new(&name, ty, true));
        // After `&&`, `||`, the condition of `?:` and a comma the change has been made.
        let (changed, variable) = (Box::new(changed), Box::new(variable));
        match self.random.below(6) {
            0 => Expression::Comma(changed, variable),
            1 => {
                let operator = *self.random.pick(&Binary::LOGICAL);
                Expression::Binary(operator, changed, variable)
            }
            2 => {
                let other = Box::new(self.expression(1));
                Expression::Conditional(changed, variable, other)
            }
            3 => {
                let condition = Box::new(self.expression(1));
                Expression::Conditional(condition, changed, variable)
            }
            _ => *changed,
        }
    }

    fn change(&mut self, name: String, ty: Type) -> Expression {
        if self.random.percent(50) {
            let sign = *self.random.pick(&["++", "--"]);
            return Expression::Stepped(name, ty, sign, self.random.percent(50));
        }
        let operator = *self.random.pick(&["", "+", "-", "*"]);
        let value = Box::new(self.value_for(ty, 2));
        Expression::Assigned(name, ty, operator, value)
    }

    /// An expression that can be stored to a place of type `ty`.
    pub(super) fn value_for(&mut self, ty: Type, depth: usize) -> Expression {
        let value = self.expression(depth);
        if value.ty().is_float() && !ty.is_float() {
            self.truncated(value, ty)
        } else {
            value
        }
    }

    /// C leaves open what a float beyond the range of an integer becomes; a variable before the
    /// statement is looked at first.
    pub(super) fn truncated(&mut self, value: Expression, ty: Type) -> Expression {
        let (from, name) = (value.ty(), self.name('t'));
        let spelling = self.random.spelling(from);
        self.before
            .push(Statement::Declare(spelling.to_owned(), name.clone(), value));
        Expression::Truncated(self.random.spelling(ty), ty, name)
    }
}

/// Whether `array` can be passed for `parameter`.
fn fits(array: &Array, parameter: &Array) -> bool {
    let member = |it: &Array| match &it.form {
        Form::Member(structure, member, _) => Some((structure.clone(), member.clone())),
        Form::Shaped | Form::Pointer => None,
    };
    (array.ty, &array.extents, array.role) == (parameter.ty, &parameter.extents, parameter.role)
        && member(array) == member(parameter)
        && (array.is_written || !parameter.is_written)
}
