//! The functions of `math.h`, those of `stdlib.h` that compute, and what compilers have for
//! counting bits.

use super::memory::Memory;
use super::value::{self, Typed};
use super::{Binding, Lowering};
use crate::ast::{self, Expr, ExprKind, Name};
use crate::diagnostic::Label;
use crate::problem::{CallProblem, is_library_function, moves_memory};
use strew_affine::spelling::nearest;
use strew_affine::{
    BinaryOp, CompareOp, Expr as Computation, Function, Node, Span, Type, UnaryOp, Value,
};

/// A function that the file does not define.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Library {
    /// On one float type.
    Math(Function, Type),
    /// A function of `math.h` whose result is an integer: `lround`.
    Rounded(Function, Type),
    /// `abs`, `labs` and `llabs`.
    Absolute(Type),
    /// `isnan` and the other macros about one float.
    Classify(Class),
    /// `__builtin_expect`: its first operand, whatever the second says about it.
    Expectation,
    /// `__builtin_popcount` and others on the bits of an integer, whose result is an `int`.
    Bits(Bits, Type),
}

/// What is asked about the bits of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Bits {
    Counted(UnaryOp),
    /// Whether an odd number of them are 1.
    Parity,
    /// The place of the lowest that is 1, counted from 1; 0 where none is.
    FirstSet,
}

/// The names behind `__builtin_`; those with an `l` or two behind them are about 64 bits.
const BITS: [(&str, Bits); 5] = [
    ("popcount", Bits::Counted(UnaryOp::CountOnes)),
    ("clz", Bits::Counted(UnaryOp::LeadingZeros)),
    ("ctz", Bits::Counted(UnaryOp::TrailingZeros)),
    ("parity", Bits::Parity),
    ("ffs", Bits::FirstSet),
];

/// What a macro asks about a float.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Nan,
    Infinite,
    Finite,
    Negative,
}

/// Names that are not of the form "function" or "function and `f`".
const OTHERS: [(&str, Library); 15] = [
    ("abs", Library::Absolute(Type::I32)),
    ("labs", Library::Absolute(Type::I64)),
    ("llabs", Library::Absolute(Type::I64)),
    ("isnan", Library::Classify(Class::Nan)),
    ("isinf", Library::Classify(Class::Infinite)),
    ("isfinite", Library::Classify(Class::Finite)),
    ("signbit", Library::Classify(Class::Negative)),
    ("lround", Library::Rounded(Function::Round, Type::F64)),
    ("llround", Library::Rounded(Function::Round, Type::F64)),
    ("lrint", Library::Rounded(Function::Rint, Type::F64)),
    ("llrint", Library::Rounded(Function::Rint, Type::F64)),
    ("lroundf", Library::Rounded(Function::Round, Type::F32)),
    ("llroundf", Library::Rounded(Function::Round, Type::F32)),
    ("lrintf", Library::Rounded(Function::Rint, Type::F32)),
    ("llrintf", Library::Rounded(Function::Rint, Type::F32)),
];

/// Whether kernels can call the function `name`, which no file has to define.
pub(crate) fn is_callable(name: &str) -> bool {
    Library::from_name(name).is_some() || Memory::named(name).is_some()
}

impl Library {
    fn from_name(name: &str) -> Option<Self> {
        if let Some(function) = Function::from_name(name) {
            return Some(Self::Math(function, Type::F64));
        }
        let single = name.strip_suffix('f').and_then(Function::from_name);
        if let Some(function) = single {
            return Some(Self::Math(function, Type::F32));
        }
        if let Some(name) = name.strip_prefix("__builtin_") {
            return Self::of_builtin(name);
        }
        let (_, other) = OTHERS.iter().find(|(it, _)| *it == name)?;
        Some(*other)
    }

    fn of_builtin(name: &str) -> Option<Self> {
        if name == "expect" {
            return Some(Self::Expectation);
        }
        BITS.iter().find_map(|(plain, bits)| {
            let ty = match name.strip_prefix(plain)? {
                "" => Type::U32,
                "l" | "ll" => Type::U64,
                _ => return None,
            };
            Some(Self::Bits(*bits, ty))
        })
    }

    fn argument_count(self) -> usize {
        match self {
            Self::Math(function, _) | Self::Rounded(function, _) => function.operand_count(),
            Self::Absolute(_) | Self::Classify(_) | Self::Bits(..) => 1,
            Self::Expectation => 2,
        }
    }
}

impl Lowering<'_> {
    /// A call of a function that the file does not define.
    pub(super) fn library_call(
        &mut self,
        name: &Name,
        arguments: &[Expr],
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        let Some(library) = Library::from_name(&name.text) else {
            return self.unknown_function(name, arguments);
        };
        let operands: Vec<&Expr> = arguments.iter().collect();
        let values = self.each(&operands, body);
        let expected = library.argument_count();
        if expected != arguments.len() {
            let problem = CallProblem::ArgumentCount {
                function: name.text.clone(),
                expected,
                found: arguments.len(),
            };
            return self.report(problem, span);
        }
        let values: Vec<Typed> = values?.into_iter().map(|(value, _)| value).collect();
        Some(match library {
            Library::Math(function, ty) => math(function, ty, values),
            Library::Rounded(function, ty) => math(function, ty, values).convert(Type::I64),
            Library::Absolute(ty) => {
                let value = values.into_iter().next()?.convert(ty);
                let value = self.kept(value, span, body);
                let zero = Typed::constant(Value::integer(ty, 0));
                let is_negative = value::compare(CompareOp::Lt, value.clone(), zero);
                let negated = value::negated(value.clone(), &self.ranges);
                value::select(is_negative, negated, value)
            }
            Library::Classify(class) => {
                let value = values.into_iter().next()?;
                let value = if value.ty.is_float() {
                    value
                } else {
                    value.convert(Type::F64)
                };
                let value = self.kept(value, span, body);
                class.of(value, span).convert(Type::I32)
            }
            Library::Expectation => values.into_iter().next()?.convert(Type::I64),
            Library::Bits(bits, ty) => {
                let value = values.into_iter().next()?.convert(ty);
                self.of_bits(bits, value, span, body)
            }
        })
    }

    fn of_bits(&mut self, bits: Bits, value: Typed, span: Span, body: &mut Vec<Node>) -> Typed {
        let one = Typed::constant(Value::integer(Type::I32, 1));
        match bits {
            Bits::Counted(op) => value::bit_count(op, value),
            Bits::Parity => {
                let ones = value::bit_count(UnaryOp::CountOnes, value);
                value::arithmetic(BinaryOp::BitAnd, ones, one, span, &self.ranges)
            }
            Bits::FirstSet => {
                let value = self.kept(value, span, body);
                let zeros = value::bit_count(UnaryOp::TrailingZeros, value.clone());
                let place = value::arithmetic(BinaryOp::Add, zeros, one, span, &self.ranges);
                let nothing = Typed::constant(Value::zero(value.ty));
                let is_nothing = value::compare(CompareOp::Eq, value, nothing);
                value::select(is_nothing, Typed::constant(Value::zero(Type::I32)), place)
            }
        }
    }

    fn unknown_function(&mut self, name: &Name, arguments: &[Expr]) -> Option<Typed> {
        let text = name.text.clone();
        if let Some(prototype) = self.functions.prototype(&text) {
            let label = Label {
                span: prototype.span,
                message: "declared here".to_owned(),
            };
            let problem = CallProblem::NotDefined { function: text };
            self.diagnostics
                .report_with(problem, name.span, vec![label]);
            return None;
        }
        let double = text
            .strip_suffix('l')
            .filter(|it| Library::from_name(it).is_some() && !it.starts_with("__"));
        if let Some(double) = double {
            let double = double.to_owned();
            let problem = CallProblem::LongDouble {
                function: text,
                double,
            };
            return self.report(problem, name.span);
        }
        let plain = text.strip_prefix("__builtin_");
        if let Some(plain) = plain.filter(|it| Library::from_name(it).is_some()) {
            let plain = plain.to_owned();
            let function = text;
            return self.report(CallProblem::Builtin { function, plain }, name.span);
        }
        if is_library_function(&text) {
            return self.refuse_library(name, arguments);
        }
        let library = Function::ALL.iter().map(|it| it.name());
        let library = library.chain(OTHERS.iter().map(|(name, _)| *name));
        let known = library.chain(self.functions.names());
        let nearest = nearest(&text, known).map(str::to_owned);
        let problem = CallProblem::UnknownFunction {
            function: text,
            nearest,
        };
        self.report(problem, name.span)
    }

    /// Reports the call of a function that no kernel can make.
    pub(super) fn refuse_library<T>(&mut self, name: &Name, arguments: &[Expr]) -> Option<T> {
        let function = name.text.clone();
        if moves_memory(&function) && arguments.iter().any(|it| self.is_scalar_address(it)) {
            return self.report(CallProblem::OfScalar { function }, name.span);
        }
        let names = arguments.iter().map(Expr::as_name);
        let problem = CallProblem::Library {
            function,
            arguments: names.map(|it| it.map(|it| it.text.clone())).collect(),
        };
        self.report(problem, name.span)
    }

    fn is_scalar_address(&self, argument: &Expr) -> bool {
        let ExprKind::Unary(ast::UnaryOp::AddressOf, operand) = &argument.kind else {
            return false;
        };
        operand.as_name().is_some_and(|it| {
            matches!(
                self.binding(it),
                Binding::Variable { .. }
                    | Binding::Parameter(_)
                    | Binding::Value(_)
                    | Binding::Let { .. }
            )
        })
    }
}

fn math(function: Function, ty: Type, operands: Vec<Typed>) -> Typed {
    let operands = operands.into_iter().map(|it| it.convert(ty).expr);
    Typed::any(Computation::Call(function, operands.collect()), ty)
}

impl Class {
    /// The answer as a `bool`, or as an `int` where it has more than two values.
    fn of(self, value: Typed, span: Span) -> Typed {
        let ty = value.ty;
        let infinity = || Typed::constant(Value::float(ty, f64::INFINITY));
        match self {
            Self::Nan => value::compare(CompareOp::Ne, value.clone(), value),
            Self::Infinite => {
                // Minus infinity gives -1, as the macro of the platform does.
                let above = value::compare(CompareOp::Eq, value.clone(), infinity());
                let least = Typed::constant(Value::float(ty, f64::NEG_INFINITY));
                let below = value::compare(CompareOp::Eq, value, least);
                let (above, below) = (above.convert(Type::I32), below.convert(Type::I32));
                let difference = Computation::binary(BinaryOp::Sub, above.expr, below.expr, span);
                Typed::any(difference, Type::I32)
            }
            Self::Finite => {
                let size = math(Function::Fabs, ty, vec![value]);
                value::compare(CompareOp::Lt, size, infinity())
            }
            Self::Negative => {
                let one = Typed::constant(Value::float(ty, 1.0));
                let signed = math(Function::Copysign, ty, vec![one, value]);
                let zero = Typed::constant(Value::float(ty, 0.0));
                value::compare(CompareOp::Lt, signed, zero)
            }
        }
    }
}
