//! The invariants of kernels. Only [`verify`] makes a [`Verified`] kernel, and only those run.
//!
//! 1. Names are not empty and no two things of a kernel share one.
//! 2. Every scalar is a parameter once; every array is a parameter once or the buffer of one private clause.
//! 3. Every iterator is bound by one loop, every local declared by one node.
//! 4. An iterator is used inside its loop alone; a local after its declaration and inside its block; a private buffer inside its
//!    forall.
//! 5. Bounds have an alternative, steps are positive, array extents and private buffers' extents speak of parameters alone.
//! 6. Affine expressions speak of integer parameters and of iterators in scope.
//! 7. An access has one subscript for each dimension; a computed subscript is an integer.
//! 8. Operands of an operation have one type, which the operation is defined on; conditions are `bool`; bounds of an `scf.for` are
//!    `i64`; what is stored has the type of its place. A `bool` is neither parameter nor element.
//! 9. Only mutable locals are set, and none from outside of a forall inside it.
//! 10. A combiner is defined on the type it combines. Operands of combiners do not occur outside of combiners' bodies.
//! 11. A private buffer has the element type and the extents of its target, which is another array; the body of the forall does
//!     not touch the target, and no two private clauses of it share one.

use crate::visit::{Loop, for_each_load, for_each_load_in_subscripts, walk};
use crate::{
    Access, AffineExpr, ArrayId, BinaryOp, Combiner, Expr, Forall, IterId, Kernel, LocalId, Node,
    Parameter, Place, Private, Span, Subscript, Type, UnaryOp, Variable,
};
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Deref;

/// A kernel that keeps all invariants.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified(Kernel);

impl Verified {
    /// The kernel, which may then be changed.
    pub fn into_kernel(self) -> Kernel {
        self.0
    }
}

impl Deref for Verified {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0
    }
}

/// Checks all invariants.
///
/// # Errors
/// Every violation there is, in the order of the kernel's text.
pub fn verify(kernel: Kernel) -> Result<Verified, Vec<Violation>> {
    let mut verifier = Verifier::new(&kernel);
    verifier.declarations();
    verifier.block(&kernel.body);
    let violations = verifier.violations;
    if violations.is_empty() {
        Ok(Verified(kernel))
    } else {
        Err(violations)
    }
}

/// A broken invariant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// Where.
    pub span: Span,
    /// What is wrong.
    pub kind: ViolationKind,
}

/// The ways in which a kernel can be wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ViolationKind {
    /// An empty name, or one that something else has.
    Name(String),
    /// A scalar or an array that is no parameter, or twice one; a buffer of no or of two clauses.
    Binding(String),
    /// An iterator, a local or a buffer used where it is not known.
    Scope(String),
    /// A loop without bounds or with a step that is not positive.
    Loop(String),
    /// An affine expression that speaks of something that is not an integer parameter or an iterator.
    NotAffine(String),
    /// An extent that depends on an iterator.
    Extent(String),
    /// An access with the wrong number of subscripts.
    Rank {
        /// The array.
        array: String,
        /// How many dimensions it has.
        expected: usize,
        /// How many subscripts there are.
        found: usize,
    },
    /// A value of the wrong type.
    Type {
        /// What has the type.
        what: &'static str,
        /// The type it should have.
        expected: Type,
        /// The type it has.
        found: Type,
    },
    /// An operation that is not defined on a type.
    Undefined {
        /// The operation or the combiner.
        operation: String,
        /// The type.
        ty: Type,
    },
    /// A `let` that is set, or a mutable scalar that is set in a forall which does not declare it.
    Set(String),
    /// A combiner's operand outside of a combiner.
    Operand,
    /// A private clause that does not fit its target.
    Private(String),
    /// The target of a private clause used in the body of its forall.
    Target(String),
}

impl fmt::Display for ViolationKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(f, "the name `{name}` is empty or taken"),
            Self::Binding(name) => write!(f, "`{name}` is not bound exactly once"),
            Self::Scope(name) => write!(f, "`{name}` is not known here"),
            Self::Loop(name) => write!(
                f,
                "the loop over `{name}` needs a bound on each side and a positive step"
            ),
            Self::NotAffine(name) => write!(
                f,
                "`{name}` is not an integer, so no affine expression can speak of it"
            ),
            Self::Extent(name) => {
                write!(f, "the extents of `{name}` may speak of parameters alone")
            }
            Self::Rank {
                array,
                expected,
                found,
            } => write!(
                f,
                "`{array}` has {expected} dimensions, there are {found} subscripts"
            ),
            Self::Type {
                what,
                expected,
                found,
            } => write!(f, "{what} is {found}, it has to be {expected}"),
            Self::Undefined { operation, ty } => {
                write!(f, "`{operation}` is not defined on {ty}")
            }
            Self::Set(name) => write!(f, "`{name}` cannot be set here"),
            Self::Operand => f.write_str("an operand of a combiner outside of a combiner"),
            Self::Private(name) => {
                write!(f, "the private buffer `{name}` does not fit its target")
            }
            Self::Target(name) => write!(
                f,
                "`{name}` is the target of a merge, the body of the forall may not touch it"
            ),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.kind.fmt(f)
    }
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    violations: Vec<Violation>,
    iters: Vec<IterId>,
    locals: Vec<LocalId>,
    buffers: Vec<ArrayId>,
    bound_iters: BTreeSet<IterId>,
    declared_locals: BTreeSet<LocalId>,
    bound_buffers: BTreeSet<ArrayId>,
    /// How many of `locals` are from outside of the innermost forall.
    outside: usize,
    /// Where the node that is looked at stands.
    span: Span,
}

impl<'k> Verifier<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        Self {
            kernel,
            violations: Vec::new(),
            iters: Vec::new(),
            locals: Vec::new(),
            buffers: Vec::new(),
            bound_iters: BTreeSet::new(),
            declared_locals: BTreeSet::new(),
            bound_buffers: BTreeSet::new(),
            outside: 0,
            span: kernel.span,
        }
    }

    fn report(&mut self, span: Span, kind: ViolationKind) {
        self.violations.push(Violation { span, kind });
    }

    fn require(&mut self, holds: bool, kind: impl FnOnce() -> ViolationKind) {
        if !holds {
            let span = self.span;
            self.report(span, kind());
        }
    }

    fn declarations(&mut self) {
        self.names();
        self.parameters();
        for (_, array) in self.kernel.arrays.iter() {
            self.span = array.span;
            self.require(array.element != Type::Bool, || {
                undefined("an array", Type::Bool)
            });
            self.require(!array.extents.is_empty(), || ViolationKind::Rank {
                array: array.name.clone(),
                expected: 1,
                found: 0,
            });
            for extent in &array.extents {
                self.extent(&array.name, extent);
            }
        }
        self.span = self.kernel.span;
    }

    fn names(&mut self) {
        let kernel = self.kernel;
        let scalars = kernel.scalars.values().map(|it| (&it.name, it.span));
        let arrays = kernel.arrays.values().map(|it| (&it.name, it.span));
        let iters = kernel.iters.values().map(|it| (&it.name, it.span));
        let locals = kernel.locals.values().map(|it| (&it.name, it.span));
        let mut seen = BTreeSet::new();
        for (name, span) in scalars.chain(arrays).chain(iters).chain(locals) {
            if name.is_empty() || !seen.insert(name) {
                self.report(span, ViolationKind::Name(name.clone()));
            }
        }
    }

    fn parameters(&mut self) {
        let kernel = self.kernel;
        let times = |param| kernel.params.iter().filter(|it| **it == param).count();
        for (id, scalar) in kernel.scalars.iter() {
            self.span = scalar.span;
            self.require(times(Parameter::Scalar(id)) == 1, || {
                ViolationKind::Binding(scalar.name.clone())
            });
            self.require(scalar.ty != Type::Bool, || {
                undefined("a parameter", Type::Bool)
            });
        }
        let mut buffers = Vec::new();
        walk(&kernel.body, &mut |node, _| {
            if let Node::Forall(forall) = node {
                buffers.extend(forall.privates.iter().map(|private| private.buffer));
            }
        });
        for (id, array) in kernel.arrays.iter() {
            let clauses = buffers.iter().filter(|buffer| **buffer == id).count();
            self.span = array.span;
            self.require(times(Parameter::Array(id)) + clauses == 1, || {
                ViolationKind::Binding(array.name.clone())
            });
        }
    }

    fn extent(&mut self, array: &str, extent: &AffineExpr) {
        let mut speaks_of_iterators = false;
        extent.for_each_variable(&mut |variable| match variable {
            Variable::Iter(_) => speaks_of_iterators = true,
            Variable::Param(_) => {}
        });
        if speaks_of_iterators {
            let span = self.span;
            self.report(span, ViolationKind::Extent(array.to_owned()));
        } else {
            self.affine(extent);
        }
    }

    fn block(&mut self, nodes: &'k [Node]) {
        let known = self.locals.len();
        for node in nodes {
            self.node(node);
        }
        self.locals.truncate(known);
    }

    fn node(&mut self, node: &'k Node) {
        self.span = self.span_of(node);
        match node {
            Node::AffineFor(affine) => {
                for bound in affine.lower.0.iter().chain(&affine.upper.0) {
                    self.affine(bound);
                }
                let bounded = !affine.lower.0.is_empty() && !affine.upper.0.is_empty();
                self.loop_body(Loop::Affine(affine), bounded && affine.step > 0);
            }
            Node::ScfFor(scf) => {
                for bound in [&scf.lower, &scf.upper] {
                    self.typed("a bound of an `scf.for`", bound, Type::I64);
                }
                self.loop_body(Loop::Scf(scf), scf.step > 0);
            }
            Node::Forall(forall) => self.forall(forall),
            Node::ScfWhile { condition, body } => {
                self.typed("a condition", condition, Type::Bool);
                self.block(body);
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
            } => {
                self.typed("a condition", condition, Type::Bool);
                self.block(then);
                self.block(otherwise);
            }
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                for condition in conditions {
                    self.affine(&condition.left);
                    self.affine(&condition.right);
                }
                self.block(then);
                self.block(otherwise);
            }
            Node::Declare { local, value } => self.declare(*local, value),
            Node::Assign { place, value, .. } => {
                let ty = self.place(place);
                self.typed("the value of an assignment", value, ty);
            }
            Node::Reduce {
                place,
                combiner,
                value,
                ..
            } => {
                let ty = self.place(place);
                self.typed("the value of a reduction", value, ty);
                self.combiner(combiner, ty);
            }
        }
    }

    fn span_of(&self, node: &Node) -> Span {
        match (node, Loop::of(node)) {
            (Node::Assign { span, .. } | Node::Reduce { span, .. }, _) => *span,
            (Node::Declare { local, .. }, _) => self.kernel.locals[*local].span,
            (_, Some(around)) => self.kernel.iters[around.iter()].span,
            _ => self.span,
        }
    }

    fn loop_body(&mut self, around: Loop<'k>, well_formed: bool) {
        let iter = around.iter();
        let name = &self.kernel.iters[iter].name;
        self.require(well_formed, || ViolationKind::Loop(name.clone()));
        let first = self.bound_iters.insert(iter);
        self.require(first, || ViolationKind::Binding(name.clone()));
        self.iters.push(iter);
        self.block(around.body());
        self.iters.pop();
    }

    fn forall(&mut self, forall: &'k Forall) {
        self.affine(&forall.count);
        let mut targets = BTreeSet::new();
        for private in &forall.privates {
            self.private(private);
            let name = &self.kernel.arrays[private.target].name;
            self.require(targets.insert(private.target), || {
                ViolationKind::Target(name.clone())
            });
        }
        self.targets_untouched(forall, &targets);
        let (buffers, outside) = (self.buffers.len(), self.outside);
        self.buffers.extend(forall.privates.iter().map(|it| it.buffer));
        self.outside = self.locals.len();
        self.loop_body(Loop::Forall(forall), true);
        self.buffers.truncate(buffers);
        self.outside = outside;
    }

    fn private(&mut self, private: &Private) {
        let buffer = &self.kernel.arrays[private.buffer];
        let target = &self.kernel.arrays[private.target];
        self.array_in_scope(private.target);
        let first = self.bound_buffers.insert(private.buffer);
        self.require(first, || ViolationKind::Binding(buffer.name.clone()));
        let fits = private.buffer != private.target
            && buffer.element == target.element
            && buffer.extents == target.extents;
        self.require(fits, || ViolationKind::Private(buffer.name.clone()));
        self.combiner(&private.combiner, buffer.element);
    }

    fn targets_untouched(&mut self, forall: &'k Forall, targets: &BTreeSet<ArrayId>) {
        let mut touched = BTreeSet::new();
        walk(&forall.body, &mut |node, _| {
            for expr in node.expressions() {
                for_each_load(expr, &mut |access| {
                    touched.insert(access.array);
                });
            }
            if let Some(Place::Element(access)) = node.place() {
                touched.insert(access.array);
                for_each_load_in_subscripts(access, &mut |access| {
                    touched.insert(access.array);
                });
            }
            if let Node::Forall(inner) = node {
                touched.extend(inner.privates.iter().map(|private| private.target));
            }
        });
        for target in touched.intersection(targets) {
            let name = self.kernel.arrays[*target].name.clone();
            let span = self.span;
            self.report(span, ViolationKind::Target(name));
        }
    }

    fn declare(&mut self, local: LocalId, value: &'k Expr) {
        let declared = &self.kernel.locals[local];
        self.typed("the value of a declaration", value, declared.ty);
        let first = self.declared_locals.insert(local);
        self.require(first, || ViolationKind::Binding(declared.name.clone()));
        self.locals.push(local);
    }

    fn combiner(&mut self, combiner: &Combiner, ty: Type) {
        self.require(combiner.identity(ty).is_some(), || {
            undefined(combiner.name(), ty)
        });
    }

    /// Checks a place and gives the type of what it takes.
    fn place(&mut self, place: &'k Place) -> Type {
        match place {
            Place::Element(access) => {
                self.access(access);
                self.kernel.arrays[access.array].element
            }
            Place::Local(local) => {
                let declared = &self.kernel.locals[*local];
                self.local_in_scope(*local);
                let inside = self.locals.iter().skip(self.outside);
                let own = inside.clone().any(|known| known == local);
                self.require(declared.mutable && own, || {
                    ViolationKind::Set(declared.name.clone())
                });
                declared.ty
            }
        }
    }

    fn local_in_scope(&mut self, local: LocalId) {
        let name = &self.kernel.locals[local].name;
        let known = self.locals.contains(&local);
        self.require(known, || ViolationKind::Scope(name.clone()));
    }

    fn iter_in_scope(&mut self, iter: IterId) {
        let name = &self.kernel.iters[iter].name;
        let known = self.iters.contains(&iter);
        self.require(known, || ViolationKind::Scope(name.clone()));
    }

    fn array_in_scope(&mut self, array: ArrayId) {
        let name = &self.kernel.arrays[array].name;
        let param = self.kernel.params.contains(&Parameter::Array(array));
        let known = param || self.buffers.contains(&array);
        self.require(known, || ViolationKind::Scope(name.clone()));
    }

    fn access(&mut self, access: &'k Access) {
        let array = &self.kernel.arrays[access.array];
        let outer = std::mem::replace(&mut self.span, access.span);
        self.array_in_scope(access.array);
        let (expected, found) = (array.extents.len(), access.subscripts.len());
        self.require(expected == found, || ViolationKind::Rank {
            array: array.name.clone(),
            expected,
            found,
        });
        for subscript in &access.subscripts {
            match subscript {
                Subscript::Affine(expr) => self.affine(expr),
                Subscript::Computed(expr) => {
                    let ty = self.expr(expr);
                    self.require(ty.is_integer(), || undefined("a subscript", ty));
                }
            }
        }
        self.span = outer;
    }

    fn affine(&mut self, expr: &AffineExpr) {
        let mut variables = BTreeSet::new();
        expr.for_each_variable(&mut |variable| {
            variables.insert(variable);
        });
        for variable in variables {
            match variable {
                Variable::Iter(iter) => self.iter_in_scope(iter),
                Variable::Param(param) => {
                    let scalar = &self.kernel.scalars[param];
                    self.require(scalar.ty.is_integer(), || {
                        ViolationKind::NotAffine(scalar.name.clone())
                    });
                }
            }
        }
    }

    fn typed(&mut self, what: &'static str, expr: &'k Expr, expected: Type) {
        let found = self.expr(expr);
        self.require(found == expected, || ViolationKind::Type {
            what,
            expected,
            found,
        });
    }

    /// Checks an expression and gives its type.
    fn expr(&mut self, expr: &'k Expr) -> Type {
        match expr {
            Expr::Constant(_) | Expr::Param(_) => {}
            Expr::Iter(iter) => self.iter_in_scope(*iter),
            Expr::Local(local) => self.local_in_scope(*local),
            Expr::Operand(_) => self.require(false, || ViolationKind::Operand),
            Expr::Load(access) => self.access(access),
            Expr::Unary(op, operand) => {
                let ty = self.expr(operand);
                let (symbol, defined) = match op {
                    UnaryOp::Neg => ("-", ty != Type::Bool),
                    UnaryOp::BitNot => ("~", ty.is_integer()),
                    UnaryOp::Not => ("!", ty == Type::Bool),
                };
                self.require(defined, || undefined(symbol, ty));
            }
            Expr::Binary(op, left, right, span) => {
                let outer = std::mem::replace(&mut self.span, *span);
                self.binary(*op, left, right);
                self.span = outer;
            }
            Expr::Compare(_, left, right) => {
                let ty = self.expr(left);
                self.typed("the right side of a comparison", right, ty);
            }
            Expr::And(left, right) | Expr::Or(left, right) => {
                self.typed("an operand of a logical operation", left, Type::Bool);
                self.typed("an operand of a logical operation", right, Type::Bool);
            }
            Expr::Select(condition, then, otherwise) => {
                self.typed("a condition", condition, Type::Bool);
                let ty = self.expr(then);
                self.typed("the other side of a selection", otherwise, ty);
            }
            Expr::Cast(_, operand) => {
                self.expr(operand);
            }
        }
        expr.ty(self.kernel)
    }

    fn binary(&mut self, op: BinaryOp, left: &'k Expr, right: &'k Expr) {
        let ty = self.expr(left);
        self.typed("the right operand", right, ty);
        let defined = ty.is_integer() || ty.is_float() && !op.is_integer_only();
        self.require(defined, || undefined(op.symbol(), ty));
    }
}

fn undefined(operation: &str, ty: Type) -> ViolationKind {
    ViolationKind::Undefined {
        operation: operation.to_owned(),
        ty,
    }
}
