use super::{
    Declaration, IndexExpr, IndexingError, Interval, MAX_DEPTH, Size, Variable, VariableKind,
};

/// Maps have at most this many nodes: composition can square a map, and nobody reads more.
pub const MAX_SIZE: usize = 1 << 20;

/// `expr in bounds`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Constraint {
    /// What is constrained.
    pub expr: IndexExpr,
    /// The values that it may have.
    pub bounds: Interval,
}

/// A function from dimension, range and runtime variables to results, and the domain on which it is
/// one.
///
/// Invariants: only declared variables occur; no expression is deeper than [`MAX_DEPTH`]; there are
/// at most [`MAX_SIZE`] nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IndexingMap {
    pub(super) dimensions: Vec<Declaration>,
    pub(super) ranges: Vec<Declaration>,
    pub(super) runtimes: Vec<Declaration>,
    pub(super) results: Vec<IndexExpr>,
    pub(super) constraints: Vec<Constraint>,
    pub(super) known_empty: bool,
}

impl IndexingMap {
    /// The map with these variables, results and constraints; a constraint of a variable becomes
    /// its bounds.
    ///
    /// # Errors
    /// A variable occurs that is not declared; an expression is too deep or the map too large.
    pub fn new(
        dimensions: Vec<Declaration>,
        ranges: Vec<Declaration>,
        runtimes: Vec<Declaration>,
        results: Vec<IndexExpr>,
        constraints: Vec<Constraint>,
    ) -> Result<Self, IndexingError> {
        let mut map = Self {
            dimensions,
            ranges,
            runtimes,
            results,
            constraints: Vec::with_capacity(constraints.len()),
            known_empty: false,
        };
        for constraint in constraints {
            map.add_constraint(constraint.expr, constraint.bounds);
        }
        map.checked()
    }

    /// The map whose variables count from 0 to these sizes, and that has no other constraint.
    ///
    /// # Errors
    /// As [`IndexingMap::new`].
    pub fn from_sizes(
        results: Vec<IndexExpr>,
        dimensions: &[i64],
        ranges: &[i64],
    ) -> Result<Self, IndexingError> {
        let declared = |sizes: &[i64]| {
            let bounds = sizes.iter().copied().map(Interval::of_size);
            bounds.map(Declaration::new).collect()
        };
        let (dimensions, ranges) = (declared(dimensions), declared(ranges));
        Self::new(dimensions, ranges, Vec::new(), results, Vec::new())
    }

    /// The map that takes each index of an array with these sizes to itself.
    pub fn identity(sizes: &[i64]) -> Self {
        let bounds = sizes.iter().copied().map(Interval::of_size);
        Self {
            dimensions: bounds.map(Declaration::new).collect(),
            ranges: Vec::new(),
            runtimes: Vec::new(),
            results: (0..sizes.len()).map(IndexExpr::dimension).collect(),
            constraints: Vec::new(),
            known_empty: false,
        }
    }

    /// A map without a single point, whose variables and results are not known.
    pub const fn known_empty() -> Self {
        Self {
            dimensions: Vec::new(),
            ranges: Vec::new(),
            runtimes: Vec::new(),
            results: Vec::new(),
            constraints: Vec::new(),
            known_empty: true,
        }
    }

    fn checked(self) -> Result<Self, IndexingError> {
        if self.size().nodes > MAX_SIZE {
            return Err(IndexingError::TooLarge);
        }
        for expr in self.expressions() {
            if expr.depth() > MAX_DEPTH {
                return Err(IndexingError::TooDeep);
            }
            let mut undeclared = None;
            expr.for_each_variable(&mut |variable| {
                if self.declaration(variable).is_none() {
                    undeclared = Some(variable);
                }
            });
            if let Some(variable) = undeclared {
                return Err(IndexingError::Undeclared(variable));
            }
        }
        Ok(self)
    }

    /// The map with one more constraint.
    ///
    /// # Errors
    /// As [`IndexingMap::new`].
    pub fn constrained(mut self, expr: IndexExpr, bounds: Interval) -> Result<Self, IndexingError> {
        self.add_constraint(expr, bounds);
        self.checked()
    }

    /// Cuts the domain down; for a variable by its bounds.
    pub(super) fn add_constraint(&mut self, expr: IndexExpr, bounds: Interval) {
        let declared = expr.as_variable().and_then(|it| self.declaration_mut(it));
        match declared {
            Some(declaration) => declaration.bounds = declaration.bounds.intersect(bounds),
            None => self.constraints.push(Constraint { expr, bounds }),
        }
    }

    /// The map with other results over the same domain.
    ///
    /// # Errors
    /// As [`IndexingMap::new`].
    pub fn with_results(self, results: Vec<IndexExpr>) -> Result<Self, IndexingError> {
        Self { results, ..self }.checked()
    }

    /// The map with one more dimension variable.
    pub(crate) fn with_dimension(mut self, declaration: Declaration) -> Self {
        self.dimensions.push(declaration);
        self
    }

    /// The map with another bound for a variable; the same map when there is no such variable.
    pub fn with_bounds(mut self, variable: Variable, bounds: Interval) -> Self {
        if let Some(declaration) = self.declaration_mut(variable) {
            declaration.bounds = bounds;
        }
        self
    }

    /// The map whose dimension variable at `position` is called `name`; the same map when there is
    /// no such variable.
    pub fn with_name(mut self, position: usize, name: &str) -> Self {
        if let Some(declaration) = self.dimensions.get_mut(position) {
            declaration.name = Some(name.to_owned());
        }
        self
    }

    /// The dimension variables.
    pub fn dimensions(&self) -> &[Declaration] {
        &self.dimensions
    }

    /// The range variables.
    pub fn ranges(&self) -> &[Declaration] {
        &self.ranges
    }

    /// The runtime variables.
    pub fn runtimes(&self) -> &[Declaration] {
        &self.runtimes
    }

    /// The results.
    pub fn results(&self) -> &[IndexExpr] {
        &self.results
    }

    /// What constrains the domain beside the bounds of the variables.
    pub fn constraints(&self) -> &[Constraint] {
        &self.constraints
    }

    /// Whether it is known that the domain has no point: the map was found to be so, or a variable
    /// has no value.
    pub fn is_known_empty(&self) -> bool {
        let mut declarations = self.variables().filter_map(|it| self.declaration(it));
        self.known_empty || declarations.any(|it| it.bounds.is_empty())
    }

    /// The variables of one kind.
    pub fn declarations(&self, kind: VariableKind) -> &[Declaration] {
        match kind {
            VariableKind::Dimension => &self.dimensions,
            VariableKind::Range => &self.ranges,
            VariableKind::Runtime => &self.runtimes,
        }
    }

    pub(super) fn declarations_mut(&mut self, kind: VariableKind) -> &mut Vec<Declaration> {
        match kind {
            VariableKind::Dimension => &mut self.dimensions,
            VariableKind::Range => &mut self.ranges,
            VariableKind::Runtime => &mut self.runtimes,
        }
    }

    /// What the map says of a variable.
    pub fn declaration(&self, variable: Variable) -> Option<&Declaration> {
        self.declarations(variable.kind).get(variable.position)
    }

    pub(super) fn declaration_mut(&mut self, variable: Variable) -> Option<&mut Declaration> {
        self.declarations_mut(variable.kind)
            .get_mut(variable.position)
    }

    /// All variables: dimensions, ranges, runtime.
    pub fn variables(&self) -> impl Iterator<Item = Variable> + use<> {
        let counts = VariableKind::ALL.map(|kind| (kind, self.declarations(kind).len()));
        let positions = |(kind, count)| (0..count).map(move |it| Variable::new(kind, it));
        counts.into_iter().flat_map(positions)
    }

    /// The place of a variable among all.
    pub(super) fn slot(&self, variable: Variable) -> usize {
        variable.position
            + match variable.kind {
                VariableKind::Dimension => 0,
                VariableKind::Range => self.dimensions.len(),
                VariableKind::Runtime => self.dimensions.len() + self.ranges.len(),
            }
    }

    /// The bounds of all variables, in the order of [`IndexingMap::variables`].
    pub fn box_bounds(&self) -> Vec<Interval> {
        let kinds = VariableKind::ALL.into_iter();
        let declarations = kinds.flat_map(|kind| self.declarations(kind));
        declarations.map(|it| it.bounds).collect()
    }

    /// The results, then what is constrained.
    pub fn expressions(&self) -> impl Iterator<Item = &IndexExpr> {
        let constrained = self.constraints.iter().map(|it| &it.expr);
        self.results.iter().chain(constrained)
    }

    /// The size of the results and of what is constrained; bounds do not count.
    pub fn size(&self) -> Size {
        let mut size = Size::default();
        for expr in self.expressions() {
            size += expr.size();
        }
        size
    }
}
