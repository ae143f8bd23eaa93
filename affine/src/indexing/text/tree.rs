//! What the grammar builds: names not yet looked up, constants not yet folded.

use crate::Span;

#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'a> {
    pub(super) text: &'a str,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) enum MapTree<'a> {
    KnownEmpty,
    Map {
        dimensions: Vec<Name<'a>>,
        ranges: Vec<Name<'a>>,
        runtimes: Vec<Name<'a>>,
        results: Vec<Tree<'a>>,
        domain: Vec<Constrained<'a>>,
    },
}

/// `expr in [low, high]`.
#[derive(Debug)]
pub(super) struct Constrained<'a> {
    pub(super) expr: Tree<'a>,
    pub(super) low: Literal<'a>,
    pub(super) high: Literal<'a>,
}

/// A signed number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Literal<'a> {
    pub(super) is_negative: bool,
    pub(super) digits: &'a str,
    pub(super) span: Span,
}

#[derive(Debug)]
pub(super) struct Tree<'a> {
    pub(super) span: Span,
    pub(super) kind: TreeKind<'a>,
    /// Limited where it is made, so that nothing recurses too deep.
    pub(super) depth: usize,
}

#[derive(Debug)]
pub(super) enum TreeKind<'a> {
    Integer(&'a str),
    Name(&'a str),
    Negated(Box<Tree<'a>>),
    Sum(Vec<(bool, Tree<'a>)>),
    Infix(Infix, Box<[Tree<'a>; 2]>),
    Min(Vec<Tree<'a>>),
    Max(Vec<Tree<'a>>),
    /// The indices and the basis.
    LinearizeIndex(Vec<Tree<'a>>, Vec<Tree<'a>>),
    /// The linear index, the basis, and which of the indices is meant.
    DelinearizeIndex(Box<Tree<'a>>, Vec<Tree<'a>>, &'a str),
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
            Self::Sum(terms) => deepest(terms.iter().map(|(_, tree)| tree)),
            Self::Infix(_, pair) => deepest(pair.iter()),
            Self::Min(operands) | Self::Max(operands) => deepest(operands.iter()),
            Self::LinearizeIndex(indices, basis) => deepest(indices.iter().chain(basis)),
            Self::DelinearizeIndex(linear, basis, _) => linear.depth.max(deepest(basis.iter())),
        };
        Tree {
            span: Span::new(start, end),
            kind: self,
            depth: deepest + 1,
        }
    }
}

fn deepest<'t, 'a: 't>(trees: impl Iterator<Item = &'t Tree<'a>>) -> usize {
    trees.map(|tree| tree.depth).max().unwrap_or(0)
}
