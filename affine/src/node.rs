use crate::{
    Access, AffineExpr, ArrayId, Block, Combiner, Expr, IterId, Kernel, LocalId, Overflow, Span,
    Type, Variable,
};

/// A loop or a statement.
///
/// `affine` nodes have bounds and conditions that are quasi-affine in iterators and parameters:
/// their iteration domains are known exactly. `scf` nodes compute theirs.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// `affine.for i in lower..upper step s { … }`
    AffineFor(AffineFor),
    /// `affine.if (…) { … } else { … }`; all conditions must hold.
    AffineIf {
        /// All of them must hold.
        conditions: Vec<Condition>,
        /// Runs when they do.
        then: Block,
        /// Runs when they do not.
        otherwise: Block,
    },
    /// `scf.forall i in 0..count private(…) merge(…) strategy(…) { … }`
    Forall(Forall),
    /// `scf.for i in lower..upper step s { … }`
    ScfFor(ScfFor),
    /// `scf.while condition { … }`
    ScfWhile {
        /// Evaluated before each turn.
        condition: Expr,
        /// One turn.
        body: Block,
        /// The loop in the source.
        span: Span,
    },
    /// `scf.if condition { … } else { … }`
    ScfIf {
        /// A `bool`.
        condition: Expr,
        /// Runs when it holds.
        then: Block,
        /// Runs when it does not.
        otherwise: Block,
        /// The condition in the source, or what stands for it there.
        span: Span,
    },
    /// `let x: t = value` or `var x: t = value`: declares the local, which is visible to the end of
    /// the block.
    Declare {
        /// The local, declared here and nowhere else.
        local: LocalId,
        /// Its (first) value, of its type.
        value: Expr,
    },
    /// `alloc t: t[…]`: an array of zeros, made anew every time this runs and visible to the end of
    /// the block.
    Alloc {
        /// The array, allocated here and nowhere else. Its extents are those of any array: over
        /// parameters alone.
        array: ArrayId,
    },
    /// `place = value`
    Assign {
        /// Where to.
        place: Place,
        /// Of the place's type.
        value: Expr,
        /// The statement in the source.
        span: Span,
    },
    /// `place reduce(combiner) value`, or `(place, …) reduce(combiner) (value, …)`: an update whose
    /// order its writer does not mean. The values are evaluated first, then the subscripts of the
    /// places, then all places are set at once.
    Reduce {
        /// Where to: as many different arrays and locals as the combiner has
        /// [parts](crate::Combine::parts).
        places: Vec<Place>,
        /// How.
        combiner: Combiner,
        /// One for each place, of its type.
        values: Vec<Expr>,
        /// The statement in the source.
        span: Span,
    },
}

impl Node {
    /// The same node for another kernel: its [blocks](Block::shared) are those of this one.
    pub(crate) fn shared(&self) -> Self {
        match self {
            Self::AffineFor(it) => Self::AffineFor(AffineFor {
                lower: it.lower.clone(),
                upper: it.upper.clone(),
                body: it.body.shared(),
                ..*it
            }),
            Self::AffineIf {
                conditions,
                then,
                otherwise,
            } => Self::AffineIf {
                conditions: conditions.clone(),
                then: then.shared(),
                otherwise: otherwise.shared(),
            },
            Self::Forall(it) => Self::Forall(Forall {
                iter: it.iter,
                count: it.count.clone(),
                privates: it.privates.clone(),
                disjoint: it.disjoint.clone(),
                strategy: it.strategy.clone(),
                body: it.body.shared(),
            }),
            Self::ScfFor(it) => Self::ScfFor(ScfFor {
                lower: it.lower.clone(),
                upper: it.upper.clone(),
                body: it.body.shared(),
                ..*it
            }),
            Self::ScfWhile {
                condition,
                body,
                span,
            } => Self::ScfWhile {
                condition: condition.clone(),
                body: body.shared(),
                span: *span,
            },
            Self::ScfIf {
                condition,
                then,
                otherwise,
                span,
            } => Self::ScfIf {
                condition: condition.clone(),
                then: then.shared(),
                otherwise: otherwise.shared(),
                span: *span,
            },
            Self::Declare { .. }
            | Self::Alloc { .. }
            | Self::Assign { .. }
            | Self::Reduce { .. } => self.clone(),
        }
    }
}

/// What a statement writes.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// An array element.
    Element(Access),
    /// A mutable scalar.
    Local(LocalId),
}

impl Place {
    /// The type of what is there.
    pub fn ty(&self, kernel: &Kernel) -> Type {
        match self {
            Self::Element(access) => kernel.arrays[access.array].element,
            Self::Local(local) => kernel.locals[*local].ty,
        }
    }

    /// The element, if it is one.
    pub fn element(&self) -> Option<&Access> {
        match self {
            Self::Element(access) => Some(access),
            Self::Local(_) => None,
        }
    }

    /// The scalar, if it is one.
    pub fn local(&self) -> Option<LocalId> {
        match self {
            Self::Local(local) => Some(*local),
            Self::Element(_) => None,
        }
    }
}

/// A loop whose bounds are quasi-affine. Runs its body for `iter` from `lower`, in steps of `step`,
/// while below `upper`.
#[derive(Clone, Debug, PartialEq)]
pub struct AffineFor {
    /// Bound by this loop and by no other.
    pub iter: IterId,
    /// The greatest of these.
    pub lower: Bound,
    /// The least of these; not itself reached.
    pub upper: Bound,
    /// Positive.
    pub step: i64,
    /// So many iterations that follow each other may run at once, in the lanes of vectors: each
    /// statement for all of them, before the next statement. 1 where they run one by one. It
    /// changes nothing but time: whoever sets it has shown that iterations do not depend on each
    /// other, but for scalars, which are updated lane by lane.
    pub lanes: u32,
    /// The body.
    pub body: Block,
}

/// The alternatives of a loop bound, at least one: their maximum as a lower, their minimum as an
/// upper bound.
#[derive(Clone, Debug, PartialEq)]
pub struct Bound(pub Vec<AffineExpr>);

impl AffineFor {
    /// All alternatives of both bounds, those of the lower one first.
    pub fn bounds(&self) -> impl Iterator<Item = &AffineExpr> + Clone {
        self.lower.0.iter().chain(&self.upper.0)
    }

    /// Whether a bound speaks of the iterator of another loop.
    pub fn moves_with(&self, iter: IterId) -> bool {
        self.bounds().any(|it| it.mentions(Variable::Iter(iter)))
    }
}

impl From<AffineExpr> for Bound {
    fn from(expr: AffineExpr) -> Self {
        Self(vec![expr])
    }
}

impl Bound {
    /// The expression, when there is only one.
    pub fn as_single(&self) -> Option<&AffineExpr> {
        match self.0.as_slice() {
            [expr] => Some(expr),
            _ => None,
        }
    }
}

/// An affine condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The left side.
    pub left: AffineExpr,
    /// How the sides relate.
    pub relation: Relation,
    /// The right side.
    pub right: AffineExpr,
}

impl Condition {
    /// `left <= right`
    pub fn at_most(left: impl Into<AffineExpr>, right: impl Into<AffineExpr>) -> Self {
        Self {
            left: left.into(),
            relation: Relation::LessOrEqual,
            right: right.into(),
        }
    }

    /// `left < right`
    pub fn below(left: impl Into<AffineExpr>, right: impl Into<AffineExpr>) -> Self {
        Self {
            left: left.into(),
            relation: Relation::Less,
            right: right.into(),
        }
    }

    /// Whether it holds when its variables have the values that `value_of` gives.
    ///
    /// # Errors
    /// A side that leaves 64 bits, or a variable without a value that fits them.
    pub fn holds(&self, value_of: &dyn Fn(Variable) -> Option<i64>) -> Result<bool, Overflow> {
        let side = |side: &AffineExpr| {
            let mut fits = true;
            side.for_each_variable(&mut |variable| fits &= value_of(variable).is_some());
            if !fits {
                return Err(Overflow);
            }
            side.evaluate(&|variable| value_of(variable).unwrap_or(0))
        };
        Ok(self.relation.holds(side(&self.left)?, side(&self.right)?))
    }
}

impl Relation {
    /// Whether it holds between two values.
    pub fn holds(self, left: i64, right: i64) -> bool {
        match self {
            Self::LessOrEqual => left <= right,
            Self::Less => left < right,
            Self::Equal => left == right,
        }
    }
}

/// The relations that a [`Condition`] can state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Relation {
    /// `<=`
    LessOrEqual,
    /// `<`
    Less,
    /// `==`
    Equal,
}

/// A loop whose iterations `0..count` may run in any order and at once.
///
/// Its meaning is fixed: every iteration works on private buffers of its own, each filled with its
/// combiner's identity; when all are done the buffers are combined into their targets, those of
/// lower iterations first. `strategy` may change how the combination is grouped, and nothing else.
///
/// No iteration may touch what another writes, private buffers and what all of them
/// [mark](crate::marks) apart: whoever makes a forall answers for that, as every step that does so
/// proves it first. [`verify`](mod@crate::verify) does not.
///
/// With a [speculative](Private::is_speculative) target the iterations mean what they do in their
/// order, and whoever runs them at once has to find out that nothing is read that others update.
#[derive(Clone, Debug, PartialEq)]
pub struct Forall {
    /// Bound by this loop and by no other.
    pub iter: IterId,
    /// The number of iterations.
    pub count: AffineExpr,
    /// The private buffers, each with the array it is merged into.
    pub privates: Vec<Private>,
    /// Arrays of which it is a fault to write an element twice.
    pub disjoint: Vec<Disjoint>,
    /// One of [`STRATEGIES`](crate::STRATEGIES).
    pub strategy: String,
    /// The body.
    pub body: Block,
}

/// `disjoint(target: met)`: each write of an element of `target` in the body of the forall, an
/// assignment or an update, sets that of `met` to 1, and is a fault where it is 1 already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Disjoint {
    /// The array that is written; no field of a record, and private to nobody.
    pub target: ArrayId,
    /// A local array of `u8` with the extents of the target, which nothing else in the body
    /// touches.
    pub met: ArrayId,
}

/// A private buffer:
/// `private(buffer: t[…] = identity(combiner)) merge(target reduce(combiner) buffer)`, or as many
/// of them as the combiner has parts:
/// `private((b: t[…], c: u[…]) = identity(combiner)) merge((d, e) reduce(combiner) (b, c))`. They
/// are merged cell by cell: the tuple of the cells at one place of the buffers into that at the
/// same place of the targets.
#[derive(Clone, Debug, PartialEq)]
pub struct Private {
    /// The buffers, each with the element type and the extents of its target.
    pub buffers: Vec<ArrayId>,
    /// What they are merged into, all of the same extents; not touched by the body.
    pub targets: Vec<ArrayId>,
    /// Fills and merges.
    pub combiner: Combiner,
}

impl Private {
    /// Targets that the body updates itself, and reads besides:
    /// `speculative(target reduce(combiner))`.
    pub fn speculative(targets: Vec<ArrayId>, combiner: Combiner) -> Self {
        Self {
            buffers: targets.clone(),
            targets,
            combiner,
        }
    }

    /// Whether the body updates the targets themselves, which are then in the place of the buffers,
    /// and may read them. The iterations of such a forall mean what they do in their order. They
    /// may run at once, and their updates reach the targets in the end, where no element is both
    /// read and updated.
    pub fn is_speculative(&self) -> bool {
        self.buffers == self.targets
    }

    /// The element types of the targets, which are those of the buffers.
    pub fn types(&self, kernel: &Kernel) -> Vec<Type> {
        let element = |array: &ArrayId| kernel.arrays[*array].element;
        self.targets.iter().map(element).collect()
    }
}

impl Forall {
    /// All private buffers with their targets, in the order of the clauses.
    pub fn buffers(&self) -> impl Iterator<Item = (ArrayId, ArrayId)> + '_ {
        self.privates.iter().flat_map(|private| {
            let buffers = private.buffers.iter().copied();
            buffers.zip(private.targets.iter().copied())
        })
    }

    /// The private buffers that the forall declares, which are no targets.
    pub fn own_buffers(&self) -> impl Iterator<Item = ArrayId> + '_ {
        let own = self.privates.iter().filter(|it| !it.is_speculative());
        own.flat_map(|it| it.buffers.iter().copied())
    }

    /// Whether its iterations mean what they do in their order, since they may read what others
    /// update.
    pub fn is_speculative(&self) -> bool {
        self.privates.iter().any(Private::is_speculative)
    }

    /// Whether `array` is one of its private buffers.
    pub fn has_buffer(&self, array: ArrayId) -> bool {
        self.buffers().any(|(buffer, _)| buffer == array)
    }
}

/// A loop whose bounds are computed when it starts. Runs its body for `iter` from `lower`, in steps
/// of `step`, while below `upper`.
#[derive(Clone, Debug, PartialEq)]
pub struct ScfFor {
    /// Bound by this loop and by no other.
    pub iter: IterId,
    /// An `i64`.
    pub lower: Expr,
    /// An `i64`; not itself reached.
    pub upper: Expr,
    /// Positive.
    pub step: i64,
    /// How many iterations at once, in the lanes of vectors, as with [`AffineFor::lanes`].
    pub lanes: u32,
    /// The body.
    pub body: Block,
}
