//! The invariants of kernels. Only [`verify`] makes a [`Verified`] kernel; later stages rely on all of them.
//!
//! *Names and ids*
//! * Every id is one of the kernel's arenas. All names in use are different and can be written (not empty, no backquote or
//!   control character).
//! * A scalar is used if it is a parameter; an array if it is a parameter or, inside its forall, a private buffer; an iterator
//!   inside its loop; a local behind its declaration and inside the block of that.
//! * An iterator is bound by one loop, a local declared once, a private buffer owned by one forall, a parameter listed once.
//!
//! *Types*
//! * Operands have the types that [`Expr`] asks for, conditions are `bool`, `scf` bounds `i64`, a value has its place's type.
//! * There are as many subscripts as dimensions, at least one; a computed subscript is an integer.
//! * The variables of affine expressions are integer parameters and iterators in scope; extents and the divisors of affine
//!   divisions are over parameters alone.
//! * A combiner is defined on the type it is used at, its body has that type and is made of operands and constants and divides
//!   no integers; its operands occur nowhere else.
//! * Parameters and arrays are not `bool`.
//!
//! *Loops and writes*
//! * Bounds have at least one alternative, steps are positive.
//! * A `let` is not set again. Inside a forall no local is set that was declared outside.
//! * A forall merges into each target once; the buffer has the target's element type and extents; the body does not touch the
//!   target.
//! * Nodes are nested at most [`MAX_NESTING`] deep, and so is each expression.

mod expression;
mod scope;
mod violation;

pub use violation::{EntityKind, Violation, ViolationKind};

use crate::{
    AffineFor, Bound, Combiner, Condition, Expr, Forall, IterId, Kernel, LocalId, Node, Parameter,
    Place, Private, ScfFor, Span, Type,
};
use scope::Scope;

/// How deep nodes, and expressions, can be nested: everything that walks them recurses.
pub const MAX_NESTING: usize = 100;

/// A kernel that keeps all invariants.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified(Kernel);

impl Verified {
    /// The kernel, to be changed.
    pub fn into_kernel(self) -> Kernel {
        self.0
    }
}

impl std::ops::Deref for Verified {
    type Target = Kernel;

    fn deref(&self) -> &Kernel {
        &self.0
    }
}

impl std::fmt::Display for Verified {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Checks every invariant of the module's list.
///
/// # Errors
/// All violations, in the order of the text.
pub fn verify(kernel: Kernel) -> Result<Verified, Vec<Violation>> {
    let mut verifier = Verifier {
        kernel: &kernel,
        scope: Scope::default(),
        violations: Vec::new(),
        here: kernel.span,
    };
    verifier.name(&kernel.name);
    verifier.params();
    verifier.block(&kernel.body, 1);
    let violations = verifier.violations;
    if violations.is_empty() {
        Ok(Verified(kernel))
    } else {
        Err(violations)
    }
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    scope: Scope,
    violations: Vec<Violation>,
    /// What is looked at, for constructs without a span of their own.
    here: Span,
}

impl<'k> Verifier<'k> {
    fn report(&mut self, kind: ViolationKind) {
        let span = self.here;
        self.violations.push(Violation { span, kind });
    }

    fn name(&mut self, name: &str) {
        if name.is_empty() || name.contains(|it: char| it == '`' || it.is_control()) {
            self.report(ViolationKind::UnwritableName(name.to_owned()));
        }
    }

    /// A name that becomes visible, or whose user does.
    fn new_name(&mut self, name: &str) {
        self.name(name);
        if !self.scope.take_name(name) {
            self.report(ViolationKind::NameTaken(name.to_owned()));
        }
    }

    fn params(&mut self) {
        let kernel = self.kernel;
        for param in &kernel.params {
            if let Parameter::Scalar(scalar) = param {
                let Some(declared) = self.known_scalar(*scalar) else {
                    continue;
                };
                self.here = declared.span;
                if self.scope.scalars.insert(*scalar) {
                    self.new_name(&declared.name);
                } else {
                    self.report(ViolationKind::DeclaredTwice(declared.name.clone()));
                }
                self.in_memory(&declared.name, declared.ty);
            }
        }
        // Extents may name scalars that come after their array.
        for array in kernel.array_params() {
            let Some(declared) = self.known_array(array) else {
                continue;
            };
            self.here = declared.span;
            if self.scope.arrays.insert(array) {
                self.new_name(&declared.name);
            } else {
                self.report(ViolationKind::DeclaredTwice(declared.name.clone()));
            }
            self.array(declared);
        }
    }

    fn in_memory(&mut self, name: &str, ty: Type) {
        if ty == Type::Bool {
            self.report(ViolationKind::BoolInMemory(name.to_owned()));
        }
    }

    fn array(&mut self, array: &crate::Array) {
        self.in_memory(&array.name, array.element);
        if array.extents.is_empty() {
            self.report(ViolationKind::NoExtent(array.name.clone()));
        }
        for extent in &array.extents {
            self.over_parameters(extent);
        }
    }

    fn block(&mut self, body: &'k [Node], depth: usize) {
        if depth > MAX_NESTING {
            return self.report(ViolationKind::TooDeep);
        }
        let locals = self.scope.locals.len();
        for node in body {
            self.node(node, depth);
        }
        self.scope.locals.truncate(locals);
    }

    fn node(&mut self, node: &'k Node, depth: usize) {
        match node {
            Node::AffineFor(affine) => self.affine_for(affine, depth),
            Node::Forall(forall) => self.forall(forall, depth),
            Node::ScfFor(scf) => self.scf_for(scf, depth),
            Node::AffineIf { conditions, .. } => conditions.iter().for_each(|it| self.relation(it)),
            Node::ScfWhile { condition, .. } | Node::ScfIf { condition, .. } => {
                self.typed(condition, Type::Bool);
            }
            Node::Declare { local, value } => self.declare(*local, value),
            Node::Assign { place, value, span } => {
                self.here = *span;
                let found = self.value(value);
                let ty = self.place(place);
                self.same(ty, found);
            }
            Node::Reduce {
                place,
                combiner,
                value,
                span,
            } => {
                self.here = *span;
                let found = self.value(value);
                let ty = self.place(place);
                self.same(ty, found);
                self.combiner(combiner, ty);
            }
        }
        if crate::visit::Loop::of(node).is_none() {
            for block in node.blocks() {
                self.block(block, depth + 1);
            }
        }
    }

    fn affine_for(&mut self, affine: &'k AffineFor, depth: usize) {
        let Some(name) = self.begin_loop(affine.iter) else {
            return;
        };
        self.bound(&affine.lower, name);
        self.bound(&affine.upper, name);
        self.step(affine.step);
        self.loop_body(affine.iter, &affine.body, depth);
    }

    fn scf_for(&mut self, scf: &'k ScfFor, depth: usize) {
        if self.begin_loop(scf.iter).is_none() {
            return;
        }
        self.typed(&scf.lower, Type::I64);
        self.typed(&scf.upper, Type::I64);
        self.step(scf.step);
        self.loop_body(scf.iter, &scf.body, depth);
    }

    fn forall(&mut self, forall: &'k Forall, depth: usize) {
        if self.begin_loop(forall.iter).is_none() {
            return;
        }
        self.name(&forall.strategy);
        self.affine(&forall.count);
        let outer = self.scope.enter_forall();
        for private in &forall.privates {
            self.private(private);
        }
        self.loop_body(forall.iter, &forall.body, depth);
        for private in &forall.privates {
            self.scope.arrays.remove(&private.buffer);
        }
        self.scope.leave_forall(outer);
    }

    fn private(&mut self, private: &'k Private) {
        let (Some(buffer), Some(target)) = (
            self.known_array(private.buffer),
            self.known_array(private.target),
        ) else {
            return;
        };
        self.here = buffer.span;
        self.visible_array(private.target);
        if !self.scope.freeze(private.target) {
            self.report(ViolationKind::TargetTouched(target.name.clone()));
        }
        if self.scope.own(private.buffer) {
            self.new_name(&buffer.name);
            self.array(buffer);
        } else {
            self.report(ViolationKind::NotPrivate(buffer.name.clone()));
        }
        if (buffer.element, &buffer.extents) != (target.element, &target.extents) {
            self.report(ViolationKind::UnlikeTarget {
                buffer: buffer.name.clone(),
                target: target.name.clone(),
            });
        }
        self.combiner(&private.combiner, Some(target.element));
    }

    /// Binds nothing yet: the bounds do not see the iterator.
    fn begin_loop(&mut self, iter: IterId) -> Option<&'k str> {
        let declared = self.known_iter(iter)?;
        self.here = declared.span;
        if self.scope.bind(iter) {
            self.new_name(&declared.name);
        } else {
            self.report(ViolationKind::DeclaredTwice(declared.name.clone()));
        }
        Some(&declared.name)
    }

    fn loop_body(&mut self, iter: IterId, body: &'k [Node], depth: usize) {
        self.scope.iters.push(iter);
        self.block(body, depth + 1);
        self.scope.iters.pop();
    }

    fn bound(&mut self, bound: &Bound, name: &str) {
        if bound.0.is_empty() {
            self.report(ViolationKind::EmptyBound(name.to_owned()));
        }
        for expr in &bound.0 {
            self.affine(expr);
        }
    }

    fn step(&mut self, step: i64) {
        if step <= 0 {
            self.report(ViolationKind::StepNotPositive(step));
        }
    }

    fn relation(&mut self, condition: &Condition) {
        self.affine(&condition.left);
        self.affine(&condition.right);
    }

    fn declare(&mut self, local: LocalId, value: &'k Expr) {
        let Some(declared) = self.known_local(local) else {
            return;
        };
        self.here = declared.span;
        self.typed(value, declared.ty);
        if self.scope.declare(local) {
            self.new_name(&declared.name);
        } else {
            self.report(ViolationKind::DeclaredTwice(declared.name.clone()));
        }
    }

    fn place(&mut self, place: &'k Place) -> Option<Type> {
        match place {
            Place::Element(access) => self.access(access, 1),
            Place::Local(local) => {
                let declared = self.visible_local(*local)?;
                if !declared.mutable {
                    self.report(ViolationKind::Immutable(declared.name.clone()));
                }
                if self.scope.is_outside_forall(*local) {
                    self.report(ViolationKind::SharedLocal(declared.name.clone()));
                }
                Some(declared.ty)
            }
        }
    }

    fn combiner(&mut self, combiner: &Combiner, ty: Option<Type>) {
        self.name(combiner.name());
        let Some(ty) = ty else { return };
        if combiner.identity(ty).is_none_or(|it| it.ty() != ty) {
            return self.report(ViolationKind::NotDefinedOn {
                operation: combiner.name().to_owned(),
                ty,
            });
        }
        self.combiner_body(&combiner.body(ty), ty);
    }
}
