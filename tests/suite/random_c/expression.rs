//! C expressions as trees. Whatever tree there is, its text is C that is defined everywhere or
//! stops with a fault: what could leave that ground (counts of shifts, divisors, subscripts, floats
//! that become integers) is guarded by the way it is written.

use super::function::Extent;
use super::types::{common, promoted};
use std::fmt::{self, Display, Formatter};
use strew::ir::Type;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Plus,
    Minus,
    Complement,
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Multiply,
    /// By a divisor that is never zero, or may be.
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    Unequal,
    And,
    Xor,
    Or,
    BothOf,
    OneOf,
}

impl Binary {
    pub(crate) const ARITHMETIC: [Self; 3] = [Self::Add, Self::Subtract, Self::Multiply];
    pub(crate) const BITWISE: [Self; 3] = [Self::And, Self::Xor, Self::Or];
    pub(crate) const SHIFTS: [Self; 2] = [Self::ShiftLeft, Self::ShiftRight];
    pub(crate) const QUOTIENTS: [Self; 2] = [Self::Divide, Self::Remainder];
    pub(crate) const COMPARISONS: [Self; 6] = [
        Self::Less,
        Self::LessEqual,
        Self::Greater,
        Self::GreaterEqual,
        Self::Equal,
        Self::Unequal,
    ];
    pub(crate) const LOGICAL: [Self; 2] = [Self::BothOf, Self::OneOf];

    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Add => "+",
            Self::Subtract => "-",
            Self::ShiftLeft => "<<",
            Self::ShiftRight => ">>",
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::Unequal => "!=",
            Self::And => "&",
            Self::Xor => "^",
            Self::Or => "|",
            Self::BothOf => "&&",
            Self::OneOf => "||",
        }
    }

    /// How tightly it binds.
    pub(super) fn level(self) -> u8 {
        match self {
            Self::OneOf => 3,
            Self::BothOf => 4,
            Self::Or => 5,
            Self::Xor => 6,
            Self::And => 7,
            Self::Equal | Self::Unequal => 8,
            Self::Less | Self::LessEqual | Self::Greater | Self::GreaterEqual => 9,
            Self::ShiftLeft | Self::ShiftRight => 10,
            Self::Add | Self::Subtract => 11,
            Self::Multiply | Self::Divide | Self::Remainder => 12,
        }
    }

    fn is_shift(self) -> bool {
        Self::SHIFTS.contains(&self)
    }

    fn gives_truth(self) -> bool {
        Self::COMPARISONS.contains(&self) || Self::LOGICAL.contains(&self)
    }
}

const COMMA: u8 = 0;
pub(super) const ASSIGNMENT: u8 = 1;
const CONDITIONAL: u8 = 2;
const UNARY: u8 = 13;
const POSTFIX: u8 = 14;
const PRIMARY: u8 = 15;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Expression {
    /// As it is written, and its type.
    Literal(String, Type),
    Variable(String, Type),
    Element(Place),
    Unary(Unary, Box<Expression>),
    Binary(Binary, Box<Expression>, Box<Expression>),
    /// An integer quotient or remainder; the divisor is cut to 1 … 15, or to 0 … 3 where it may be
    /// zero.
    Quotient {
        operator: Binary,
        dividend: Box<Expression>,
        divisor: Box<Expression>,
        may_be_zero: bool,
    },
    Conditional(Box<Expression>, Box<Expression>, Box<Expression>),
    /// How the type is written, the type, and what is converted.
    Cast(&'static str, Type, Box<Expression>),
    /// A float variable as an integer: 1 where it is not between 0 and 100.
    Truncated(&'static str, Type, String),
    /// An integer that is cut to `0..extent`.
    Within(Box<Expression>, Extent),
    /// A variable that is stepped: by `++` or `--`, before or behind it.
    Stepped(String, Type, &'static str, bool),
    /// A variable that is assigned to, and the operator before `=`.
    Assigned(String, Type, &'static str, Box<Expression>),
    Comma(Box<Expression>, Box<Expression>),
    /// Of a function of the file or of the library.
    Call(String, Type, Vec<Expression>),
    /// A structure: how its type is written, and its members. It has no type that anybody asks for.
    Structure(String, Vec<Expression>),
    /// A member of a structure, with the dot before it.
    Member(Box<Expression>, String, Type),
}

impl Expression {
    pub(crate) fn ty(&self) -> Type {
        match self {
            Self::Literal(_, ty)
            | Self::Variable(_, ty)
            | Self::Cast(_, ty, _)
            | Self::Truncated(_, ty, _)
            | Self::Stepped(_, ty, ..)
            | Self::Call(_, ty, _)
            | Self::Member(_, _, ty)
            | Self::Assigned(_, ty, ..) => *ty,
            Self::Comma(_, last) => last.ty(),
            Self::Element(place) => place.ty,
            Self::Unary(Unary::Not, _) => Type::I32,
            Self::Unary(_, operand) => promoted(operand.ty()),
            Self::Binary(operator, ..) if operator.gives_truth() => Type::I32,
            Self::Binary(operator, left, _) if operator.is_shift() => promoted(left.ty()),
            Self::Binary(_, left, right)
            | Self::Quotient {
                dividend: left,
                divisor: right,
                ..
            }
            | Self::Conditional(_, left, right) => common(left.ty(), right.ty()),
            Self::Within(..) => Type::U64,
            Self::Structure(..) => Type::I32,
        }
    }

    fn level(&self) -> u8 {
        match self {
            Self::Literal(text, _) if text.starts_with('-') => UNARY,
            Self::Literal(..) | Self::Variable(..) => PRIMARY,
            Self::Element(_) => POSTFIX,
            Self::Unary(..) | Self::Cast(..) | Self::Truncated(..) => UNARY,
            Self::Binary(operator, ..) | Self::Quotient { operator, .. } => operator.level(),
            Self::Conditional(..) => CONDITIONAL,
            Self::Within(..) => Binary::Remainder.level(),
            Self::Stepped(_, _, _, true) => UNARY,
            Self::Stepped(_, _, _, false) | Self::Call(..) => POSTFIX,
            Self::Structure(..) | Self::Member(..) => POSTFIX,
            Self::Assigned(..) => ASSIGNMENT,
            Self::Comma(..) => COMMA,
        }
    }

    /// The text, in parentheses where it binds less tightly than `level`.
    pub(super) fn at(&self, level: u8) -> String {
        if self.level() < level {
            format!("({self})")
        } else {
            self.to_string()
        }
    }
}

impl Display for Expression {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Literal(text, _) | Self::Variable(text, _) => f.write_str(text),
            Self::Element(place) => place.fmt(f),
            Self::Unary(operator, operand) => {
                let sign = match operator {
                    Unary::Plus => "+",
                    Unary::Minus => "-",
                    Unary::Complement => "~",
                    Unary::Not => "!",
                };
                // Two signs in a row would be another operator.
                write!(f, "{sign}{}", operand.at(POSTFIX))
            }
            Self::Binary(operator, left, right) => {
                let level = operator.level();
                let right = if operator.is_shift() {
                    let bits = promoted(left.ty()).bits() - 1;
                    format!("({} & {bits})", right.at(Binary::And.level()))
                } else {
                    right.at(level + 1)
                };
                write!(f, "{} {} {right}", left.at(level), operator.text())
            }
            Self::Quotient {
                operator,
                dividend,
                divisor,
                may_be_zero,
            } => {
                let (dividend, operator) = (dividend.at(operator.level()), operator.text());
                let divisor = divisor.at(Binary::And.level());
                match may_be_zero {
                    true => write!(f, "{dividend} {operator} ({divisor} & 3)"),
                    // Of `1 - a / (b + 1)` GCC makes `1 + a / ~b`, and the least integer divided by
                    // -1 stops the program.
                    false => write!(f, "{dividend} {operator} ({divisor} & 15 | 1)"),
                }
            }
            Self::Conditional(condition, yes, no) => {
                let (condition, no) = (condition.at(CONDITIONAL + 1), no.at(CONDITIONAL));
                write!(f, "{condition} ? {yes} : {no}")
            }
            Self::Cast(name, _, operand) => write!(f, "({name}){}", operand.at(UNARY)),
            Self::Truncated(name, _, variable) => write!(
                f,
                "({name})({variable} > 0 && {variable} < 100 ? {variable} : 1)"
            ),
            Self::Within(value, extent) => {
                write!(f, "(uint64_t){} % (uint64_t)({extent})", value.at(UNARY))
            }
            Self::Stepped(name, _, sign, true) => write!(f, "{sign}{name}"),
            Self::Stepped(name, _, sign, false) => write!(f, "{name}{sign}"),
            Self::Assigned(name, _, operator, value) => {
                write!(f, "{name} {operator}= {}", value.at(ASSIGNMENT))
            }
            Self::Call(name, _, arguments) => {
                let arguments: Vec<_> = arguments.iter().map(|it| it.at(ASSIGNMENT)).collect();
                write!(f, "{name}({})", arguments.join(", "))
            }
            Self::Structure(name, members) => {
                let members: Vec<_> = members.iter().map(|it| it.at(ASSIGNMENT)).collect();
                write!(f, "({name}){{{}}}", members.join(", "))
            }
            Self::Member(structure, member, _) => write!(f, "{}{member}", structure.at(POSTFIX)),
            Self::Comma(first, last) => write!(f, "{first}, {}", last.at(ASSIGNMENT)),
        }
    }
}

/// A variable, an element, or a member of an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) subscripts: Vec<Expression>,
    /// The member, with the dot before it; empty where there is none.
    pub(crate) member: String,
    /// The subscripts behind the member.
    pub(crate) within: Vec<Expression>,
}

impl Place {
    pub(crate) fn variable(name: String, ty: Type) -> Self {
        Self {
            name,
            ty,
            subscripts: Vec::new(),
            member: String::new(),
            within: Vec::new(),
        }
    }
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        let mut subscripts = self.subscripts.iter();
        subscripts.try_for_each(|it| write!(f, "[{it}]"))?;
        f.write_str(&self.member)?;
        let mut within = self.within.iter();
        within.try_for_each(|it| write!(f, "[{it}]"))
    }
}
