//! From C source text to kernels.
//!
//! [`compile`] goes the whole way: tokens, macros and directives, the syntax tree, names, and the
//! kernel of every function. The kernel means exactly what the C function means, with what C leaves
//! open defined; statements that are reductions are marked as such, loops and subscripts that are
//! affine are affine, and each of these is proved, never assumed.
//!
//! What is wrong with a source text is a list of [`Diagnostic`]s: data with spans, for somebody
//! else to show.

#![forbid(unsafe_code)]

pub mod ast;
mod ast_print;
mod brackets;
mod calls;
mod constant;
mod diagnostic;
mod expected;
mod extensions;
mod flow;
mod initializer;
mod literal;
mod locals;
mod lower;
mod names;
mod needed;
mod parse;
mod preprocess;
mod problem;
mod raise;
mod recognize;
mod resolve;
mod splice;
mod structure;
mod token;
mod typedef_names;
mod types;
mod unknown_types;

pub use diagnostic::{Diagnostic, Label, Severity};
pub use problem::{
    CallProblem, ControlFlowProblem, DeclarationProblem, DirectiveFault, ExpressionProblem,
    InitializerProblem, NumberFault, PointerProblem, PreprocessingProblem, Problem,
    ReductionProblem, SubscriptProblem, SyntaxProblem, Uncounted, UndefinedProblem, Unsupported,
    UnsupportedDeclaration, UnsupportedFunction,
};
pub use structure::{Structure, StructureMember};
pub use token::TypeWord;

use calls::Functions;
use diagnostic::Diagnostics;
use needed::Reading;
use strew_affine::{AffineExpr, Combiner, IterId, Kernel, Span, Type};

/// A kernel and what the source says about its loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Lowered {
    /// The kernel.
    pub kernel: Kernel,
    /// The `#pragma strew` lines, in the order of the source.
    pub pragmas: Vec<Pragma>,
    /// The variables of the loops that count.
    pub variables: Vec<LoopVariable>,
}

/// A variable that a loop counts by, which is its iterator or a function of that.
#[derive(Clone, Debug, PartialEq)]
pub struct LoopVariable {
    /// The iterator.
    pub iter: IterId,
    /// What the source calls the variable: several can be called the same there.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// Its value in a turn, up to multiples of two to the width of the type, where that is affine.
    pub value: Option<AffineExpr>,
}

/// A `#pragma strew` line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pragma {
    /// The iterator of the loop that follows.
    pub loop_iter: IterId,
    /// What stands behind `strew`.
    pub text: String,
    /// Where that stands in the source.
    pub span: Span,
}

/// The kernels of a source file, one for each function, and everything there is to say about it.
///
/// A `static` function is part of its callers and no kernel of its own, but in a file of such
/// functions alone, where those are that no other calls. Nor is `main` beside others, and nothing
/// is said about it or about what it alone needs of types and constants.
///
/// There are kernels only if none of the diagnostics is an error.
///
/// A kernel may assume something of its parameters, where that keeps a loop or a subscript affine
/// which would not be for all parameters: that no sum in a machine integer wraps, for instance. For
/// other parameters [`compile_exact`] makes the same kernels without assumptions.
pub fn compile(source: &str) -> (Vec<Lowered>, Vec<Diagnostic>) {
    Request::default().compile(source)
}

/// The same as [`compile`], for all parameters: what is affine only for some of them is computed as
/// C computes it.
///
/// A pragma about a loop that only counts under assumptions is left out.
pub fn compile_exact(source: &str) -> (Vec<Lowered>, Vec<Diagnostic>) {
    Request {
        assumes: false,
        ..Request::default()
    }
    .compile(source)
}

/// What to make of a source file.
#[derive(Clone, Copy, Debug)]
pub struct Request<'r> {
    /// The function to make a kernel of, `static` or not; all that can be one where there is no
    /// function of this name. Nothing is said about what it does not need of the file.
    pub kernel: Option<&'r str>,
    /// The combiners that the host gives. The file declares each as a function of two numbers
    /// without a body.
    pub host: &'r [Combiner],
    /// Whether kernels may assume something of their parameters.
    pub assumes: bool,
}

impl Default for Request<'_> {
    /// What [`compile`] makes.
    fn default() -> Self {
        Self {
            kernel: None,
            host: &[],
            assumes: true,
        }
    }
}

impl Request<'_> {
    /// Does as [`compile`] or, without assumptions, as [`compile_exact`].
    pub fn compile(&self, source: &str) -> (Vec<Lowered>, Vec<Diagnostic>) {
        let mut diagnostics = Diagnostics::default();
        let reading = self.kernel.map_or(Reading::Kernels, Reading::Kernel);
        let mut file = parse::parse(source, reading, &mut diagnostics);
        let globals = resolve::globals(&mut file, &mut diagnostics);
        let symbols = file.functions.iter_mut();
        let symbols: Vec<_> = symbols
            .map(|it| resolve::resolve(it, &globals, &mut diagnostics))
            .collect();
        let declared = resolve::reductions(&mut file.reductions, &globals, &mut diagnostics);
        let functions = file.functions.iter().zip(&symbols);
        let called = declared.iter().flatten();
        let functions = Functions::new(functions, &file.prototypes, called, &mut diagnostics);
        functions.check_recursion(&mut diagnostics);
        let reductions = file.reductions.iter().zip(&declared);
        let mut combiners = lower::reductions(reductions, &functions, &mut diagnostics);
        combiners.extend(lower::of_host(self.host, &functions, &mut diagnostics));
        let mut kernels = Vec::new();
        for kernel in functions.kernels(self.kernel) {
            if diagnostics.is_full() {
                break;
            }
            kernels.push(lower::lower(
                kernel,
                &functions,
                &combiners,
                self.assumes,
                &mut diagnostics,
            ));
        }
        if diagnostics.has_errors() {
            kernels.clear();
        } else if self.kernel.is_none() {
            lower::report_unused(&file.reductions, &combiners, &kernels, &mut diagnostics);
        }
        (kernels, diagnostics.into_sorted())
    }
}

/// The syntax tree of a source file, as far as it could be parsed. It prints as an indented list.
pub fn parse(source: &str) -> (ast::File, Vec<Diagnostic>) {
    let mut diagnostics = Diagnostics::default();
    let file = parse::parse(source, Reading::All, &mut diagnostics);
    (file, diagnostics.into_sorted())
}
