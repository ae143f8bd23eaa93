use crate::{Access, Function, HostAddress, IterId, Kernel, LocalId, ScalarId, Span, Type, Value};

/// A scalar computation, evaluated each time its statement runs. Its meaning is C's with what C
/// leaves open defined: signed arithmetic wraps, a shift count is taken modulo the width, float to
/// integer saturates and NaN gives 0.
///
/// Expressions have no side effects, but some can fault: a [`Expr::Load`] outside its array, an
/// integer division by zero. Operands are evaluated left to right.
#[derive(Clone, Debug, PartialEq)]
pub enum Expr {
    /// A constant.
    Constant(Value),
    /// The value of an enclosing loop's iterator, an `i64`.
    Iter(IterId),
    /// The value of a scalar parameter.
    Param(ScalarId),
    /// The value of a `let` or a mutable scalar.
    Local(LocalId),
    /// An operand of the combiner that this expression is a body of; see
    /// [`Combine::bodies`](crate::Combine::bodies).
    Operand(Operand),
    /// `threads()`: how many threads the call may use, an `i64`; 1 where an index out of range is
    /// skipped, for which loops run in order, and where memory is short. No result may follow from
    /// it.
    Threads,
    /// An array element.
    Load(Access),
    /// An operation on one operand.
    Unary(UnaryOp, Box<Self>),
    /// An operation on two operands of the same type. The span is what a division by zero points
    /// at.
    Binary(BinaryOp, Box<Self>, Box<Self>, Span),
    /// A comparison of two operands of the same type, giving `bool`. With a NaN only
    /// [`CompareOp::Ne`] holds.
    Compare(CompareOp, Box<Self>, Box<Self>),
    /// `left && right` on `bool`; `right` is evaluated only when `left` holds.
    And(Box<Self>, Box<Self>),
    /// `left || right` on `bool`; `right` is evaluated only when `left` does not hold.
    Or(Box<Self>, Box<Self>),
    /// `condition ? then : otherwise`; only the chosen one is evaluated.
    Select(Box<Self>, Box<Self>, Box<Self>),
    /// Conversion to another type, as C converts; to `bool` it is `!= 0`.
    Cast(Type, Box<Self>),
    /// A function of `<math.h>` on as many operands as it takes, all of one float type, which is
    /// also that of the result.
    Call(Function, Vec<Self>),
}

/// The operands of a combiner's bodies, each with the number of the part of the tuple that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// What is there already.
    Held(usize),
    /// What comes to it.
    Incoming(usize),
    /// What a function of the host, or of nobody yet, makes of the first parts of both.
    Host(HostAddress),
}

/// Operations on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-x`, wrapping.
    Neg,
    /// `~x` on integers.
    BitNot,
    /// `!x` on `bool`.
    Not,
    /// How many bits of an integer are 1.
    CountOnes,
    /// How many bits of an integer are 0 above the highest that is 1: all of them in 0.
    LeadingZeros,
    /// How many bits of an integer are 0 below the lowest that is 1: all of them in 0.
    TrailingZeros,
}

impl UnaryOp {
    /// Those that count bits. They are written like functions of one operand, by their names.
    pub const COUNTING: [Self; 3] = [Self::CountOnes, Self::LeadingZeros, Self::TrailingZeros];

    /// The operator in the kernel text, which is C's, or the name of an operation that has none.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Neg => "-",
            Self::BitNot => "~",
            Self::Not => "!",
            Self::CountOnes => "popcount",
            Self::LeadingZeros => "clz",
            Self::TrailingZeros => "ctz",
        }
    }

    /// The operation that the kernel text calls `name`.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::COUNTING.into_iter().find(|it| it.symbol() == name)
    }

    /// Whether operands can have type `ty`.
    pub fn is_defined_on(self, ty: Type) -> bool {
        match self {
            Self::Neg => ty != Type::Bool,
            Self::Not => ty == Type::Bool,
            Self::BitNot | Self::CountOnes | Self::LeadingZeros | Self::TrailingZeros => {
                ty.is_integer()
            }
        }
    }
}

/// Operations on two operands of one type, which is also the type of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    /// Addition, wrapping.
    Add,
    /// Subtraction, wrapping.
    Sub,
    /// Multiplication, wrapping.
    Mul,
    /// Division, towards zero on integers; an integer zero divisor is a fault, `MIN / -1` is `MIN`.
    Div,
    /// The remainder of [`BinaryOp::Div`], with the sign of the dividend; integers only; `MIN % -1`
    /// is 0.
    Rem,
    /// Bitwise and; integers only.
    BitAnd,
    /// Bitwise or; integers only.
    BitOr,
    /// Bitwise exclusive or; integers only.
    BitXor,
    /// Left shift by the count modulo the width; integers only.
    Shl,
    /// Right shift by the count modulo the width, copying the sign of a signed operand; integers
    /// only.
    Shr,
}

impl BinaryOp {
    /// Every operation, those that are defined on floats first.
    pub const ALL: [Self; 10] = [
        Self::Add,
        Self::Sub,
        Self::Mul,
        Self::Div,
        Self::Rem,
        Self::BitAnd,
        Self::BitOr,
        Self::BitXor,
        Self::Shl,
        Self::Shr,
    ];

    /// The operator in the kernel text, which is C's.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
            Self::BitAnd => "&",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::Shl => "<<",
            Self::Shr => ">>",
        }
    }

    /// Defined on integers alone.
    pub fn is_integer_only(self) -> bool {
        !matches!(self, Self::Add | Self::Sub | Self::Mul | Self::Div)
    }
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl CompareOp {
    /// The operator that holds exactly where this one does not, NaNs aside.
    pub fn opposite(self) -> Self {
        match self {
            Self::Eq => Self::Ne,
            Self::Ne => Self::Eq,
            Self::Lt => Self::Ge,
            Self::Le => Self::Gt,
            Self::Gt => Self::Le,
            Self::Ge => Self::Lt,
        }
    }

    /// The operator that says the same of exchanged operands.
    pub fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            same @ (Self::Eq | Self::Ne) => same,
        }
    }

    /// The operator in the kernel text, which is C's.
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
        }
    }
}

impl Expr {
    /// A constant of type `i64`.
    pub fn i64(value: i64) -> Self {
        Self::Constant(Value::i64(value))
    }

    /// `left op right`.
    pub fn binary(op: BinaryOp, left: Self, right: Self, span: Span) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right), span)
    }

    /// `left op right` as a `bool`.
    pub fn compare(op: CompareOp, left: Self, right: Self) -> Self {
        Self::Compare(op, Box::new(left), Box::new(right))
    }

    /// `condition ? then : otherwise`.
    pub fn select(condition: Self, then: Self, otherwise: Self) -> Self {
        Self::Select(Box::new(condition), Box::new(then), Box::new(otherwise))
    }

    /// `op operand`.
    pub fn unary(op: UnaryOp, operand: Self) -> Self {
        Self::Unary(op, Box::new(operand))
    }

    /// The expression converted to `ty`; itself when it has that type already.
    pub fn cast_to(self, ty: Type, kernel: &Kernel) -> Self {
        if self.ty(kernel) == ty {
            self
        } else {
            Self::Cast(ty, Box::new(self))
        }
    }

    /// The type of the value. Only meaningful for an expression of a verified kernel; combiner
    /// operands, whose type is that of the element they combine, count as `i64`.
    pub fn ty(&self, kernel: &Kernel) -> Type {
        match self {
            Self::Constant(value) => value.ty(),
            Self::Iter(_) | Self::Operand(_) | Self::Threads => Type::I64,
            Self::Param(param) => kernel.scalars[*param].ty,
            Self::Local(local) => kernel.locals[*local].ty,
            Self::Load(access) => kernel.arrays[access.array].element,
            Self::Unary(_, operand) | Self::Binary(_, operand, _, _) => operand.ty(kernel),
            Self::Compare(..) | Self::And(..) | Self::Or(..) => Type::Bool,
            Self::Select(_, then, _) => then.ty(kernel),
            Self::Cast(ty, _) => *ty,
            Self::Call(_, operands) => operands.first().map_or(Type::F64, |it| it.ty(kernel)),
        }
    }

    /// The integer that this is written as.
    pub fn as_integer(&self) -> Option<i64> {
        match self {
            Self::Constant(value) => i64::try_from(value.as_integer()?).ok(),
            _ => None,
        }
    }

    /// The integer other than 0 that this is written as: to divide by it is no fault.
    pub fn as_divisor(&self) -> Option<i128> {
        match self {
            Self::Constant(value) => value.as_integer().filter(|it| *it != 0),
            _ => None,
        }
    }

    /// What this is a cast of that changes no value.
    pub fn without_widening(&self, kernel: &Kernel) -> &Self {
        match self {
            Self::Cast(to, inner) if to.holds_all_of(inner.ty(kernel)) => {
                inner.without_widening(kernel)
            }
            _ => self,
        }
    }

    /// What a constant is added to, and that constant; the whole, and 0, where there is none.
    pub fn split_constant(&self) -> (&Self, i64) {
        let split = match self {
            Self::Binary(BinaryOp::Add, base, by, _) => by.as_integer().map(|by| (&**base, by)),
            Self::Binary(BinaryOp::Sub, base, by, _) => {
                let by = by.as_integer().and_then(i64::checked_neg);
                by.map(|by| (&**base, by))
            }
            _ => None,
        };
        split.unwrap_or((self, 0))
    }

    /// Whether this is a quotient of integers, or a remainder, whose divisor may be 0. What it is
    /// made of is not looked at.
    pub fn may_divide_by_zero(&self, kernel: &Kernel) -> bool {
        match self {
            Self::Binary(BinaryOp::Div | BinaryOp::Rem, _, divisor, _) => {
                divisor.as_divisor().is_none() && divisor.ty(kernel).is_integer()
            }
            _ => false,
        }
    }

    /// Whether that may be anywhere in this, but for subscripts.
    pub fn divides(&self, kernel: &Kernel) -> bool {
        let mut operands = self.operands().into_iter();
        self.may_divide_by_zero(kernel) || operands.any(|it| it.divides(kernel))
    }

    /// The parts of a condition that all have to hold, in order of evaluation; another expression
    /// is its only part.
    pub fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::And(left, right) => [left.conjuncts(), right.conjuncts()].concat(),
            _ => vec![self],
        }
    }

    /// The parts of a condition of which one has to hold, in order of evaluation; another
    /// expression is its only part.
    pub fn disjuncts(&self) -> Vec<&Self> {
        match self {
            Self::Or(left, right) => [left.disjuncts(), right.disjuncts()].concat(),
            _ => vec![self],
        }
    }

    /// The expressions that this one is made of, in order of evaluation; those inside subscripts
    /// are not among them.
    pub fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Unary(_, operand) | Self::Cast(_, operand) => vec![operand],
            Self::Binary(_, left, right, _)
            | Self::Compare(_, left, right)
            | Self::And(left, right)
            | Self::Or(left, right) => vec![left, right],
            Self::Select(condition, then, otherwise) => vec![condition, then, otherwise],
            Self::Call(_, operands) => operands.iter().collect(),
            Self::Constant(_)
            | Self::Iter(_)
            | Self::Param(_)
            | Self::Local(_)
            | Self::Operand(_)
            | Self::Threads
            | Self::Load(_) => vec![],
        }
    }

    /// The same, for rewriting in place.
    pub fn operands_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Unary(_, operand) | Self::Cast(_, operand) => vec![operand],
            Self::Binary(_, left, right, _)
            | Self::Compare(_, left, right)
            | Self::And(left, right)
            | Self::Or(left, right) => vec![left, right],
            Self::Select(condition, then, otherwise) => vec![condition, then, otherwise],
            Self::Call(_, operands) => operands.iter_mut().collect(),
            Self::Constant(_)
            | Self::Iter(_)
            | Self::Param(_)
            | Self::Local(_)
            | Self::Operand(_)
            | Self::Threads
            | Self::Load(_) => vec![],
        }
    }
}
