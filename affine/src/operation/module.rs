//! Computations with everything looked up and checked.

use super::analysis::Value;
use super::call::Read;
use super::error::ModuleError;
use super::resolve;
use super::shape::Shape;
use crate::Span;

/// An HLO-like text whose names, shapes and attributes fit together.
#[derive(Clone, Debug)]
pub struct Module {
    pub(super) computations: Vec<Computation>,
    /// Which of them is meant.
    pub(super) entry: usize,
}

/// Instructions that speak of each other.
#[derive(Clone, Debug)]
pub struct Computation {
    pub(super) name: Option<String>,
    pub(super) is_entry: bool,
    /// Each stands behind its operands.
    pub(super) instructions: Vec<Instruction>,
    pub(super) root: usize,
    /// The instruction of each parameter.
    pub(super) parameters: Vec<usize>,
}

/// One instruction: a name for what an operation computes.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub(super) name: String,
    pub(super) span: Span,
    pub(super) opcode: String,
    pub(super) shape: Shape,
    /// Instructions of the same computation that stand before this one.
    pub(super) operands: Vec<usize>,
    pub(super) action: Action,
}

/// Where the elements that an instruction computes come from.
#[derive(Clone, Debug)]
pub(super) enum Action {
    /// From outside, as the parameter of that number.
    Parameter(usize),
    /// They are all known; the integer that all of them are, if they are all one.
    Constant(Option<i64>),
    /// Each is its index along that dimension.
    Iota(usize),
    /// From elements of the operands.
    Reads(Vec<Read>),
    /// As the computation of that number says.
    Call(usize),
    /// It is not known from which.
    Unknown,
}

impl Module {
    /// Reads an HLO-like text. `docs/indexing.md` describes it.
    ///
    /// # Errors
    /// What is wrong with the text: the first error of its grammar, or all errors of names, shapes
    /// and attributes.
    pub fn parse(source: &str) -> Result<Self, Vec<ModuleError>> {
        resolve::module(source)
    }

    /// The instruction at a position of a computation.
    pub fn instruction(&self, computation: usize, position: usize) -> Option<&Instruction> {
        self.computations
            .get(computation)?
            .instructions
            .get(position)
    }

    /// What a value is called: its instruction, behind the instructions that call the computation
    /// that this stands in, as `call/name`.
    pub fn name_of(&self, value: &Value) -> String {
        let mut path = value.calls.clone();
        path.push((value.computation, value.instruction));
        let instructions = path.into_iter();
        let names = instructions.filter_map(|(computation, at)| self.instruction(computation, at));
        let names: Vec<_> = names.map(Instruction::name).collect();
        names.join("/")
    }

    /// All computations, each behind those that it calls.
    pub fn computations(&self) -> &[Computation] {
        &self.computations
    }

    /// The position of the computation that is meant: the one marked `ENTRY`, else the instructions
    /// that stand in no computation, else the last computation that no attribute of another names.
    pub fn entry(&self) -> usize {
        self.entry
    }
}

impl Computation {
    /// Its name; `None` for instructions that stand in no computation.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether it is marked `ENTRY`.
    pub fn is_entry(&self) -> bool {
        self.is_entry
    }

    /// Its instructions, each behind its operands.
    pub fn instructions(&self) -> &[Instruction] {
        &self.instructions
    }

    /// The position of the instruction whose value the computation has: the one marked `ROOT`, else
    /// the last.
    pub fn root(&self) -> usize {
        self.root
    }

    /// The positions of its parameters, in the order of their numbers.
    pub fn parameters(&self) -> &[usize] {
        &self.parameters
    }
}

impl Instruction {
    /// Its name, without a percent sign.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its name stands.
    pub fn span(&self) -> Span {
        self.span
    }

    /// The name of its operation.
    pub fn opcode(&self) -> &str {
        &self.opcode
    }

    /// What it computes.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// The positions of its operands among the instructions of its computation.
    pub fn operands(&self) -> &[usize] {
        &self.operands
    }
}
