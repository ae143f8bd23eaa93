//! C functions as trees. Whatever tree there is, its text is C that is defined everywhere or stops with a fault: what could leave
//! that ground (counts of shifts, divisors, subscripts, floats that become integers) is guarded by the way it is written.

use super::types::{common, promoted};
use std::fmt::{self, Display, Formatter};
use strew::ir::Type;

/// The length of an array in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    N,
    M,
    /// The product of the two.
    Both,
    Constant(u8),
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::N => f.write_str("n"),
            Self::M => f.write_str("m"),
            Self::Both => f.write_str("n * m"),
            Self::Constant(length) => length.fmt(f),
        }
    }
}

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
    fn level(self) -> u8 {
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
const ASSIGNMENT: u8 = 1;
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
    /// An integer quotient or remainder; the divisor is cut to 1 … 16, or to 0 … 3 where it may be zero.
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
            Self::Assigned(..) => ASSIGNMENT,
            Self::Comma(..) => COMMA,
        }
    }

    /// The text, in parentheses where it binds less tightly than `level`.
    fn at(&self, level: u8) -> String {
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
                    false => write!(f, "{dividend} {operator} (({divisor} & 15) + 1)"),
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
            Self::Comma(first, last) => write!(f, "{first}, {}", last.at(ASSIGNMENT)),
        }
    }
}

/// A variable or an element.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) subscripts: Vec<Expression>,
}

impl Display for Place {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.subscripts
            .iter()
            .try_for_each(|it| write!(f, "[{it}]"))
    }
}

pub(crate) type Block = Vec<Statement>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// How the type is written, the name, and the first value.
    Declare(&'static str, String, Expression),
    /// The operator before `=`, nothing for a plain assignment.
    Assign(Place, &'static str, Expression),
    /// The same value for two places.
    Chain(Place, Place, Expression),
    /// An expression for what it does.
    Effect(Expression),
    /// A step as a statement: before or behind the place, up or down.
    Step(Place, &'static str, bool),
    If(Expression, Block, Option<Block>),
    For {
        /// How the type of the iterator is written.
        ty: &'static str,
        iterator: String,
        from: Expression,
        /// The condition and the step as they are written.
        condition: String,
        step: String,
        body: Block,
    },
    /// Runs at most as often as the counter says, which is declared before it.
    While {
        counter: String,
        turns: Expression,
        condition: Expression,
        body: Block,
    },
    /// As `While`, and the first turn comes without a question.
    Do {
        counter: String,
        turns: Expression,
        condition: Expression,
        body: Block,
    },
    /// Each with its labels.
    Switch(Expression, Vec<(Vec<Label>, Block)>),
    /// `break` or `continue`.
    Leave(&'static str),
    Return(Option<Expression>),
    /// How the type is written, the array, and its first elements.
    Array(Array, Vec<Expression>),
    Block(Block),
}

/// A value, or none for `default`.
pub(crate) type Label = Option<i32>;

impl Statement {
    fn write(&self, f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        match self {
            Self::Declare(ty, name, value) => {
                writeln!(f, "{indent}{ty} {name} = {};", value.at(ASSIGNMENT))
            }
            Self::Assign(place, operator, value) => {
                writeln!(f, "{indent}{place} {operator}= {};", value.at(ASSIGNMENT))
            }
            Self::Chain(first, second, value) => {
                let value = value.at(ASSIGNMENT);
                writeln!(f, "{indent}{first} = {second} = {value};")
            }
            Self::Effect(expression) => writeln!(f, "{indent}{expression};"),
            Self::Step(place, sign, true) => writeln!(f, "{indent}{sign}{place};"),
            Self::Step(place, sign, false) => writeln!(f, "{indent}{place}{sign};"),
            Self::If(condition, yes, no) => {
                writeln!(f, "{indent}if ({condition}) {{")?;
                write_block(f, yes, depth + 1)?;
                if let Some(no) = no {
                    writeln!(f, "{indent}}} else {{")?;
                    write_block(f, no, depth + 1)?;
                }
                writeln!(f, "{indent}}}")
            }
            Self::For {
                ty,
                iterator,
                from,
                condition,
                step,
                body,
            } => {
                let from = from.at(ASSIGNMENT);
                writeln!(
                    f,
                    "{indent}for ({ty} {iterator} = {from}; {condition}; {step}) {{"
                )?;
                write_block(f, body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
            Self::While {
                counter,
                turns,
                condition,
                body,
            } => {
                let turns = turns.at(Binary::And.level());
                writeln!(f, "{indent}int {counter} = {turns} & 7;")?;
                let condition = condition.at(Binary::BothOf.level());
                writeln!(f, "{indent}while ({counter} > 0 && {condition}) {{")?;
                writeln!(f, "{indent}  {counter}--;")?;
                write_block(f, body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
            Self::Do {
                counter,
                turns,
                condition,
                body,
            } => {
                let turns = turns.at(Binary::And.level());
                writeln!(f, "{indent}int {counter} = {turns} & 7;")?;
                writeln!(f, "{indent}do {{")?;
                write_block(f, body, depth + 1)?;
                let condition = condition.at(Binary::BothOf.level());
                writeln!(f, "{indent}}} while ({counter}-- > 0 && {condition});")
            }
            Self::Switch(value, cases) => {
                writeln!(f, "{indent}switch ({value}) {{")?;
                for (labels, body) in cases {
                    for label in labels {
                        match label {
                            Some(label) => writeln!(f, "{indent}case {label}:")?,
                            None => writeln!(f, "{indent}default:")?,
                        }
                    }
                    writeln!(f, "{indent}{{")?;
                    write_block(f, body, depth + 1)?;
                    writeln!(f, "{indent}}}")?;
                }
                writeln!(f, "{indent}}}")
            }
            Self::Return(None) => writeln!(f, "{indent}return;"),
            Self::Return(Some(value)) => writeln!(f, "{indent}return {value};"),
            Self::Leave(word) => writeln!(f, "{indent}{word};"),
            Self::Array(array, values) => {
                write!(f, "{indent}{array}")?;
                if !values.is_empty() {
                    let values: Vec<_> = values.iter().map(|it| it.at(ASSIGNMENT)).collect();
                    write!(f, " = {{{}}}", values.join(", "))?;
                }
                writeln!(f, ";")
            }
            Self::Block(body) => {
                writeln!(f, "{indent}{{")?;
                write_block(f, body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
        }
    }
}

fn write_block(f: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
    block.iter().try_for_each(|it| it.write(f, depth))
}

/// What the elements of an array are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Anything.
    Values,
    /// Subscripts below an extent.
    Keys(Extent),
    /// Where rows begin in an array of `m`, one more than there are rows.
    Rows,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    /// How the type of the elements is written.
    pub(crate) spelling: &'static str,
    pub(crate) ty: Type,
    pub(crate) name: String,
    pub(crate) extents: Vec<Extent>,
    pub(crate) role: Role,
    pub(crate) is_written: bool,
}

impl Display for Array {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let constant = if self.is_written { "" } else { "const " };
        write!(f, "{constant}{} {}", self.spelling, self.name)?;
        match self.role {
            Role::Rows => f.write_str("[n + 1]"),
            _ => self.extents.iter().try_for_each(|it| write!(f, "[{it}]")),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// How the type of its value is written, and the type.
    pub(crate) result: Option<(&'static str, Type)>,
    /// The types of `n` and `m`.
    pub(crate) sizes: [Type; 2],
    /// How the type is written, the type, and the name.
    pub(crate) scalars: Vec<(&'static str, Type, String)>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) body: Block,
    /// What it calls.
    pub(crate) helpers: Vec<Function>,
}

impl Function {
    fn write(&self, f: &mut Formatter<'_>, storage: &str) -> fmt::Result {
        let [n, m] = self.sizes.map(crate::c::c_type);
        let result = self.result.map_or("void", |it| it.0);
        write!(f, "{storage}{result} {}({n} n, {m} m", self.name)?;
        for (spelling, _, name) in &self.scalars {
            write!(f, ", {spelling} {name}")?;
        }
        for array in &self.arrays {
            write!(f, ", {array}")?;
        }
        writeln!(f, ") {{")?;
        write_block(f, &self.body, 1)?;
        writeln!(f, "}}")
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for header in ["stdint", "math", "stdlib"] {
            writeln!(f, "#include <{header}.h>")?;
        }
        for helper in &self.helpers {
            helper.write(f, "static ")?;
        }
        self.write(f, "")
    }
}
