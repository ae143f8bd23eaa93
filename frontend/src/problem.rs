//! Everything the front end can object to, by area: what is wrong as data, and beside it the words
//! for it.

mod call;
mod control_flow;
mod declaration;
mod expression;
mod initializer;
mod library;
mod pointer;
mod preprocessing;
mod reduction;
mod subscript;
mod syntax;
mod undefined;
mod unsupported;
mod wording;

pub use call::CallProblem;
pub use control_flow::{ControlFlowProblem, Uncounted};
pub use declaration::DeclarationProblem;
pub use expression::ExpressionProblem;
pub use initializer::InitializerProblem;
pub(crate) use library::{is_known as is_library_function, moves_memory};
pub use pointer::PointerProblem;
pub use preprocessing::{DirectiveFault, NumberFault, PreprocessingProblem};
pub use reduction::ReductionProblem;
pub use subscript::SubscriptProblem;
pub use syntax::SyntaxProblem;
pub use undefined::UndefinedProblem;
pub use unsupported::{Unsupported, UnsupportedDeclaration, UnsupportedFunction};
pub(crate) use wording::c_name;

use crate::Severity;
use std::fmt;

/// What is wrong with a source text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// What is wrong with the text before it is parsed.
    Preprocessing(PreprocessingProblem),
    /// What is wrong with the shape of the text.
    Syntax(SyntaxProblem),
    /// Valid C that the language does not have.
    Unsupported(Unsupported),
    /// What is wrong with a type or a declaration.
    Declaration(DeclarationProblem),
    /// What is wrong with initial values.
    Initializer(InitializerProblem),
    /// What is wrong with an expression.
    Expression(ExpressionProblem),
    /// What is wrong with the use of an array.
    Subscript(SubscriptProblem),
    /// What is wrong with the use of a pointer.
    Pointer(PointerProblem),
    /// What is wrong with a call.
    Call(CallProblem),
    /// What is wrong with the way control goes.
    ControlFlow(ControlFlowProblem),
    /// What C leaves undefined.
    Undefined(UndefinedProblem),
    /// What is wrong with a combiner that the file declares.
    Reduction(ReductionProblem),
}

impl Problem {
    /// Whether kernels can still be made.
    pub fn severity(&self) -> Severity {
        if self.code().starts_with('W') {
            Severity::Warning
        } else {
            Severity::Error
        }
    }

    /// The stable code: `E` and a number for an error, `W` and a number for a warning.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Preprocessing(it) => it.code(),
            Self::Syntax(it) => it.code(),
            Self::Unsupported(_) => "E011",
            Self::Declaration(it) => it.code(),
            Self::Initializer(it) => it.code(),
            Self::Expression(it) => it.code(),
            Self::Subscript(it) => it.code(),
            Self::Pointer(it) => it.code(),
            Self::Call(it) => it.code(),
            Self::ControlFlow(it) => it.code(),
            Self::Undefined(it) => it.code(),
            Self::Reduction(it) => it.code(),
        }
    }

    /// What to do about it.
    pub fn help(&self) -> Option<String> {
        match self {
            Self::Preprocessing(it) => it.help(),
            Self::Syntax(it) => it.help(),
            Self::Unsupported(it) => it.help(),
            Self::Declaration(it) => it.help(),
            Self::Initializer(it) => it.help(),
            Self::Expression(it) => it.help(),
            Self::Subscript(it) => it.help(),
            Self::Pointer(it) => it.help(),
            Self::Call(it) => it.help(),
            Self::ControlFlow(it) => it.help(),
            Self::Undefined(it) => it.help(),
            Self::Reduction(it) => it.help(),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Preprocessing(it) => it.fmt(f),
            Self::Syntax(it) => it.fmt(f),
            Self::Unsupported(it) => it.fmt(f),
            Self::Declaration(it) => it.fmt(f),
            Self::Initializer(it) => it.fmt(f),
            Self::Expression(it) => it.fmt(f),
            Self::Subscript(it) => it.fmt(f),
            Self::Pointer(it) => it.fmt(f),
            Self::Call(it) => it.fmt(f),
            Self::ControlFlow(it) => it.fmt(f),
            Self::Undefined(it) => it.fmt(f),
            Self::Reduction(it) => it.fmt(f),
        }
    }
}

macro_rules! problem_from_areas {
    ($($variant:ident($area:ident)),* $(,)?) => {
        $(impl From<$area> for Problem {
            fn from(problem: $area) -> Self {
                Self::$variant(problem)
            }
        })*
    };
}

problem_from_areas! {
    Preprocessing(PreprocessingProblem),
    Syntax(SyntaxProblem),
    Unsupported(Unsupported),
    Declaration(DeclarationProblem),
    Initializer(InitializerProblem),
    Expression(ExpressionProblem),
    Subscript(SubscriptProblem),
    Pointer(PointerProblem),
    Call(CallProblem),
    ControlFlow(ControlFlowProblem),
    Undefined(UndefinedProblem),
    Reduction(ReductionProblem),
}
