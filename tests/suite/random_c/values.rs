//! Random expressions, places and updates.

use super::generate::{Generator, Local};
use super::tree::{Array, Binary, Expression, Extent, Function, Place, Role, Statement, Unary};
use crate::random::Random;
use strew::ir::Type;

const LITERALS: [(&str, Type); 42] = [
    ("0", Type::I32),
    ("1", Type::I32),
    ("2", Type::I32),
    ("3", Type::I32),
    ("-1", Type::I32),
    ("7", Type::I32),
    ("-13", Type::I32),
    ("100", Type::I32),
    ("255", Type::I32),
    ("'a'", Type::I32),
    ("0x7f", Type::I32),
    ("017", Type::I32),
    ("2147483647", Type::I32),
    ("(-2147483647 - 1)", Type::I32),
    ("0u", Type::U32),
    ("1u", Type::U32),
    ("0xffffffff", Type::U32),
    ("0x80000000", Type::U32),
    ("4294967295u", Type::U32),
    ("3L", Type::I64),
    ("-5L", Type::I64),
    ("2147483648", Type::I64),
    ("-10000000000", Type::I64),
    ("9223372036854775807LL", Type::I64),
    ("(-9223372036854775807 - 1)", Type::I64),
    ("1ul", Type::U64),
    ("7ULL", Type::U64),
    ("0x8000000000000000", Type::U64),
    ("18446744073709551615u", Type::U64),
    ("0.5", Type::F64),
    ("1.0", Type::F64),
    ("-2.5", Type::F64),
    ("1e10", Type::F64),
    ("0.1", Type::F64),
    ("-0.0", Type::F64),
    ("0x1.8p-3", Type::F64),
    ("3.", Type::F64),
    ("1.5f", Type::F32),
    ("0.1f", Type::F32),
    ("-7.25f", Type::F32),
    ("1e-40f", Type::F32),
    ("16777217.0f", Type::F32),
];

/// Functions with an `f` form, and how many operands they take.
const MATH: [(&str, usize); 28] = [
    ("sqrt", 1),
    ("cbrt", 1),
    ("fabs", 1),
    ("floor", 1),
    ("ceil", 1),
    ("trunc", 1),
    ("round", 1),
    ("rint", 1),
    ("exp", 1),
    ("exp2", 1),
    ("expm1", 1),
    ("log", 1),
    ("log2", 1),
    ("log1p", 1),
    ("sin", 1),
    ("cos", 1),
    ("tan", 1),
    ("atan", 1),
    ("tanh", 1),
    ("pow", 2),
    ("atan2", 2),
    ("hypot", 2),
    ("fmod", 2),
    ("fmin", 2),
    ("fmax", 2),
    ("fdim", 2),
    ("copysign", 2),
    ("fma", 3),
];

impl Random {
    fn literal(&mut self) -> Expression {
        let (text, ty) = *self.pick(&LITERALS);
        Expression::Literal(text.to_owned(), ty)
    }
}

fn number(value: i32) -> Box<Expression> {
    Box::new(Expression::Literal(value.to_string(), Type::I32))
}

fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
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

    /// A call of the library. What it gives for any operands is what the library of the machine gives.
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
        self.call_of(helper)
    }

    /// A call of `helper`, if there are arrays as it takes them.
    pub(super) fn call_of(&mut self, helper: &Function) -> Option<Expression> {
        let mut arguments = vec![self.length(Extent::N), self.length(Extent::M)];
        for (_, ty, _) in &helper.scalars {
            arguments.push(self.value_for(*ty, 1));
        }
        for parameter in &helper.arrays {
            let fits = |it: &&Array| {
                (it.ty, &it.extents, it.role) == (parameter.ty, &parameter.extents, parameter.role)
                    && (it.is_written || !parameter.is_written)
            };
            let array = self.readable().iter().find(fits)?.clone();
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
                let local = self.random.pick(&locals).clone();
                Expression::Variable(local.name, local.ty)
            }
        }
    }

    /// The arrays that may be read here.
    fn readable(&self) -> Vec<Array> {
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

    /// An expression that changes a variable nobody else speaks of before the end of the statement, so that C leaves no order open.
    pub(super) fn effect(&mut self) -> Expression {
        let (ty, name) = (self.random.ty(), self.name('e'));
        let first = self.unchanging(|it| it.value_for(ty, 1));
        let spelling = self.random.spelling(ty);
        self.before
            .push(Statement::Declare(spelling, name.clone(), first));
        let variable = Expression::Variable(name.clone(), ty);
        let changed = self.change(name.clone(), ty);
        self.late.push(Local {
            name,
            ty,
            is_assignable: true,
            below: Vec::new(),
        });
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

    /// C leaves open what a float beyond the range of an integer becomes; a variable before the statement is looked at first.
    fn truncated(&mut self, value: Expression, ty: Type) -> Expression {
        let (from, name) = (value.ty(), self.name('t'));
        let spelling = self.random.spelling(from);
        self.before
            .push(Statement::Declare(spelling, name.clone(), value));
        Expression::Truncated(self.random.spelling(ty), ty, name)
    }

    /// Some element of `array`.
    pub(super) fn element(&mut self, array: &Array, depth: usize) -> Place {
        let extents = array.extents.iter();
        Place {
            name: array.name.clone(),
            ty: array.ty,
            subscripts: extents.map(|it| self.subscript(*it, depth)).collect(),
        }
    }

    fn subscript(&mut self, extent: Extent, depth: usize) -> Expression {
        let iterators = self.iterators().into_iter();
        let fitting: Vec<_> = iterators.filter(|it| it.below.contains(&extent)).collect();
        let keys: Vec<_> = self
            .arrays
            .iter()
            .filter(|it| it.role == Role::Keys(extent))
            .cloned()
            .collect();
        match self.random.below(100) {
            0..45 if !fitting.is_empty() => variable(self.random.pick(&fitting)),
            0..45 if extent == Extent::Both => {
                self.row_major().unwrap_or_else(|| self.cut(extent, depth))
            }
            45..55 if !fitting.is_empty() => {
                let iterator = variable(self.random.pick(&fitting));
                let last = binary(Binary::Subtract, self.length(extent), *number(1));
                binary(Binary::Subtract, last, iterator)
            }
            55..57 if !fitting.is_empty() => {
                let iterator = variable(self.random.pick(&fitting));
                binary(Binary::Add, iterator, *number(1))
            }
            57..85 if depth > 0 && !keys.is_empty() => {
                let keys = self.random.pick(&keys).clone();
                Expression::Element(self.element(&keys, depth - 1))
            }
            _ => self.cut(extent, depth),
        }
    }

    /// Any integer, cut to the extent.
    fn cut(&mut self, extent: Extent, depth: usize) -> Expression {
        Expression::Within(Box::new(self.integer(depth.min(1))), extent)
    }

    /// The subscript of an element of `n` rows of `m` elements.
    fn row_major(&mut self) -> Option<Expression> {
        let iterators = self.iterators();
        let find = |extent| iterators.iter().find(|it| it.below.contains(&extent));
        let (row, column) = (find(Extent::N)?, find(Extent::M)?);
        let row = binary(Binary::Multiply, variable(row), self.length(Extent::M));
        Some(binary(Binary::Add, row, variable(column)))
    }

    fn length(&self, extent: Extent) -> Expression {
        let ty = match extent {
            Extent::N => self.sizes[0],
            Extent::M => self.sizes[1],
            Extent::Constant(_) | Extent::Both => Type::I32,
        };
        Expression::Variable(extent.to_string(), ty)
    }

    /// A way in which people write that something is gathered in `place`.
    pub(super) fn reduction(&mut self, place: Place) -> Statement {
        let held = Expression::Element(place.clone());
        let ty = place.ty;
        let value = self.unchanging(|it| it.value_for(ty, 1));
        match self.random.below(100) {
            0..30 => self.compound(place),
            30..42 => {
                let sign = *self.random.pick(&["++", "--"]);
                Statement::Step(place, sign, self.random.percent(30))
            }
            42..56 => {
                let value = self.value_for(ty, 2);
                let operator = *self.random.pick(&[Binary::Add, Binary::Multiply]);
                let sum = match self.random.percent(50) {
                    true => binary(operator, held, value),
                    false => binary(operator, value, held),
                };
                let sum = match ty.is_float() || !sum.ty().is_float() {
                    true => sum,
                    false => self.truncated(sum, ty),
                };
                Statement::Assign(place, "", sum)
            }
            56..72 => {
                let condition = self.order(held, value.clone());
                Statement::If(condition, vec![Statement::Assign(place, "", value)], None)
            }
            72..86 => {
                let condition = Box::new(self.order(held.clone(), value.clone()));
                let (yes, no) = match self.random.percent(50) {
                    true => (held, value),
                    false => (value, held),
                };
                let chosen = Expression::Conditional(condition, Box::new(yes), Box::new(no));
                Statement::Assign(place, "", chosen)
            }
            86..93 => {
                let limit = *number(self.random.below(60));
                let condition = binary(Binary::Less, held, limit);
                Statement::If(condition, vec![Statement::Step(place, "++", false)], None)
            }
            _ => self.drifting(place),
        }
    }

    /// Either side first, any of the four orders.
    fn order(&mut self, held: Expression, value: Expression) -> Expression {
        let operator = *self.random.pick(&Binary::COMPARISONS[..4]);
        match self.random.percent(50) {
            true => binary(operator, held, value),
            false => binary(operator, value, held),
        }
    }

    fn compound(&mut self, place: Place) -> Statement {
        if place.ty.is_float() {
            let operator = *self.random.pick(&["+", "-", "*", "/"]);
            let value = self.expression(3);
            return Statement::Assign(place, operator, value);
        }
        let operator = *self
            .random
            .pick(&["+", "+", "+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"]);
        let value = self.integer(3);
        let cut = |value, mask| binary(Binary::And, value, *number(mask));
        let value = match operator {
            "<<" | ">>" => cut(value, 7),
            "/" | "%" => binary(Binary::Add, cut(value, 15), *number(1)),
            _ => value,
        };
        Statement::Assign(place, operator, value)
    }

    /// A sum that is rounded or cut at every step.
    fn drifting(&mut self, place: Place) -> Statement {
        let held = Expression::Element(place.clone());
        let within = binary(
            Binary::BothOf,
            binary(Binary::Greater, held.clone(), *number(10)),
            binary(Binary::Less, held, *number(100)),
        );
        let steps = [("0.5", Type::F64), ("1.75", Type::F64), ("0.1f", Type::F32)];
        let (text, ty) = *self.random.pick(&steps);
        let operator = *self.random.pick(&["+", "-"]);
        let step = Expression::Literal(text.to_owned(), ty);
        Statement::If(within, vec![Statement::Assign(place, operator, step)], None)
    }
}

fn variable(local: &Local) -> Expression {
    Expression::Variable(local.name.clone(), local.ty)
}
