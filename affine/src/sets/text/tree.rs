//! What the grammar builds: names not yet looked up.

use crate::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct SetTree<'a> {
    pub(super) parameters: Vec<Name<'a>>,
    pub(super) parts: Vec<Part<'a>>,
}

/// `[i, j] -> [k] : formula`; each entry of a tuple is a new name or an expression.
#[derive(Debug)]
pub(super) struct Part<'a> {
    pub(super) first: Vec<Tree<'a>>,
    pub(super) second: Option<Vec<Tree<'a>>>,
    pub(super) formula: Formula<'a>,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Formula<'a> {
    pub(super) kind: FormulaKind<'a>,
    /// Limited where it is made, so that nothing recurses too deep.
    pub(super) depth: usize,
}

#[derive(Debug)]
pub(super) enum FormulaKind<'a> {
    /// True when there are none.
    All(Vec<Formula<'a>>),
    /// False when there are none.
    Any(Vec<Formula<'a>>),
    Exists(Vec<Name<'a>>, Box<Formula<'a>>),
    /// `a < b <= c`
    Chain(Tree<'a>, Vec<(Comparison, Tree<'a>)>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessOrEqual,
    Equal,
    NotEqual,
    GreaterOrEqual,
    Greater,
}

#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) span: Span,
    pub(super) kind: TreeKind<'a>,
    /// Limited likewise.
    pub(super) depth: usize,
}

#[derive(Debug)]
pub(super) enum TreeKind<'a> {
    Integer(&'a str),
    Name(&'a str),
    Negated(Box<Tree<'a>>),
    Sum(Vec<(bool, Tree<'a>)>),
    Infix(Infix, Box<[Tree<'a>; 2]>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Times,
    FloorDiv,
    CeilDiv,
    Mod,
}

impl<'a> TreeKind<'a> {
    pub(super) fn at(self, start: usize, end: usize) -> Tree<'a> {
        let deepest = match &self {
            Self::Integer(_) | Self::Name(_) => 0,
            Self::Negated(inner) => inner.depth,
            Self::Sum(terms) => terms.iter().map(|(_, it)| it.depth).max().unwrap_or(0),
            Self::Infix(_, pair) => pair.iter().map(|it| it.depth).max().unwrap_or(0),
        };
        Tree {
            span: Span::new(start, end),
            kind: self,
            depth: deepest + 1,
        }
    }
}

impl<'a> FormulaKind<'a> {
    pub(super) fn of(self) -> Formula<'a> {
        let deepest = match &self {
            Self::All(parts) | Self::Any(parts) => parts.iter().map(|it| it.depth).max(),
            Self::Exists(_, inner) => Some(inner.depth),
            Self::Chain(..) => None,
        };
        Formula {
            kind: self,
            depth: deepest.unwrap_or(0) + 1,
        }
    }

    /// The formula that is true.
    pub(super) fn always() -> Formula<'a> {
        Self::All(Vec::new()).of()
    }
}
