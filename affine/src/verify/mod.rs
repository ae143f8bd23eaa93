//! The invariants of kernels. Only [`verify`] makes a [`Verified`] kernel; later stages rely on all
//! of them.
//!
//! *Names and ids*
//! * Every id is one of the kernel's arenas. All names in use are different and can be written (not
//!   empty, no backquote or control character).
//! * A scalar is used if it is a parameter; an array if it is a parameter, inside its forall a
//!   private buffer, or behind its `alloc` and inside the block of that a local array; an iterator
//!   inside its loop; a local behind its declaration and inside the block of that.
//! * A record parameter has fields, all of them its own and of the same extents, which lie apart
//!   inside of its bytes, each at a multiple of its size; its bytes are a multiple of those of
//!   every field. No other array is a field.
//! * An iterator is bound by one loop, a local declared once, an array allocated once, a private
//!   buffer owned by one forall, a parameter listed once.
//! * An inferred size is an `i64` and, by itself, an extent of an array parameter whose other
//!   extents are over passed scalars.
//! * Assumptions are over parameters alone.
//! * A view is of an array parameter, all of whose dimensions belong to one of its own.
//!
//! *Types*
//! * Operands have the types that [`Expr`] asks for, functions as many as they take, conditions are
//!   `bool`, `scf` bounds `i64`, a value has its place's type.
//! * There are as many subscripts as dimensions, at least one; a computed subscript is an integer.
//! * The variables of affine expressions are integer parameters and iterators in scope; extents and
//!   the divisors of affine divisions are over parameters alone.
//! * A combiner is defined on the types it is used at, its bodies have those types and are made of
//!   operands and constants and divide integers by constants other than 0 alone; its operands occur
//!   nowhere else. A reduction has as many places and values as its combiner has parts, and its
//!   places are different arrays and locals.
//! * Combiners of one name are the same, and none that is declared has the name of one that is
//!   built in.
//!
//! *Loops and writes*
//! * Bounds have at least one alternative, steps are positive. What runs in lanes is what [`Lanes`]
//!   accepts.
//! * A `let` is not set again. Inside a forall no local is set that was declared outside.
//! * A forall merges into each target once, by a combiner that has as many parts as there are
//!   targets to merge together; if it has no identity, the body holds no forall and does nothing
//!   with private buffers but update them by their combiners; those have the same extents, or such
//!   as the kernel assumes to be equal; a buffer has the target's element type and extents; the
//!   body does not touch the target.
//! * A forall says one of [`STRATEGIES`].
//! * A target that a forall calls speculative is no target of it otherwise; all that its body does
//!   is to update it and private buffers by their combiners, which have identities, and to set
//!   arrays and scalars of its own; it reads no private buffer, holds no forall and no `scf.while`,
//!   and nothing that it reads of the target decides on the bounds of a loop.
//! * What a forall calls disjoint is no field and nothing that it makes private; what marks it is a
//!   local array of `u8` with the same extents that its body does not touch; that holds no other
//!   forall.
//! * Nodes are nested at most [`MAX_NESTING`] deep, and so is each expression; affine ones at most
//!   twice as deep.

mod again;
mod expression;
mod forall;
mod record;
mod scope;
mod violation;

pub use again::verify_after;
pub use violation::{EntityKind, Violation, ViolationKind};

use crate::lanes::Lanes;
use crate::visit::{Loop, combiners, walk};
use crate::{
    AffineFor, ArrayId, Bound, Combiner, Condition, Expr, Forall, IterId, Kernel, LocalId, Node,
    Parameter, Place, RecordId, STRATEGIES, ScfFor, Span, Type,
};
use scope::Scope;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How deep nodes, and expressions, can be nested: everything that walks them recurses.
pub const MAX_NESTING: usize = 100;

/// A kernel that keeps all invariants.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified(Arc<Kernel>);

impl Verified {
    /// The kernel, to be changed.
    pub fn into_kernel(self) -> Kernel {
        Arc::unwrap_or_clone(self.0)
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

/// Checks every invariant of the module's list. Nodes that were taken out of a clone of the kernel,
/// which has them still, are copied.
///
/// # Errors
/// All violations, in the order of the text.
pub fn verify(mut kernel: Kernel) -> Result<Verified, Vec<Violation>> {
    if !kernel.body.has_addresses() {
        kernel.body = kernel.body.clone();
    }
    let mut verifier = Verifier::of(&kernel);
    verifier.name(&kernel.name);
    verifier.params();
    verifier.inferred_sizes();
    verifier.assumptions();
    verifier.views();
    verifier.outermost_block();
    verifier.combiners_differ();
    let mut violations = verifier.violations;
    if violations.is_empty() {
        // Only a kernel that is one otherwise can be asked.
        violations = without_lanes(&kernel, &kernel.body);
    }
    if violations.is_empty() {
        Ok(Verified(Arc::new(kernel)))
    } else {
        Err(violations)
    }
}

/// The loops in lanes, of those in `nodes`, that cannot run in them.
fn without_lanes(kernel: &Kernel, nodes: &[Node]) -> Vec<Violation> {
    let mut violations = Vec::new();
    walk(nodes, &mut |node, _| {
        if let Some(around) = Loop::of(node)
            && around.lanes() != 1
            && let Err((obstacle, span)) = Lanes::of(kernel, around, around.lanes())
        {
            let name = kernel.iters[around.iter()].name.clone();
            let kind = ViolationKind::NoLanes { name, obstacle };
            violations.push(Violation { span, kind });
        }
    });
    violations
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    scope: Scope<'k>,
    violations: Vec<Violation>,
    /// What is looked at, for constructs without a span of their own.
    here: Span,
}

impl<'k> Verifier<'k> {
    fn of(kernel: &'k Kernel) -> Self {
        Self {
            kernel,
            scope: Scope::default(),
            violations: Vec::new(),
            here: kernel.span,
        }
    }

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
    fn new_name(&mut self, name: &'k str) {
        self.name(name);
        if !self.scope.take_name(name) {
            self.report(ViolationKind::NameTaken(name.to_owned()));
        }
    }

    /// Each name stands for one combiner, since the text says in one place what it is.
    fn combiners_differ(&mut self) {
        let used = combiners(&self.kernel.body);
        let mut known: BTreeMap<String, &Combiner> = BTreeMap::new();
        let mut differ = BTreeSet::new();
        for combiner in used {
            let name = combiner.to_string();
            let first = known.entry(name.clone()).or_insert(combiner);
            let is_declared = combiner.declaration().is_some();
            if *first != combiner || is_declared && Combiner::is_built_in(combiner.name()) {
                differ.insert(name);
            }
        }
        for name in differ {
            self.report(ViolationKind::CombinersDiffer(name));
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
            }
        }
        // Extents may name scalars that come after their array.
        for param in &kernel.params {
            match param {
                Parameter::Scalar(_) => {}
                Parameter::Array(array) => self.array_param(*array, None),
                Parameter::Record(record) => self.record(*record),
            }
        }
    }

    fn inferred_sizes(&mut self) {
        let kernel = self.kernel;
        for (id, scalar) in kernel.scalars.iter().filter(|it| it.1.inferred) {
            self.here = scalar.span;
            if scalar.ty != Type::I64 || kernel.array_that_tells(id).is_none() {
                self.report(ViolationKind::NotInferable(scalar.name.clone()));
            }
        }
    }

    fn assumptions(&mut self) {
        self.here = self.kernel.span;
        for condition in &self.kernel.assumptions {
            self.over_parameters(&condition.left);
            self.over_parameters(&condition.right);
        }
    }

    fn views(&mut self) {
        let kernel = self.kernel;
        for view in kernel.views.values() {
            self.here = view.span;
            let of_caller = kernel.array_params().any(|it| it == view.array);
            let rank = of_caller.then(|| kernel.arrays[view.array].extents.len());
            let is_whole = rank == Some(view.dimensions.iter().sum());
            if !is_whole || view.dimensions.contains(&0) {
                self.report(ViolationKind::View(view.name.clone()));
            }
            self.new_name(&view.name);
        }
    }

    /// An array that comes from the caller, by itself or as a field of `record`.
    fn array_param(&mut self, array: ArrayId, record: Option<RecordId>) {
        let Some(declared) = self.known_array(array) else {
            return;
        };
        self.here = declared.span;
        if self.scope.arrays.insert(array) {
            self.new_name(&declared.name);
        } else {
            self.report(ViolationKind::DeclaredTwice(declared.name.clone()));
        }
        if declared.field.map(|it| it.record) != record {
            self.report(ViolationKind::MisplacedField(declared.name.clone()));
        }
        self.length(declared);
        self.array(declared);
    }

    /// That what says how many elements a caller passes is an inferred size that comes from nowhere
    /// else.
    fn length(&mut self, array: &crate::Array) {
        let Some(length) = array.length else { return };
        let kernel = self.kernel;
        let is_inferred = (self.known_scalar(length)).is_some_and(|it| it.inferred);
        let told = kernel.array_params();
        let is_told_once = told
            .filter(|it| kernel.arrays[*it].length == Some(length))
            .count()
            == 1;
        if !(is_inferred && is_told_once && array.field.is_none()) {
            self.report(ViolationKind::Length(array.name.clone()));
        }
    }

    /// An array that does not come from the caller.
    fn own_array(&mut self, array: &crate::Array) {
        if array.field.is_some() {
            self.report(ViolationKind::MisplacedField(array.name.clone()));
        }
        if array.length.is_some() {
            self.report(ViolationKind::Length(array.name.clone()));
        }
        self.array(array);
    }

    fn array(&mut self, array: &crate::Array) {
        if array.extents.is_empty() {
            self.report(ViolationKind::NoExtent(array.name.clone()));
        }
        for extent in &array.extents {
            self.over_parameters(extent);
        }
    }

    /// The body, and behind it the result.
    fn outermost_block(&mut self) {
        for node in &self.kernel.body {
            self.node(node, 1);
        }
        if let Some(result) = &self.kernel.result {
            self.here = self.kernel.span;
            self.value(result);
        }
    }

    fn block(&mut self, body: &'k [Node], depth: usize) {
        if depth > MAX_NESTING {
            return self.report(ViolationKind::TooDeep);
        }
        let locals = self.scope.locals.len();
        let allocated = self.scope.allocated.len();
        for node in body {
            self.node(node, depth);
        }
        self.scope.locals.truncate(locals);
        self.scope.free(allocated);
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
            Node::Alloc { array } => self.alloc(*array),
            Node::Assign { place, value, span } => {
                self.here = *span;
                let found = self.value(value);
                let ty = self.place(place);
                self.same(ty, found);
            }
            Node::Reduce {
                places,
                combiner,
                values,
                span,
            } => {
                self.here = *span;
                self.reduction(places, combiner, values);
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
        if !STRATEGIES.contains(&forall.strategy.as_str()) {
            self.report(ViolationKind::NoSuchStrategy(forall.strategy.clone()));
        }
        self.affine(&forall.count);
        let outer = self.scope.enter_forall();
        for private in &forall.privates {
            match private.is_speculative() {
                true => self.speculative(private, forall),
                false => self.private(private),
            }
        }
        self.in_order(forall);
        self.disjoint(forall);
        self.loop_body(forall.iter, &forall.body, depth);
        for buffer in forall.own_buffers() {
            self.scope.arrays.remove(&buffer);
        }
        self.scope.leave_forall(outer);
    }

    fn wrong_part_count(&mut self, combiner: &Combiner, places: usize, values: usize) {
        self.report(ViolationKind::WrongPartCount {
            combiner: combiner.to_string(),
            expected: combiner.parts(),
            places,
            values,
        });
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
        let is_loaded = declared.mutable && matches!(value, Expr::Load(_));
        if declared.is_element && !is_loaded {
            self.report(ViolationKind::ElementOfNothing(declared.name.clone()));
        }
        if self.scope.declare(local) {
            self.new_name(&declared.name);
        } else {
            self.report(ViolationKind::DeclaredTwice(declared.name.clone()));
        }
    }

    fn alloc(&mut self, array: ArrayId) {
        let Some(declared) = self.known_array(array) else {
            return;
        };
        self.here = declared.span;
        if self.scope.allocate(array) {
            self.new_name(&declared.name);
            self.own_array(declared);
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

    fn reduction(&mut self, places: &'k [Place], combiner: &Combiner, values: &'k [Expr]) {
        let found: Vec<_> = values.iter().map(|value| self.value(value)).collect();
        let types: Vec<_> = places.iter().map(|place| self.place(place)).collect();
        if (places.len(), values.len()) != (combiner.parts(), combiner.parts()) {
            return self.wrong_part_count(combiner, places.len(), values.len());
        }
        for (expected, found) in types.iter().zip(found) {
            self.same(*expected, found);
        }
        self.different_places(places);
        let types: Option<Vec<_>> = types.into_iter().collect();
        self.combiner(combiner, types);
    }

    /// What one place holds must not depend on which of them is set first.
    fn different_places(&mut self, places: &[Place]) {
        let mut names = BTreeSet::new();
        for place in places {
            let name = match place {
                Place::Element(access) => self.known_array(access.array).map(|it| &it.name),
                Place::Local(local) => self.known_local(*local).map(|it| &it.name),
            };
            if let Some(name) = name
                && !names.insert(name)
            {
                self.report(ViolationKind::ReducedTwice(name.clone()));
            }
        }
    }

    fn identity(&mut self, combiner: &Combiner, types: &[Type]) {
        let identity = combiner.identity(types);
        let has_types =
            identity.is_none_or(|it| it.iter().map(|it| it.ty()).eq(types.iter().copied()));
        if !has_types && combiner.bodies(types).is_some() {
            self.report(ViolationKind::NoIdentity {
                combiner: combiner.to_string(),
                types: types.to_vec(),
            });
        }
    }

    fn combiner(&mut self, combiner: &Combiner, types: Option<Vec<Type>>) {
        self.name(combiner.name());
        let Some(types) = types else { return };
        let Some(bodies) = combiner.bodies(&types) else {
            return self.report(ViolationKind::NotDefinedOn {
                operation: combiner.to_string(),
                types,
            });
        };
        if bodies.len() != types.len() {
            return self.report(ViolationKind::MisplacedOperand);
        }
        for (body, ty) in bodies.iter().zip(&types) {
            self.combiner_body(body, &types, *ty);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_kernels::{at, chunked_segment_sum, for_loop, iter, scalar, segment_sum};
    use crate::{AffineExpr, Combine, CompareOp, Function, Operand, Subscript, Value, text};

    fn read(body: &str) -> Kernel {
        let head = "kernel @k(n: i64, m: i32, w: f64, x: f64[n], y: f64[n], seg: i32[n])";
        let kernels = text::parse(&format!("{head} {{ {body} }}")).expect("a kernel");
        kernels.into_iter().next().expect("one kernel")
    }

    #[track_caller]
    fn refused(kernel: Kernel) -> Vec<String> {
        let violations = verify(kernel).expect_err("an invariant is broken");
        violations.iter().map(ToString::to_string).collect()
    }

    /// Breaks the kernel of `body` and tells the first violation.
    #[track_caller]
    fn broken(body: &str, change: impl FnOnce(&mut Kernel)) -> String {
        let mut kernel = read(body);
        change(&mut kernel);
        refused(kernel).swap_remove(0)
    }

    /// Nodes that bind nothing may stand in a kernel twice, but not at one address.
    #[test]
    fn nodes_of_a_clone_get_addresses_of_their_own() {
        let mut kernel = read("scf.if w < 1.0 { x[0] = 1.0 }");
        let clone = kernel.clone();
        kernel.body.extend(clone.body);
        assert!(!kernel.body.has_addresses());
        assert!(verify(kernel).expect("a kernel").body.has_addresses());
    }

    #[test]
    fn the_kernels_of_the_design_are_verified() {
        for kernel in [segment_sum(), chunked_segment_sum()] {
            assert!(verify(kernel).is_ok());
        }
    }

    #[test]
    fn what_the_text_can_say_but_must_not() {
        let cases = [
            (
                "let a: i64 = 1 a = 2",
                "`a` is a `let` and is not set again",
            ),
            (
                "scf.forall c in 0..8 strategy(bogus) { }",
                "there is no strategy `bogus`; there are auto, serial, dense, blocked, binned, planned, columns, atomic, apart, colored, rows",
            ),
            (
                "affine.for i in 0..n step 0 { }",
                "the step 0 is not positive",
            ),
            (
                "affine.for i in max()..n { }",
                "the loop `i` has an empty bound",
            ),
            (
                "var s: f64 = 0.0 scf.forall c in 0..2 { s = 1.0 }",
                "`s` is declared outside of the forall that sets it: its iterations would race",
            ),
            (
                "scf.forall c in 0..2 private(p: f64[n] = identity(add)) merge(x reduce(add) p) { p[c] = x[c] }",
                "`x` is touched inside the forall that merges into it",
            ),
            (
                "scf.forall c in 0..2 private(p: f64[n] = identity(add), q: f64[n] = identity(add)) merge(x reduce(add) p, x reduce(add) q) { }",
                "`x` is touched inside the forall that merges into it",
            ),
            (
                "x[0] reduce(argmax) y[0]",
                "`argmax` combines 2 values at a time; here are 1 places and 1 values",
            ),
            (
                "(x[0], y[0]) reduce(argmax) (1.0, 2.0, 3.0)",
                "`argmax` combines 2 values at a time; here are 2 places and 3 values",
            ),
            (
                "alloc t: u8[m] scf.forall c in 0..2 disjoint(x: t) { }",
                "`disjoint` takes an array that no forall around makes private and, behind it, a local array of u8 with its extents that the body does not touch",
            ),
            (
                "alloc t: u8[n] scf.forall c in 0..2 disjoint(x: t) { t[c] = 1 }",
                "`disjoint` takes an array that no forall around makes private and, behind it, a local array of u8 with its extents that the body does not touch",
            ),
            (
                "alloc t: f64[n] scf.forall c in 0..2 disjoint(x: t) { }",
                "`disjoint` takes an array that no forall around makes private and, behind it, a local array of u8 with its extents that the body does not touch",
            ),
            (
                "scf.forall c in 0..2 private((p: f64[n], q: f64[n]) = identity(argmax_last)) merge((x, y) reduce(argmax_last) (p, q)) { p[c] = 1.0 }",
                "`argmax_last` has no identity, so the body can do nothing but update private buffers, and hold no other forall",
            ),
            (
                "scf.forall c in 0..2 private((p: f64[n], q: f64[n]) = identity(add)) merge((x, y) reduce(add) (p, q)) { }",
                "`add` combines 1 values at a time; here are 2 places and 2 values",
            ),
            (
                "scf.forall c in 0..2 private((p: f64[n], q: f64[n]) = identity(argmax)) merge((x, x) reduce(argmax) (p, q)) { }",
                "`x` is touched inside the forall that merges into it",
            ),
            (
                "alloc t: f64[m] scf.forall c in 0..2 private((p: f64[n], q: f64[m]) = identity(argmax)) merge((x, t) reduce(argmax) (p, q)) { }",
                "`x` and `t` are merged together, but have different extents",
            ),
            (
                "(x[0], x[1]) reduce(argmax) (1.0, 2.0)",
                "`x` is reduced twice by one statement",
            ),
            (
                "scf.forall c in 0..2 private(p: f64[n + 1] = identity(add)) merge(x reduce(add) p) { }",
                "the private buffer `p` has not the type and extents of its target `x`",
            ),
        ];
        for (body, message) in cases {
            assert_eq!(broken(body, |_| ()), message);
        }
    }

    #[test]
    fn ids_names_and_scopes() {
        let update = "x[0] = 1.0";
        let foreign = broken(update, |kernel| {
            let mut other = read("affine.for i in 0..n { }");
            kernel.body.append(&mut other.body);
        });
        assert_eq!(foreign, "the iterator is not one of this kernel");
        let renamed = broken("affine.for i in 0..n { }", |kernel| {
            kernel
                .iters
                .values_mut()
                .for_each(|it| it.name = "x".to_owned());
        });
        assert_eq!(renamed, "the name `x` is given twice");
        let unwritable = broken(update, |kernel| kernel.name = "a`b".to_owned());
        assert_eq!(
            unwritable,
            "the name \"a`b\" is empty or holds a backquote or control character"
        );
        let twice = broken("affine.for i in 0..n { }", |kernel| {
            let again = kernel.body.clone();
            kernel.body.extend(again);
        });
        assert_eq!(twice, "`i` is declared twice");
        let outside = broken(update, |kernel| {
            let i = iter(kernel, "i");
            let x = kernel.array_params().next().expect("an array");
            kernel.body = [Node::Assign {
                place: Place::Element(at(x, vec![Subscript::Affine(i.into())])),
                value: Expr::Constant(Value::f64(0.0)),
                span: Span::default(),
            }]
            .into();
        });
        assert_eq!(outside, "the iterator `i` is not visible here");
    }

    #[test]
    fn a_local_array_is_allocated_once_and_known_to_the_end_of_its_block() {
        let twice = broken("alloc t: f64[n]", |kernel| {
            let again = kernel.body.clone();
            kernel.body.extend(again);
        });
        assert_eq!(twice, "`t` is declared twice");
        let of_a_parameter = broken("alloc t: f64[n]", |kernel| {
            let x = kernel.array_params().next().expect("an array");
            kernel.body = [Node::Alloc { array: x }].into();
        });
        assert_eq!(of_a_parameter, "`x` is declared twice");
        let outside = broken("scf.if n == 0 { alloc t: f64[n] t[0] = 1.0 }", |kernel| {
            let Some(Node::ScfIf { then, .. }) = kernel.body.first_mut() else {
                panic!("a condition");
            };
            let moved = then.pop();
            kernel.body.extend(moved);
        });
        assert_eq!(outside, "the array `t` is not visible here");
        let early = broken("alloc t: f64[n] t[0] = 1.0", |kernel| kernel.body.reverse());
        assert_eq!(early, "the array `t` is not visible here");
    }

    #[test]
    fn a_result_is_an_expression_of_the_outermost_block() {
        let with_result = |body: &str, result: fn(&Kernel) -> Expr| {
            let mut kernel = read(body);
            kernel.result = Some(result(&kernel));
            verify(kernel).map(|_| ()).map_err(|it| it[0].to_string())
        };
        let local = |kernel: &Kernel| {
            Expr::Local(kernel.locals.iter().map(|it| it.0).next().expect("a local"))
        };
        assert_eq!(with_result("let a: i64 = 1", local), Ok(()));
        assert_eq!(
            with_result("affine.for i in 0..n { let a: i64 = 1 }", local),
            Err("the local `a` is not visible here".to_owned())
        );
        let negated = |_: &Kernel| Expr::unary(crate::UnaryOp::Not, Expr::i64(1));
        assert_eq!(
            with_result("", negated),
            Err("`!` is not defined on i64".to_owned())
        );
    }

    #[test]
    fn inferred_sizes_and_assumptions_are_about_parameters() {
        let violation = |source: &str| {
            let kernels = text::parse(source).expect("a kernel");
            refused(kernels.into_iter().next().expect("one kernel")).swap_remove(0)
        };
        let message = |name: &str| {
            format!(
                "`{name}` can only be inferred if it is an i64 and an extent of an array whose other extents are known"
            )
        };
        for source in [
            "kernel @k(infer s: i32, x: f64[s]) { }",
            "kernel @k(infer s: i64, x: f64[2 * s]) { }",
            "kernel @k(infer s: i64) { }",
            "kernel @k(infer s: i64, infer t: i64, x: f64[t], y: f64[s, t]) { }",
        ] {
            assert_eq!(violation(source), message("s"));
        }
        for (source, name) in [
            ("kernel @k(n: i64, x: f64[n] infer n) { }", "x"),
            (
                "kernel @k(infer s: i64, x: f64[2] infer s, y: f64[2] infer s) { }",
                "x",
            ),
        ] {
            assert_eq!(
                violation(source),
                format!("what `{name}` infers is not an inferred size that it alone tells")
            );
        }
        let over_iterator = broken("affine.for i in 0..n { }", |kernel| {
            let i = iter(kernel, "j");
            kernel.assumptions = vec![crate::Condition {
                left: i.into(),
                relation: crate::Relation::Less,
                right: 3.into(),
            }];
        });
        assert_eq!(over_iterator, "the iterator `j` is not visible here");
    }

    #[test]
    fn types_of_values_and_parameters() {
        let set_value = |value: Expr| {
            broken("x[0] = 1.0", |kernel| {
                kernel.body.iter_mut().for_each(|node| {
                    for expr in node.expressions_mut() {
                        *expr = value.clone();
                    }
                });
            })
        };
        let (one, half) = (Expr::i64(1), Expr::Constant(Value::f64(0.5)));
        assert_eq!(
            set_value(one.clone()),
            "this has type i64, but f64 is needed"
        );
        let sum = Expr::binary(
            crate::BinaryOp::Add,
            one.clone(),
            half.clone(),
            Span::default(),
        );
        assert_eq!(
            set_value(sum),
            "the operands have different types, i64 and f64"
        );
        let bits = Expr::binary(
            crate::BinaryOp::BitAnd,
            half.clone(),
            half.clone(),
            Span::default(),
        );
        assert_eq!(set_value(bits), "`&` is not defined on f64");
        let called = |operands| set_value(Expr::Call(Function::Hypot, operands));
        assert_eq!(
            called(vec![half.clone()]),
            "`hypot` takes 2 operands, but is given 1"
        );
        assert_eq!(
            called(vec![one.clone(), one.clone()]),
            "`hypot` is not defined on i64"
        );
        assert_eq!(
            called(vec![half.clone(), one.clone()]),
            "the operands have different types, f64 and i64"
        );
        let chosen = Expr::select(one, half.clone(), half);
        assert_eq!(set_value(chosen), "this has type i64, but bool is needed");
        assert_eq!(
            set_value(Expr::Operand(Operand::Held(0))),
            "a combiner's body is made of its operands and constants, and its operands stand nowhere else"
        );
        let affine = broken("", |kernel| {
            let w = scalar(kernel, "v", Type::F64);
            let i = iter(kernel, "i");
            kernel.body = [for_loop(i, 0.into(), AffineExpr::from(w), vec![])].into();
        });
        assert_eq!(affine, "this has type f64, but an integer is needed");
    }

    #[derive(Debug)]
    struct Odd(Expr);

    impl Combine for Odd {
        fn name(&self) -> &str {
            "odd"
        }

        fn identity(&self, _: &[Type]) -> Option<Vec<Value>> {
            None
        }

        fn bodies(&self, _: &[Type]) -> Option<Vec<Expr>> {
            Some(vec![self.0.clone()])
        }

        fn is_exact(&self, _: &[Type]) -> bool {
            false
        }
    }

    #[test]
    fn a_combiner_has_a_body_of_its_type_over_its_operands() {
        let with_body = |body: Expr| {
            broken("x[0] reduce(add) 1.0", |kernel| {
                if let Some(Node::Reduce { combiner, .. }) = kernel.body.first_mut() {
                    *combiner = Combiner::new(Odd(body));
                }
            })
        };
        let held = || Expr::Operand(Operand::Held(0));
        let compared = Expr::compare(CompareOp::Lt, held(), held());
        assert_eq!(with_body(compared), "this has type bool, but f64 is needed");
        let second = Expr::Operand(Operand::Incoming(1));
        assert!(with_body(second).starts_with("a combiner's body"));
        let load = read("let a: f64 = x[0]").body;
        let value = load
            .first()
            .and_then(|it| it.expressions().first().copied().cloned());
        assert!(with_body(value.expect("a load")).starts_with("a combiner's body"));
    }

    #[test]
    fn nothing_is_nested_deeper_than_what_walks_it_can_bear() {
        let mut kernel = read("");
        let nested = (0..=MAX_NESTING).fold(Vec::new(), |body, _| {
            vec![Node::ScfWhile {
                condition: Expr::Constant(Value::bool(false)),
                body: body.into(),
                span: Span::default(),
            }]
        });
        kernel.body = nested.into();
        assert_eq!(
            refused(kernel),
            ["this is nested more than 100 levels deep"]
        );
        let sum =
            (0..=MAX_NESTING).fold(Expr::i64(1), |sum, _| Expr::unary(crate::UnaryOp::Neg, sum));
        let found = broken("let a: i64 = 1", |kernel| {
            for expr in kernel.body.iter_mut().flat_map(Node::expressions_mut) {
                *expr = sum.clone();
            }
        });
        assert_eq!(found, "this is nested more than 100 levels deep");
        let halves = "(".repeat(75) + "n" + &" floordiv 2 + n)".repeat(75);
        let text = format!("affine.for i in 0..{halves} {{ }}");
        assert_eq!(
            broken(&text, |_| ()),
            "this is nested more than 100 levels deep"
        );
    }

    #[test]
    fn all_violations_are_told() {
        let kernel = read("let a: i64 = 1 a = 2 affine.for i in 0..n step 0 { a = 3 }");
        assert_eq!(refused(kernel).len(), 3);
    }
}
