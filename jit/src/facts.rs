//! What code generation needs to know about a whole kernel. All of it follows from the kernel.

use crate::form::{Form, Rounding};
use crate::guard::{Guard, behind_the_first};
use crate::isa::Target;
use crate::rows::{Bounded, Rows};
use crate::stays::Stays;
use crate::storage::{LocalStorage, Storage};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use strew_affine::clamped::Clamped;
use strew_affine::interpret::Oob;
use strew_affine::lanes::Lanes;
use strew_affine::visit::{
    AccessSite, Loop, accesses, allocated_arrays, for_each_combiner, walk, written_arrays,
};
use strew_affine::{
    Access, AffineExpr, ArrayId, BinaryOp, Combiner, Declared, Elements, Expr, Forall, IterId,
    Kernel, Node, Overflow, ScalarId, Subscript, Variable,
};

/// Which range checks generated code makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Checks {
    /// All of them.
    All,
    /// Not those of subscripts that are affine or clamped, which were proved from the sizes before
    /// the call.
    Computed,
}

impl Checks {
    /// Whether plain instructions give the value of `expr`: it was proved before the call that
    /// nothing in it leaves 64 bits, or there is nothing to compute.
    pub(crate) fn is_exact(self, expr: &AffineExpr, loops: &[Loop<'_>]) -> bool {
        let is_given = expr.as_constant().is_some() || expr.as_variable().is_some();
        is_given || self == Self::Computed && has_known_domain(expr, loops)
    }

    /// Whether `subscript` was proved to be in range before the call.
    pub(crate) fn is_proved(self, subscript: &Subscript, loops: &[Loop<'_>]) -> bool {
        match subscript {
            Subscript::Affine(expr) => self == Self::Computed && has_known_domain(expr, loops),
            Subscript::Computed(_) => false,
        }
    }
}

/// Whether the values of `expr` inside `loops` follow from the parameters: every iterator in it,
/// and in the bounds of those, is that of an affine loop or a forall.
pub(crate) fn has_known_domain(expr: &AffineExpr, loops: &[Loop<'_>]) -> bool {
    // Outermost first, each loop once: to follow the bounds from the inside would take each of them
    // again and again.
    let mut known = Vec::with_capacity(loops.len());
    for around in loops {
        let is_known = match around {
            Loop::Affine(affine) => {
                let mut bounds = affine.bounds();
                bounds.all(|bound| is_over(bound, &known))
            }
            Loop::Forall(forall) => is_over(&forall.count, &known),
            Loop::Scf(_) => false,
        };
        if is_known {
            known.push(around.iter());
        }
    }
    is_over(expr, &known)
}

/// Whether all iterators in `expr` are among `iters`.
fn is_over(expr: &AffineExpr, iters: &[IterId]) -> bool {
    let mut over = true;
    expr.for_each_variable(&mut |variable| {
        if let Variable::Iter(iter) = variable {
            over &= iters.contains(&iter);
        }
    });
    over
}

/// Calls `visit` for every affine expression of `kernel` but the extents of its arrays, with the
/// loops around it.
pub(crate) fn for_each_affine<'k>(
    kernel: &'k Kernel,
    visit: &mut impl FnMut(&'k AffineExpr, &[Loop<'k>]),
) {
    walk(&kernel.body, &mut |node, loops| {
        for_each_bound(node, &mut |expr| visit(expr, loops));
    });
    for site in accesses(kernel) {
        for subscript in &site.access.subscripts {
            if let Subscript::Affine(expr) = subscript {
                visit(expr, &site.loops);
            }
        }
    }
}

/// Calls `visit` for every affine expression that decides what runs in `node`: bounds, conditions
/// and counts.
pub(crate) fn for_each_bound<'k>(node: &'k Node, visit: &mut impl FnMut(&'k AffineExpr)) {
    match node {
        Node::AffineFor(affine) => affine.bounds().for_each(visit),
        Node::AffineIf { conditions, .. } => {
            for condition in conditions {
                visit(&condition.left);
                visit(&condition.right);
            }
        }
        Node::Forall(forall) => visit(&forall.count),
        _ => {}
    }
}

/// The integer parameters that the affine expressions of `kernel` speak of.
pub(crate) fn sizes(kernel: &Kernel) -> BTreeSet<ScalarId> {
    let mut sizes = BTreeSet::new();
    let mut add = |expr: &AffineExpr| {
        expr.for_each_variable(&mut |variable| {
            if let Variable::Param(param) = variable {
                sizes.insert(param);
            }
        });
    };
    let extents = kernel.arrays.values().flat_map(|array| &array.extents);
    extents.for_each(&mut add);
    for_each_affine(kernel, &mut |expr, _| add(expr));
    sizes
}

/// Facts about one kernel.
#[derive(Debug)]
pub(crate) struct Facts {
    written: BTreeSet<ArrayId>,
    storage: LocalStorage,
    /// The private buffers that may be fields of records themselves, since what they are merged
    /// into is one, with the number of dimensions that they have inside of a record.
    strided: BTreeMap<ArrayId, usize>,
    /// Whether an update at a place that is known before the run counts, which it does when there
    /// is no other kind.
    affine_updates_count: bool,
    elements: Elements,
    has_foralls: bool,
    guard: Guard,
    /// Whether a run can end early although all is proved that can be: where there is no memory for
    /// private buffers, before it begins.
    can_fail: bool,
    /// The arrays whose elements must be in range, where nothing else can fail.
    bounded: Option<Vec<Bounded>>,
    groups_by_lanes: bool,
    /// Whether products of floats may be added up.
    adds_products: bool,
    stays: Stays,
}

/// The extents of `array` with these sizes, none of them below zero.
pub(crate) fn extents(
    kernel: &Kernel,
    array: ArrayId,
    value_of: &impl Fn(ScalarId) -> i64,
) -> Result<Vec<i64>, Overflow> {
    let at = |extent: &AffineExpr| match at_sizes(extent, value_of)? {
        ..0 => Err(Overflow),
        value => Ok(value),
    };
    kernel.arrays[array].extents.iter().map(at).collect()
}

/// What `expr`, which speaks of parameters alone, is in a call.
pub(crate) fn at_sizes(
    expr: &AffineExpr,
    value_of: &impl Fn(ScalarId) -> i64,
) -> Result<i64, Overflow> {
    expr.evaluate(&|variable| match variable {
        Variable::Param(param) => value_of(param),
        Variable::Iter(_) => 0,
    })
}

impl Facts {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        Self::with(kernel, Arc::new(Clamped::of(kernel)))
    }

    /// The same for a kernel with other extents, in which clamped subscripts are as they were.
    pub(crate) fn with(kernel: &Kernel, clamped: Arc<Clamped>) -> Self {
        let mut written = written_arrays(kernel);
        // What fills an array with zeros writes it.
        written.extend(allocated_arrays(&kernel.body));
        walk(&kernel.body, &mut |node, _| {
            written.extend(node.written_elements().map(|access| access.array));
            // Private buffers can be targets too, of foralls inside.
            if let Node::Forall(forall) = node {
                written.extend(forall.buffers().map(|(_, target)| target));
            }
        });
        let mut affine_updates_count = true;
        let mut has_foralls = false;
        walk(&kernel.body, &mut |node, _| {
            affine_updates_count &= !is_scatter(node);
            has_foralls |= matches!(node, Node::Forall(_));
        });
        let storage = LocalStorage::of(kernel);
        let stays = Stays::of(kernel, clamped);
        let rows = Rows::of(kernel, |it| !written.contains(&it));
        let fails = Fails::of(kernel, &stays, &rows);
        let can_fail = fails.can();
        let behind = behind_the_first(kernel).map(|it| Fails::of(&it, &stays, &rows));
        let behind = behind.filter(|it| !it.otherwise);
        let guard = Guard::of(kernel, &storage, can_fail, behind.is_some());
        let bounded = match (&guard, behind) {
            (Guard::First, Some(behind)) => behind.can().then_some(behind.bounded),
            _ => {
                let are_all = Guard::of(kernel, &storage, false, false) == Guard::Nobody;
                (are_all && can_fail && !fails.otherwise).then_some(fails.bounded)
            }
        };
        Self {
            written,
            affine_updates_count,
            elements: Elements::of(kernel),
            has_foralls,
            guard,
            can_fail: can_fail || storage.wants(|_| true),
            bounded,
            groups_by_lanes: groups_by_lanes(kernel),
            adds_products: adds_products(kernel),
            stays,
            storage,
            strided: strided(kernel),
        }
    }

    /// How many dimensions `buffer` has inside of a record, when the distance between its records
    /// is only known when it is handed over.
    pub(crate) fn strided(&self, buffer: ArrayId) -> Option<usize> {
        self.strided.get(&buffer).copied()
    }

    /// The form in which code for `target` does what code in `form` does, the same for as many as
    /// can be.
    pub(crate) fn settled(&self, form: Form, target: Target) -> Form {
        let rounding = match form.rounding {
            Rounding::Written if self.groups_by_lanes => Rounding::Written,
            Rounding::Contracted if self.adds_products && target.contracts() => {
                Rounding::Contracted
            }
            Rounding::Written | Rounding::Lanes | Rounding::Contracted => Rounding::Lanes,
        };
        Form { rounding, ..form }
    }

    /// Where the local arrays are.
    pub(crate) fn storage(&self) -> &LocalStorage {
        &self.storage
    }

    /// Neither the kernel nor a merge ever writes `array`.
    pub(crate) fn is_read_only(&self, array: ArrayId) -> bool {
        !self.written.contains(&array)
    }

    /// The computed subscripts that stay in their dimensions.
    pub(crate) fn stays(&self) -> &Stays {
        &self.stays
    }

    /// Whether there are loops that run at once.
    pub(crate) fn has_foralls(&self) -> bool {
        self.has_foralls
    }

    /// Whether an index out of range in `node` is counted where it is skipped.
    pub(crate) fn counts_skipped(&self, node: &Node) -> bool {
        !matches!(node, Node::Declare { .. }) && !self.elements.is_put_back(node)
    }

    /// Whether `node` is an update that is counted: one at a computed place, or any element when
    /// there are none of those.
    pub(crate) fn counts(&self, node: &Node) -> bool {
        let writes = || node.written_elements().next().is_some() || self.elements.is_set(node);
        !self.elements.is_put_back(node)
            && (is_scatter(node) || self.affine_updates_count && writes())
    }

    /// Whether whoever starts the kernel keeps copies of the outputs, so that foralls need not.
    pub(crate) fn is_guarded(&self) -> bool {
        !matches!(self.guard, Guard::Forall | Guard::First)
    }

    /// Whether code that makes such checks runs to its end once it has its private buffers: it asks
    /// for no other memory.
    pub(crate) fn cannot_fail(&self, checks: Checks) -> bool {
        checks == Checks::Computed && !self.can_fail
    }

    /// Whether `forall` can be run for its updates and they be thrown away: it writes nothing else,
    /// and needs no memory.
    pub(crate) fn is_pure(&self, forall: &Forall) -> bool {
        let mut own = allocated_arrays(&forall.body).into_iter();
        writes_buffers_alone(forall)
            && own.all(|array| !matches!(self.storage.of_array(array), Storage::Loan(_)))
    }

    /// Whether outputs have to be copied that need not be with the `others`, or memory is wanted
    /// for other local arrays: known sizes move some into frames, which may then have no room for
    /// others.
    pub(crate) fn wants_more_than(&self, others: &Self) -> bool {
        let is_looked_at = self.guard == Guard::First
            && (others.guard != Guard::First || self.bounded != others.bounded);
        is_looked_at
            || self.guard == Guard::Caller && others.guard != Guard::Caller
            || self.storage.has_other_loans_than(&others.storage)
    }

    /// Whether outputs are copied only since there may be no memory for local arrays.
    pub(crate) fn copies_for_want_of_memory(&self, checks: Checks, may_stop: bool) -> bool {
        self.guard == Guard::Memory && !may_stop && checks != Checks::All
    }

    /// The arrays whose elements must be in range for nothing to fail; `None` where something else
    /// can.
    pub(crate) fn bounded(&self) -> Option<&[Bounded]> {
        self.bounded.as_deref()
    }

    /// The array parameters to copy before a run, so that they can be put back after a fault, or
    /// after a stop where one may come.
    pub(crate) fn copied_before_run(
        &self,
        kernel: &Kernel,
        checks: Checks,
        may_stop: bool,
    ) -> Vec<ArrayId> {
        let is_copied = match &self.guard {
            Guard::Caller | Guard::Memory => true,
            Guard::Forall => false,
            Guard::Nobody => may_stop || checks == Checks::All,
            Guard::First => may_stop || checks == Checks::All || self.bounded.is_some(),
        };
        match is_copied {
            true => written_arrays(kernel).into_iter().collect(),
            false => Vec::new(),
        }
    }
}

/// Whether lanes gather updates that round.
fn groups_by_lanes(kernel: &Kernel) -> bool {
    let mut groups = false;
    walk(&kernel.body, &mut |node, _| {
        if let Some(it) = Loop::of(node)
            && let Ok(lanes) = Lanes::of(kernel, it, it.lanes())
        {
            groups |= gathers_what_rounds(&lanes, it.body());
        }
    });
    groups
}

fn gathers_what_rounds(lanes: &Lanes<'_>, body: &[Node]) -> bool {
    let mut any = false;
    walk(body, &mut |node, _| {
        if let Node::Reduce {
            places, combiner, ..
        } = node
        {
            let gathering = lanes.gathering(places, combiner);
            any |= gathering.is_some_and(|it| !it.by.is_exact(&[it.ty]));
        }
    });
    any
}

/// Whether floats are multiplied, and others updated.
fn adds_products(kernel: &Kernel) -> bool {
    let (mut multiplies, mut updates) = (false, false);
    walk(&kernel.body, &mut |node, _| {
        let mut values = node.expressions().into_iter();
        multiplies |= values.clone().any(|it| is_product_in(kernel, it));
        updates |= matches!(node, Node::Reduce { .. }) && values.any(|it| it.ty(kernel).is_float());
    });
    multiplies && updates
}

fn is_product_in(kernel: &Kernel, expr: &Expr) -> bool {
    let is_product = matches!(expr, Expr::Binary(BinaryOp::Mul, ..)) && expr.ty(kernel).is_float();
    let mut operands = expr.operands().into_iter();
    is_product || operands.any(|it| is_product_in(kernel, it))
}

/// A write at a computed place.
fn is_scatter(node: &Node) -> bool {
    let is_computed = |it: &Subscript| matches!(it, Subscript::Computed(_));
    node.written_elements()
        .any(|access| access.subscripts.iter().any(is_computed))
}

fn strided(kernel: &Kernel) -> BTreeMap<ArrayId, usize> {
    let mut strided = BTreeMap::new();
    // Outer foralls come first, so what their buffers are is known.
    walk(&kernel.body, &mut |node, _| {
        if let Node::Forall(forall) = node {
            for (buffer, target) in forall.buffers() {
                let field = kernel.arrays[target].field;
                let own = field.map(|it| it.own_dimensions);
                let own = own.or_else(|| strided.get(&target).copied());
                strided.extend(own.map(|own| (buffer, own)));
            }
        }
    });
    strided
}

/// Whether the body writes nothing but its private buffers and arrays of its own, so that to run it
/// without them does nothing.
pub(crate) fn writes_buffers_alone(forall: &Forall) -> bool {
    let mut alone = true;
    let own = allocated_arrays(&forall.body);
    walk(&forall.body, &mut |node, _| {
        for access in node.written_elements() {
            alone &= forall.has_buffer(access.array) || own.contains(&access.array);
        }
        alone &= !matches!(node, Node::Forall(_));
    });
    alone
}

/// Whether the combiner is a function of the host, which may panic.
pub(crate) fn is_of_host(combiner: &Combiner) -> bool {
    combiner.declaration().is_some_and(Declared::is_of_host)
}

/// Where a run can end early although all is proved that can be and there is memory for all.
struct Fails {
    /// In loops over rows, which can be asked to stop.
    in_rows: bool,
    /// Where elements of these arrays are out of range.
    bounded: Vec<Bounded>,
    /// At another computed subscript that does not stay in its dimension, at an affine expression
    /// over other computed bounds, at a division, in a loop over such bounds or a `while`, which
    /// can be asked to stop, or in a function of the host.
    otherwise: bool,
}

impl Fails {
    fn of(kernel: &Kernel, stays: &Stays, rows: &Rows) -> Self {
        let mut found = Self {
            in_rows: false,
            bounded: Vec::new(),
            otherwise: false,
        };
        let fails = &mut found.otherwise;
        for_each_combiner(&kernel.body, &mut |combiner| *fails |= is_of_host(combiner));
        walk(&kernel.body, &mut |node, _| {
            let over_rows = Loop::of(node).is_some_and(|it| rows.has(&it));
            let ends_early = matches!(node, Node::ScfWhile { .. } | Node::ScfFor(_));
            found.in_rows |= over_rows;
            *fails |= ends_early && !over_rows
                || node.expressions().into_iter().any(|it| it.divides(kernel));
        });
        *fails |= kernel.result.as_ref().is_some_and(|it| it.divides(kernel));
        for_each_affine(kernel, &mut |expr, loops| {
            *fails |= !Checks::Computed.is_exact(expr, loops);
        });
        let all_proved = (Checks::Computed, Oob::Error);
        for AccessSite { access, loops, .. } in accesses(kernel) {
            found.otherwise |= divides_in_subscripts(kernel, access);
            let extents = &kernel.arrays[access.array].extents;
            for (dimension, subscript) in access.subscripts.iter().enumerate() {
                let is_known = match subscript {
                    Subscript::Affine(_) => Checks::Computed.is_proved(subscript, &loops),
                    Subscript::Computed(expr) => {
                        stays.is_in(kernel, all_proved, (access.array, dimension), expr)
                    }
                };
                if let (false, Some(extent)) = (is_known, extents.get(dimension)) {
                    found.unknown(rows.bounded(kernel, subscript, extent));
                }
            }
        }
        found
    }

    /// A subscript that was not proved, but that `bounded` decides about.
    fn unknown(&mut self, bounded: Option<Bounded>) {
        match bounded {
            Some(new) if self.bounded.iter_mut().any(|it| it.joins(&new)) => {}
            Some(new) => self.bounded.push(new),
            None => self.otherwise = true,
        }
    }

    fn can(&self) -> bool {
        self.in_rows || !self.bounded.is_empty() || self.otherwise
    }
}

fn divides_in_subscripts(kernel: &Kernel, access: &Access) -> bool {
    access.subscripts.iter().any(|subscript| match subscript {
        Subscript::Affine(_) => false,
        Subscript::Computed(expr) => expr.divides(kernel),
    })
}
