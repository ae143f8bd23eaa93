//! What the grammar builds: names not yet looked up, literals without a type.

use crate::{BinaryOp, CompareOp, Function, Span, Type, UnaryOp};

#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

/// What stands at the top of a text.
#[derive(Debug)]
pub(super) enum Item<'a> {
    Kernel(Kernel<'a>),
    Reduction(Reduction<'a>),
}

/// `reduction @name(held, incoming: type) = body identity(neutral)`; without a body, of a host;
/// without an identity, in order.
#[derive(Debug)]
pub(super) struct Reduction<'a> {
    pub(super) name: Name<'a>,
    pub(super) held: Name<'a>,
    pub(super) incoming: Name<'a>,
    pub(super) ty: Type,
    pub(super) body: Option<Tree<'a>>,
    pub(super) identity: Option<Tree<'a>>,
}

#[derive(Debug)]
pub(super) struct Kernel<'a> {
    pub(super) name: Name<'a>,
    pub(super) params: Vec<KernelParam<'a>>,
    /// The type behind the arrow.
    pub(super) result: Option<Type>,
    pub(super) assumptions: Vec<Tree<'a>>,
    pub(super) body: Vec<Statement<'a>>,
    pub(super) returned: Option<Tree<'a>>,
}

/// `name` or `name(parameter)`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Combiner<'a> {
    pub(super) name: Name<'a>,
    pub(super) parameter: Option<Literal<'a>>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum KernelParam<'a> {
    Plain(Param<'a>),
    Record(RecordParam<'a>),
}

/// `name: record(bytes) { fields }[extents]`.
#[derive(Debug)]
pub(super) struct RecordParam<'a> {
    pub(super) name: Name<'a>,
    pub(super) bytes: Name<'a>,
    pub(super) fields: Vec<RecordField<'a>>,
    pub(super) extents: Vec<Tree<'a>>,
}

/// `name: type @ offset` or `name: type[lengths] @ offset`.
#[derive(Debug)]
pub(super) struct RecordField<'a> {
    pub(super) name: Name<'a>,
    pub(super) ty: Type,
    pub(super) lengths: Option<Vec<Tree<'a>>>,
    pub(super) offset: Name<'a>,
}

/// `name: type`, `infer name: type`, `name: type[extents]` or `name: type[extents] infer length`.
#[derive(Debug)]
pub(super) struct Param<'a> {
    pub(super) name: Name<'a>,
    pub(super) ty: Type,
    pub(super) extents: Option<Vec<Tree<'a>>>,
    pub(super) length: Option<Name<'a>>,
    pub(super) inferred: bool,
}

/// The word that a declaration begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Binder {
    Let,
    Var,
    Element,
}

#[derive(Debug)]
pub(super) struct Statement<'a> {
    /// Of a loop or condition: up to its opening brace.
    pub(super) span: Span,
    pub(super) kind: StatementKind<'a>,
}

pub(super) type Block<'a> = Vec<Statement<'a>>;

#[derive(Debug)]
pub(super) enum StatementKind<'a> {
    AffineFor(AffineFor<'a>),
    AffineIf {
        conditions: Vec<Tree<'a>>,
        then: Block<'a>,
        otherwise: Block<'a>,
    },
    Forall(Forall<'a>),
    ScfFor(ScfFor<'a>),
    ScfWhile {
        condition: Tree<'a>,
        body: Block<'a>,
    },
    ScfIf {
        condition: Tree<'a>,
        then: Block<'a>,
        otherwise: Block<'a>,
    },
    Declare {
        binder: Binder,
        name: Name<'a>,
        ty: Type,
        value: Tree<'a>,
    },
    Alloc {
        array: Param<'a>,
    },
    View {
        name: Name<'a>,
        of: ViewOf<'a>,
    },
    Assign {
        place: Tree<'a>,
        value: Tree<'a>,
    },
    Reduce {
        places: Vec<Tree<'a>>,
        combiner: Combiner<'a>,
        values: Vec<Tree<'a>>,
    },
    /// `L1: affine.for …`
    Labelled {
        label: Name<'a>,
        labelled: Box<Statement<'a>>,
    },
    /// Reported already.
    Error,
}

/// What a view shows of an array or of another view.
#[derive(Debug)]
pub(super) enum ViewOf<'a> {
    /// `collapse(base, [[dimension, …], …])`
    Collapse {
        base: Name<'a>,
        groups: Vec<Vec<Tree<'a>>>,
        span: Span,
    },
    /// `slice(base, [offset, …], [size, …], [stride, …])`; strides may be left out.
    Slice {
        base: Name<'a>,
        lists: Vec<Vec<Tree<'a>>>,
        span: Span,
    },
}

#[derive(Debug)]
pub(super) struct AffineFor<'a> {
    pub(super) iter: Name<'a>,
    pub(super) lower: Vec<Tree<'a>>,
    pub(super) upper: Vec<Tree<'a>>,
    pub(super) step: Option<Name<'a>>,
    pub(super) lanes: Option<Name<'a>>,
    pub(super) body: Block<'a>,
}

#[derive(Debug)]
pub(super) struct ScfFor<'a> {
    pub(super) iter: Name<'a>,
    pub(super) lower: Tree<'a>,
    pub(super) upper: Tree<'a>,
    pub(super) step: Option<Name<'a>>,
    pub(super) lanes: Option<Name<'a>>,
    pub(super) body: Block<'a>,
}

#[derive(Debug)]
pub(super) struct Forall<'a> {
    pub(super) iter: Name<'a>,
    pub(super) lower: Tree<'a>,
    pub(super) count: Tree<'a>,
    pub(super) privates: Vec<PrivateClause<'a>>,
    pub(super) merges: Vec<MergeClause<'a>>,
    pub(super) speculative: Vec<SpeculativeClause<'a>>,
    /// What is written, and what tells that it was.
    pub(super) disjoint: Vec<(Name<'a>, Name<'a>)>,
    pub(super) strategy: Option<Name<'a>>,
    pub(super) body: Block<'a>,
}

#[derive(Debug)]
pub(super) struct PrivateClause<'a> {
    pub(super) buffers: Vec<Param<'a>>,
    pub(super) combiner: Combiner<'a>,
}

#[derive(Debug)]
pub(super) struct SpeculativeClause<'a> {
    pub(super) targets: Vec<Name<'a>>,
    pub(super) combiner: Combiner<'a>,
}

#[derive(Debug)]
pub(super) struct MergeClause<'a> {
    pub(super) targets: Vec<Name<'a>>,
    pub(super) combiner: Combiner<'a>,
    pub(super) buffers: Vec<Name<'a>>,
}

/// An expression.
#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) span: Span,
    pub(super) kind: TreeKind<'a>,
    /// The number of levels, this one included.
    pub(super) depth: usize,
}

#[derive(Debug)]
pub(super) enum TreeKind<'a> {
    Literal(Literal<'a>),
    Bool(bool),
    Name(&'a str),
    /// `threads()`
    Threads,
    Index(Name<'a>, Vec<Tree<'a>>),
    Unary(UnaryOp, Box<Tree<'a>>),
    Infix(Infix, Box<Tree<'a>>, Box<Tree<'a>>),
    Select(Box<Tree<'a>>, Box<Tree<'a>>, Box<Tree<'a>>),
    Cast(Type, Box<Tree<'a>>),
    Call(Function, Vec<Tree<'a>>),
    /// Indices and as many sizes.
    LinearizeIndex(Vec<Tree<'a>>, Vec<Tree<'a>>),
    /// A linear index, sizes, and the number of one of the indices; without it all of them, as
    /// subscripts.
    DelinearizeIndex(Box<Tree<'a>>, Vec<Tree<'a>>, Option<&'a str>),
    /// Parentheses: `-(5)` negates a constant, `-5` is one.
    Group(Box<Tree<'a>>),
    /// Reported already.
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Literal<'a> {
    pub(super) kind: LiteralKind,
    pub(super) digits: &'a str,
    pub(super) is_negative: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LiteralKind {
    Integer,
    /// Also `inf` and `nan`.
    Float,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Binary(BinaryOp),
    Compare(CompareOp),
    And,
    Or,
    FloorDiv,
    CeilDiv,
    Mod,
}

impl<'a> TreeKind<'a> {
    fn depth(&self) -> usize {
        let deepest = |trees: &[&Tree<'_>]| trees.iter().map(|it| it.depth).max().unwrap_or(0);
        1 + match self {
            Self::Literal(_) | Self::Bool(_) | Self::Name(_) | Self::Threads | Self::Error => 0,
            Self::Index(_, trees) | Self::Call(_, trees) => {
                deepest(&trees.iter().collect::<Vec<_>>())
            }
            Self::Unary(_, operand) | Self::Cast(_, operand) | Self::Group(operand) => {
                operand.depth
            }
            Self::Infix(_, left, right) => deepest(&[left, right]),
            Self::Select(condition, then, otherwise) => deepest(&[condition, then, otherwise]),
            // They are written out: a level for each size.
            Self::LinearizeIndex(indices, basis) => {
                deepest(&indices.iter().chain(basis).collect::<Vec<_>>()) + basis.len()
            }
            Self::DelinearizeIndex(linear, basis, _) => {
                let deepest = deepest(&basis.iter().collect::<Vec<_>>());
                deepest.max(linear.depth) + basis.len()
            }
        }
    }

    pub(super) fn at(self, start: usize, end: usize) -> Tree<'a> {
        Tree {
            span: Span::new(start, end),
            depth: self.depth(),
            kind: self,
        }
    }
}

impl<'a> Tree<'a> {
    /// The expression without parentheses around it.
    pub(super) fn ungrouped(&self) -> &Self {
        let mut tree = self;
        while let TreeKind::Group(inner) = &tree.kind {
            tree = inner;
        }
        tree
    }

    /// `-operand`; the minus before a literal belongs to it.
    pub(super) fn negated(operand: Self) -> TreeKind<'a> {
        match operand.kind {
            TreeKind::Literal(literal) if !literal.is_negative => TreeKind::Literal(Literal {
                is_negative: true,
                ..literal
            }),
            _ => TreeKind::Unary(UnaryOp::Neg, Box::new(operand)),
        }
    }
}
