//! Random updates of a place.

use super::expression::{Binary, Expression, Place};
use super::generate::Generator;
use super::statement::Statement;
use super::values::{binary, number};
use strew::ir::Type;

impl Generator<'_> {
    /// A way in which people write that something is gathered in `place`.
    pub(super) fn reduction(&mut self, place: Place) -> Statement {
        match self.random.below(100) {
            0..28 => self.compound(place),
            28..40 => {
                let sign = *self.random.pick(&["++", "--"]);
                Statement::Step(place, sign, self.random.percent(30))
            }
            40..54 => self.sum(place),
            54..82 => self.kept_if(place),
            82..86 => self.library_extremum(place),
            86..93 => {
                let limit = *number(self.random.below(60));
                let held = Expression::Element(place.clone());
                let condition = binary(Binary::Less, held, limit);
                Statement::If(condition, vec![Statement::Step(place, "++", false)], None)
            }
            _ => self.drifting(place),
        }
    }

    /// What is held and a value, in either order, or only on a condition.
    fn sum(&mut self, place: Place) -> Statement {
        let held = Expression::Element(place.clone());
        let ty = place.ty;
        let mut operators = vec![Binary::Add, Binary::Add, Binary::Multiply, Binary::Subtract];
        let mut value = self.value_for(ty, 2);
        if self.random.percent(20) {
            let more = self.value_for(ty, 1);
            value = binary(Binary::Add, value, more);
        }
        if !ty.is_float() && !value.ty().is_float() {
            operators.extend(Binary::BITWISE);
        }
        let operator = *self.random.pick(&operators);
        let sum = match self.random.percent(50) {
            true => binary(operator, held.clone(), value),
            false => binary(operator, value, held.clone()),
        };
        let sum = match self.random.percent(10) {
            true => {
                let condition = Box::new(self.expression(1));
                Expression::Conditional(condition, Box::new(sum), Box::new(held))
            }
            false => sum,
        };
        let sum = match ty.is_float() || !sum.ty().is_float() {
            true => sum,
            false => self.truncated(sum, ty),
        };
        Statement::Assign(place, "", sum)
    }

    /// The greater or the lesser, as a decision or as a choice.
    fn kept_if(&mut self, place: Place) -> Statement {
        let held = Expression::Element(place.clone());
        let value = self.unchanging(|it| it.value_for(place.ty, 1));
        let condition = self.order(held.clone(), value.clone());
        if self.random.percent(55) {
            let otherwise = self.random.percent(10).then(|| {
                let held = held.clone();
                vec![Statement::Assign(place.clone(), "", held)]
            });
            return Statement::If(
                condition,
                vec![Statement::Assign(place, "", value)],
                otherwise,
            );
        }
        let (yes, no) = match self.random.percent(50) {
            true => (held, value),
            false => (value, held),
        };
        let chosen = Expression::Conditional(Box::new(condition), Box::new(yes), Box::new(no));
        Statement::Assign(place, "", chosen)
    }

    /// `fmin` or `fmax` of what is held and a value.
    fn library_extremum(&mut self, place: Place) -> Statement {
        if !place.ty.is_float() {
            return self.compound(place);
        }
        let is_wide = place.ty == Type::F64 || self.random.percent(20);
        let (ty, suffix) = if is_wide {
            (Type::F64, "")
        } else {
            (Type::F32, "f")
        };
        let name = format!("{}{suffix}", self.random.pick(&["fmin", "fmax"]));
        let mut operands = vec![Expression::Element(place.clone()), self.expression(1)];
        if self.random.percent(50) {
            operands.reverse();
        }
        Statement::Assign(place, "", Expression::Call(name, ty, operands))
    }

    /// Either side first, any of the four orders.
    pub(super) fn order(&mut self, held: Expression, value: Expression) -> Expression {
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
