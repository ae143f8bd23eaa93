//! What the grammar builds: names not yet looked up, attributes not yet understood.

use crate::Span;

#[derive(Clone, Copy, Debug)]
pub(in crate::operation) struct Word<'a> {
    pub(in crate::operation) text: &'a str,
    pub(in crate::operation) span: Span,
}

impl<'a> Word<'a> {
    /// The text as a name: one that is written with a percent sign is the same as one without.
    pub(in crate::operation) fn name(self) -> &'a str {
        self.text.strip_prefix('%').unwrap_or(self.text)
    }
}

/// What stands at the top of a text.
#[derive(Debug)]
pub(in crate::operation) enum Item<'a> {
    Computation(Computation<'a>),
    Instruction(Instruction<'a>),
}

#[derive(Debug)]
pub(in crate::operation) struct Computation<'a> {
    pub(in crate::operation) is_entry: bool,
    pub(in crate::operation) name: Word<'a>,
    pub(in crate::operation) instructions: Vec<Instruction<'a>>,
}

/// `ROOT name = shape opcode(operands), attributes`.
#[derive(Debug)]
pub(in crate::operation) struct Instruction<'a> {
    pub(in crate::operation) is_root: bool,
    pub(in crate::operation) name: Word<'a>,
    pub(in crate::operation) shape: Option<Shape<'a>>,
    pub(in crate::operation) opcode: Word<'a>,
    pub(in crate::operation) operands: Vec<Operand<'a>>,
    pub(in crate::operation) attributes: Vec<Attribute<'a>>,
}

#[derive(Debug)]
pub(in crate::operation) struct Operand<'a> {
    pub(in crate::operation) shape: Option<Shape<'a>>,
    pub(in crate::operation) value: OperandValue<'a>,
}

#[derive(Debug)]
pub(in crate::operation) enum OperandValue<'a> {
    /// A name; the number of a parameter; the value of a constant.
    Word(Word<'a>),
    /// The elements of a constant.
    Literal(Vec<Tree<'a>>, Span),
}

#[derive(Debug)]
pub(in crate::operation) struct Shape<'a> {
    pub(in crate::operation) span: Span,
    pub(in crate::operation) kind: ShapeKind<'a>,
}

#[derive(Debug)]
pub(in crate::operation) enum ShapeKind<'a> {
    Array {
        element: Word<'a>,
        extents: Vec<Word<'a>>,
        layout: Option<Layout<'a>>,
    },
    Tuple(Vec<Shape<'a>>),
}

#[derive(Debug)]
pub(in crate::operation) struct Layout<'a> {
    pub(in crate::operation) span: Span,
    pub(in crate::operation) minor_to_major: Vec<Word<'a>>,
    pub(in crate::operation) is_tiled: bool,
}

#[derive(Debug)]
pub(in crate::operation) struct Attribute<'a> {
    pub(in crate::operation) name: Word<'a>,
    pub(in crate::operation) value: Vec<Tree<'a>>,
}

/// A part of the value of an attribute.
#[derive(Debug)]
pub(in crate::operation) struct Tree<'a> {
    pub(in crate::operation) span: Span,
    pub(in crate::operation) kind: TreeKind<'a>,
}

#[derive(Debug)]
pub(in crate::operation) enum TreeKind<'a> {
    Word(&'a str),
    Mark(&'a str),
    /// The bracket that opens it, and what is inside.
    Group(char, Vec<Tree<'a>>),
}
