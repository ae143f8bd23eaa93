//! The accesses of a kernel with everything around them that decides when they happen.

use crate::marks::Marks;
use crate::visit::{AccessKind, Loop, span_of};
use crate::{
    Access, ArrayId, Combiner, Condition, Expr, IterId, Kernel, LocalId, Node, Place, Span,
    Subscript, Type,
};
use std::collections::HashMap;

/// What an access is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// An element of an array.
    Array(ArrayId),
    /// A scalar.
    Local(LocalId),
}

impl From<&Place> for Target {
    fn from(place: &Place) -> Self {
        match place {
            Place::Element(access) => Self::Array(access.array),
            Place::Local(local) => Self::Local(*local),
        }
    }
}

impl Target {
    /// Its name.
    pub fn name(self, kernel: &Kernel) -> &str {
        match self {
            Self::Array(array) => &kernel.arrays[array].name,
            Self::Local(local) => &kernel.locals[local].name,
        }
    }

    /// The type of the element or of the scalar.
    pub fn ty(self, kernel: &Kernel) -> Type {
        match self {
            Self::Array(array) => kernel.arrays[array].element,
            Self::Local(local) => kernel.locals[local].ty,
        }
    }

    /// The array, if it is one.
    pub fn array(self) -> Option<ArrayId> {
        match self {
            Self::Array(array) => Some(array),
            Self::Local(_) => None,
        }
    }
}

/// A loop around an access.
#[derive(Clone, Copy, Debug)]
pub enum Level<'k> {
    /// One with an iterator.
    Loop(Loop<'k>),
    /// `scf.while`, whose turns nothing counts.
    While(&'k Node),
}

impl<'k> Level<'k> {
    /// The iterator, if there is one.
    pub fn iter(self) -> Option<IterId> {
        match self {
            Self::Loop(it) => Some(it.iter()),
            Self::While(_) => None,
        }
    }

    /// What it [marks](crate::marks), if it is one with an iterator.
    pub(super) fn marks(self) -> Option<Marks<'k>> {
        match self {
            Self::Loop(it) => Some(Marks::of(it.iter(), it.body())),
            Self::While(_) => None,
        }
    }

    /// Where the loop stands in the source.
    pub fn span(self, kernel: &Kernel) -> Span {
        match self {
            Self::Loop(it) => kernel.iters[it.iter()].span,
            Self::While(Node::ScfWhile { span, .. }) => *span,
            Self::While(_) => Span::default(),
        }
    }

    /// Whether both are the same loop of the kernel.
    pub fn is_same(self, other: Self) -> bool {
        match (self, other) {
            (Self::Loop(left), Self::Loop(right)) => left.iter() == right.iter(),
            (Self::While(left), Self::While(right)) => std::ptr::eq(left, right),
            _ => false,
        }
    }
}

/// What decides whether an access happens, from the outside in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Around<'k> {
    Level(Level<'k>),
    Affine {
        conditions: &'k [Condition],
        holds: bool,
    },
    /// A branch of a condition that is computed; without a node an operand that is not always
    /// evaluated.
    Data(Option<&'k Node>, bool),
}

impl Around<'_> {
    /// Whether both are the same loop, or the same branch of the same condition.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Level(left), Self::Level(right)) => left.is_same(*right),
            (
                Self::Affine { conditions, holds },
                Self::Affine {
                    conditions: others,
                    holds: other,
                },
            ) => holds == other && std::ptr::eq(*conditions, *others),
            (Self::Data(Some(left), branch), Self::Data(Some(right), other)) => {
                branch == other && std::ptr::eq(*left, *right)
            }
            _ => false,
        }
    }
}

/// The combiner of an update, and which of its places the access is.
#[derive(Clone, Copy, Debug)]
pub struct Update<'k> {
    /// By what the place is updated.
    pub combiner: &'k Combiner,
    /// The position of the place.
    pub part: usize,
}

/// An access of the kernel.
#[derive(Clone, Debug)]
pub struct Site<'k> {
    /// What it is to.
    pub target: Target,
    /// What it does.
    pub kind: AccessKind,
    /// The access, if it is to one element of an array.
    pub access: Option<&'k Access>,
    /// How it updates, if it does.
    pub update: Option<Update<'k>>,
    /// The node that it belongs to; `None` when it is the kernel's result.
    pub node: Option<&'k Node>,
    /// Where it stands.
    pub span: Span,
    /// Its place in the order of the text and of evaluation.
    pub order: usize,
    pub(super) around: Vec<Around<'k>>,
}

impl<'k> Site<'k> {
    /// The loops around it, outermost first.
    pub fn levels(&self) -> impl Iterator<Item = Level<'k>> + '_ {
        self.around.iter().filter_map(|it| match it {
            Around::Level(level) => Some(*level),
            Around::Affine { .. } | Around::Data(..) => None,
        })
    }

    /// How many loops are around that over `iter`, if it is around the access.
    pub(super) fn depth_of(&self, iter: IterId) -> Option<usize> {
        self.levels().position(|it| it.iter() == Some(iter))
    }

    /// Whether this is an array, not a scalar, and no subscripts say where: what a forall merges
    /// into its targets.
    pub(super) fn is_merge(&self) -> bool {
        self.access.is_none() && matches!(self.target, Target::Array(_))
    }

    /// Whether the same loops and conditions are around both: wherever one happens, so does the
    /// other.
    pub fn is_beside(&self, other: &Self) -> bool {
        let mut pairs = self.around.iter().zip(&other.around);
        self.around.len() == other.around.len() && pairs.all(|(one, other)| one.is_same(other))
    }

    /// Whether it writes, be it by an update.
    pub fn writes(&self) -> bool {
        self.kind != AccessKind::Read
    }

    /// How many loops are around both, outermost first.
    pub fn common_depth(&self, other: &Self) -> usize {
        let pairs = self.levels().zip(other.levels());
        pairs
            .take_while(|(left, right)| left.is_same(*right))
            .count()
    }
}

/// The accesses of a kernel, and how many loops are around the place where each target is made.
pub(super) struct Sites<'k> {
    pub(super) sites: Vec<Site<'k>>,
    pub(super) homes: HashMap<Target, usize>,
}

impl<'k> Sites<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Self {
        let mut walk = Walk::of(kernel);
        walk.block(&kernel.body);
        if let Some(result) = &kernel.result {
            walk.reads(result, false);
        }
        walk.found
    }

    /// Those in the outermost statements in which `loops` stand, and between these.
    pub(super) fn around(kernel: &'k Kernel, loops: &[IterId]) -> Self {
        let mut walk = Walk::of(kernel);
        walk.block(span_of(&kernel.body, loops));
        walk.found
    }
}

fn data(node: &Node, branch: bool) -> Around<'_> {
    Around::Data(Some(node), branch)
}

struct Walk<'k> {
    kernel: &'k Kernel,
    found: Sites<'k>,
    around: Vec<Around<'k>>,
    node: Option<&'k Node>,
}

impl<'k> Walk<'k> {
    fn of(kernel: &'k Kernel) -> Self {
        let found = Sites {
            sites: Vec::new(),
            homes: HashMap::new(),
        };
        Self {
            kernel,
            found,
            around: Vec::new(),
            node: None,
        }
    }

    fn block(&mut self, block: &'k [Node]) {
        for node in block {
            self.node = Some(node);
            self.node(node);
            self.node = None;
        }
    }

    fn inside(&mut self, around: Around<'k>, block: &'k [Node]) {
        self.around.push(around);
        self.block(block);
        self.around.pop();
    }

    fn node(&mut self, node: &'k Node) {
        match node {
            Node::AffineFor(it) => {
                self.inside(Around::Level(Level::Loop(Loop::Affine(it))), &it.body)
            }
            Node::Forall(it) => self.forall(it, node),
            Node::ScfFor(it) => {
                self.reads(&it.lower, false);
                self.reads(&it.upper, false);
                self.inside(Around::Level(Level::Loop(Loop::Scf(it))), &it.body);
            }
            Node::ScfWhile {
                condition, body, ..
            } => {
                self.around.push(Around::Level(Level::While(node)));
                self.reads(condition, false);
                self.inside(data(node, true), body);
                self.around.pop();
            }
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                let affine = |holds| Around::Affine { conditions, holds };
                self.inside(affine(true), then);
                self.inside(affine(false), otherwise);
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } => {
                self.reads(condition, false);
                self.inside(data(node, true), then);
                self.inside(data(node, false), otherwise);
            }
            Node::Alloc { array } => self.make(Target::Array(*array)),
            Node::Declare { local, value } => {
                self.reads(value, false);
                self.make(Target::Local(*local));
                let span = self.kernel.locals[*local].span;
                self.push(Target::Local(*local), AccessKind::Write, None, None, span);
            }
            Node::Assign { place, value, span } => {
                self.reads(value, false);
                self.place(place, None, *span);
            }
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            } => {
                values.iter().for_each(|it| self.reads(it, false));
                for (part, place) in places.iter().enumerate() {
                    self.place(place, Some(Update { combiner, part }), *span);
                }
            }
        }
    }

    fn forall(&mut self, forall: &'k crate::Forall, node: &'k Node) {
        self.around
            .push(Around::Level(Level::Loop(Loop::Forall(forall))));
        for buffer in forall.own_buffers() {
            self.make(Target::Array(buffer));
        }
        for disjoint in &forall.disjoint {
            self.make(Target::Array(disjoint.met));
        }
        self.block(&forall.body);
        self.around.pop();
        self.node = Some(node);
        let merged = forall.privates.iter().filter(|it| !it.is_speculative());
        for private in merged {
            for (part, target) in private.targets.iter().enumerate() {
                let update = Update {
                    combiner: &private.combiner,
                    part,
                };
                let span = self.kernel.arrays[*target].span;
                let target = Target::Array(*target);
                self.push(target, AccessKind::Reduce, None, Some(update), span);
            }
        }
    }

    fn make(&mut self, target: Target) {
        let levels = self.around.iter();
        let depth = levels.filter(|it| matches!(it, Around::Level(_))).count();
        self.found.homes.insert(target, depth);
    }

    fn place(&mut self, place: &'k Place, update: Option<Update<'k>>, span: Span) {
        let kind = if update.is_some() {
            AccessKind::Reduce
        } else {
            AccessKind::Write
        };
        match place {
            Place::Element(access) => {
                self.subscripts(access, false);
                self.push(
                    Target::Array(access.array),
                    kind,
                    Some(access),
                    update,
                    access.span,
                );
            }
            Place::Local(local) => self.push(Target::Local(*local), kind, None, update, span),
        }
    }

    /// The reads of an expression in order of evaluation; `may_not` happen, where something decides
    /// that.
    fn reads(&mut self, expr: &'k Expr, may_not: bool) {
        match expr {
            Expr::Load(access) => {
                self.subscripts(access, may_not);
                let target = Target::Array(access.array);
                self.read(target, Some(access), access.span, may_not);
            }
            Expr::Local(local) => {
                let span = self.span_of_read(*local);
                self.read(Target::Local(*local), None, span, may_not);
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                self.reads(left, may_not);
                self.reads(right, true);
            }
            Expr::Select(condition, then, otherwise) => {
                self.reads(condition, may_not);
                self.reads(then, true);
                self.reads(otherwise, true);
            }
            other => other
                .operands()
                .into_iter()
                .for_each(|it| self.reads(it, may_not)),
        }
    }

    /// A scalar is read where its statement, loop, condition or the value that is returned stands:
    /// expressions have no place.
    fn span_of_read(&self, local: LocalId) -> Span {
        match self.node {
            Some(
                Node::Assign { span, .. }
                | Node::Reduce { span, .. }
                | Node::ScfWhile { span, .. }
                | Node::ScfIf { span, .. },
            ) => *span,
            Some(Node::ScfFor(scf)) => self.kernel.iters[scf.iter].span,
            Some(Node::Declare { local, .. }) => self.kernel.locals[*local].span,
            Some(_) => self.kernel.locals[local].span,
            None => self.kernel.result_span,
        }
    }

    fn subscripts(&mut self, access: &'k Access, may_not: bool) {
        for subscript in &access.subscripts {
            if let Subscript::Computed(expr) = subscript {
                self.reads(expr, may_not);
            }
        }
    }

    fn read(&mut self, target: Target, access: Option<&'k Access>, span: Span, may_not: bool) {
        if may_not {
            self.around.push(Around::Data(None, false));
        }
        self.push(target, AccessKind::Read, access, None, span);
        if may_not {
            self.around.pop();
        }
    }

    fn push(
        &mut self,
        target: Target,
        kind: AccessKind,
        access: Option<&'k Access>,
        update: Option<Update<'k>>,
        span: Span,
    ) {
        let order = self.found.sites.len();
        self.found.sites.push(Site {
            target,
            kind,
            access,
            update,
            node: self.node,
            span,
            order,
            around: self.around.clone(),
        });
    }
}
