//! The subscripts that may stay in their dimensions, by the extents of those, and the scalars that
//! matter for them.

use super::flow::Flow;
use crate::value_range::numbers::Extent;
use crate::visit::{AccessSite, accesses, for_each_local, walk};
use crate::{AffineExpr, ArrayId, BinaryOp, Expr, Kernel, LocalId, Node, Place, Subscript};
use std::collections::{BTreeMap, BTreeSet};

/// So many subscripts of one dimension of an array are looked at: each access is compared with all
/// of them.
const MOST: usize = 32;

/// Those of dimensions with one extent.
#[derive(Clone)]
pub(super) struct Candidates<'k> {
    pub(super) extent: &'k AffineExpr,
    /// By the array and its dimension.
    pub(super) of: BTreeMap<(ArrayId, usize), Vec<Candidate<'k>>>,
    /// The scalars that they follow from.
    pub(super) wanted: BTreeSet<LocalId>,
}

#[derive(Clone, Copy)]
pub(super) struct Candidate<'k> {
    pub(super) expr: &'k Expr,
    pub(super) verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum Verdict {
    Unseen,
    /// It may be out of range somewhere.
    Astray,
    /// It is in range, but calls that do much may do without it.
    Optional,
    Kept,
}

impl<'k> Candidates<'k> {
    pub(super) fn all(&self) -> impl Iterator<Item = &Candidate<'k>> {
        self.of.values().flatten()
    }

    /// Leaves those that are in range where the extent is at least so much.
    pub(super) fn follow(&mut self, kernel: &'k Kernel, least: i128) {
        for candidate in self.of.values_mut().flatten() {
            candidate.verdict = Verdict::Unseen;
        }
        let extent = Extent::of_at_least(least, self.extent);
        if let Some(extent) = extent.filter(|_| !self.of.is_empty()) {
            Flow::new(kernel, &extent, self).follow();
        }
        self.retain(|_, it| matches!(it.verdict, Verdict::Kept | Verdict::Optional));
    }

    pub(super) fn remove(&mut self, others: &Self) {
        self.retain(|place, it| {
            let mut others = others.of.get(&place).into_iter().flatten();
            !others.any(|other| std::ptr::eq(other.expr, it.expr))
        });
    }

    fn retain(&mut self, stays: impl Fn((ArrayId, usize), &Candidate<'k>) -> bool) {
        self.of.retain(|place, found| {
            found.retain(|it| stays(*place, it));
            !found.is_empty()
        });
    }

    fn add(&mut self, place: (ArrayId, usize), expr: &'k Expr) {
        let known = self.of.entry(place).or_default();
        if known.len() < MOST && !known.iter().any(|it| it.expr.is_same(expr)) {
            let verdict = Verdict::Unseen;
            known.push(Candidate { expr, verdict });
        }
    }
}

/// Those of a kernel, for each extent.
pub(super) fn candidates(kernel: &Kernel) -> Vec<Candidates<'_>> {
    let narrow = narrow_scalars(kernel);
    let mut found: Vec<Candidates<'_>> = Vec::new();
    for AccessSite { access, .. } in accesses(kernel) {
        let extents = &kernel.arrays[access.array].extents;
        for (dimension, (subscript, extent)) in access.subscripts.iter().zip(extents).enumerate() {
            if let Subscript::Computed(expr) = subscript
                && is_narrow(kernel, &narrow, expr)
            {
                of_extent(&mut found, extent).add((access.array, dimension), expr);
            }
        }
    }
    let sources = match found.is_empty() {
        true => BTreeMap::new(),
        false => sources(kernel),
    };
    for candidates in &mut found {
        let subscripts: Vec<_> = candidates.all().map(|it| it.expr).collect();
        for subscript in subscripts {
            for_each_local(subscript, &mut |it| {
                want(&sources, &mut candidates.wanted, it)
            });
        }
    }
    found
}

fn of_extent<'f, 'k>(
    found: &'f mut Vec<Candidates<'k>>,
    extent: &'k AffineExpr,
) -> &'f mut Candidates<'k> {
    let at = found.iter().position(|it| it.extent == extent);
    let at = at.unwrap_or_else(|| {
        found.push(Candidates {
            extent,
            of: BTreeMap::new(),
            wanted: BTreeSet::new(),
        });
        found.len() - 1
    });
    &mut found[at]
}

/// The scalars that are set once, to what may hold less than its type.
fn narrow_scalars(kernel: &Kernel) -> BTreeSet<LocalId> {
    let mut narrow = BTreeSet::new();
    walk(&kernel.body, &mut |node, _| {
        if let Node::Declare { local, value } = node
            && is_narrow(kernel, &narrow, value)
        {
            narrow.insert(*local);
        }
    });
    narrow
}

/// Whether something in `expr` is clamped, or may be; others need not be followed.
fn is_narrow(kernel: &Kernel, narrow: &BTreeSet<LocalId>, expr: &Expr) -> bool {
    match expr {
        Expr::Select(..) | Expr::Binary(BinaryOp::Rem | BinaryOp::BitAnd, ..) => true,
        Expr::Local(local) => kernel.locals[*local].mutable || narrow.contains(local),
        _ => {
            let mut operands = expr.operands().into_iter();
            operands.any(|it| is_narrow(kernel, narrow, it))
        }
    }
}

/// What scalars are computed from, and compared with.
type Sources = BTreeMap<LocalId, BTreeSet<LocalId>>;

fn sources(kernel: &Kernel) -> Sources {
    let mut sources = Sources::new();
    walk(&kernel.body, &mut |node, _| {
        let mut from = Vec::new();
        for expr in node.expressions() {
            for_each_local(expr, &mut |it| from.push(it));
        }
        if let Node::ScfIf { .. } = node {
            // In a ring, from each of them to all.
            let next = from.iter().skip(1).chain(from.first());
            for (local, next) in from.iter().zip(next) {
                sources.entry(*local).or_default().insert(*next);
            }
        }
        let declared = match node {
            Node::Declare { local, .. } => Some(*local),
            _ => None,
        };
        let set = node.places().iter().filter_map(Place::local);
        for local in set.chain(declared) {
            sources.entry(local).or_default().extend(&from);
        }
    });
    sources
}

fn want(sources: &Sources, wanted: &mut BTreeSet<LocalId>, local: LocalId) {
    let mut left = vec![local];
    while let Some(local) = left.pop() {
        if wanted.insert(local) {
            left.extend(sources.get(&local).into_iter().flatten());
        }
    }
}
