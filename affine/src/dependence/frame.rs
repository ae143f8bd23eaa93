//! What all questions about the accesses of one kernel share.

use super::collapsed::uncollapsed;
use super::site::{Site, Target};
use crate::classify::{SubscriptKind, classify};
use crate::flat::shape_of;
use crate::sets::{Budget, Conjunction, Row, Unknown};
use crate::visit::{Loop, accesses, arrays_written_in, bound_to};
use crate::{
    Access, AffineExpr, ArrayId, BinaryOp, Condition, Expr, Factor, IterId, Kernel,
    Relation as Compares, ScalarId, Subscript, Type, Variable,
};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// A subscript as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum Position<'k> {
    Affine(&'k AffineExpr),
    /// One element of an array, and an affine offset.
    Indirect(&'k Access, AffineExpr),
    Computed(&'k Expr),
    /// All elements along the dimension, or any.
    Any,
}

pub(super) struct Frame<'k> {
    pub(super) kernel: &'k Kernel,
    /// The integer parameters, each with its column.
    pub(super) parameters: HashMap<ScalarId, usize>,
    /// What holds of the parameters whenever the kernel runs.
    pub(super) facts: Vec<Fact>,
    /// The arrays that some statement of the kernel changes, be it one of those that are looked at
    /// or not: a scalar that is declared in front of them has what was read there. Found when it is
    /// first asked for.
    written: OnceCell<BTreeSet<ArrayId>>,
    /// The number of loops around the place where a target is made.
    pub(super) homes: HashMap<Target, usize>,
    /// Of each site the subscripts.
    pub(super) positions: Vec<Vec<Position<'k>>>,
    /// The subscripts that flat ones with symbolic strides are made of, by the site: equal exactly
    /// where the flat ones are.
    pub(super) recovered: HashMap<usize, Vec<AffineExpr>>,
    /// The elements that bound each `scf.for` whose bounds are read, by the iterator.
    pub(super) rows: HashMap<IterId, [(&'k Access, AffineExpr); 2]>,
}

/// Subscripts in other dimensions, by the site.
type Recovered = Vec<(usize, Vec<AffineExpr>)>;

#[derive(Clone, Debug)]
pub(super) enum Fact {
    Zero(Row),
    NotNegative(Row),
}

impl<'k> Frame<'k> {
    pub(super) fn new(
        kernel: &'k Kernel,
        sites: &[Site<'k>],
        homes: HashMap<Target, usize>,
    ) -> Self {
        let scalars = kernel.scalars.iter();
        let integers = scalars.filter(|(_, it)| it.ty.is_integer());
        let parameters = integers.map(|(id, _)| id).zip(0..).collect();
        let mut frame = Self {
            kernel,
            parameters,
            facts: Vec::new(),
            written: OnceCell::new(),
            homes,
            positions: sites.iter().map(|it| positions(kernel, it)).collect(),
            recovered: HashMap::new(),
            rows: HashMap::new(),
        };
        frame.facts = frame.facts_of_parameters();
        frame.recovered = frame.recovered_subscripts(sites);
        frame.rows = frame.rows_of_loops(sites);
        frame
    }

    fn facts_of_parameters(&self) -> Vec<Fact> {
        let mut facts = Vec::new();
        for (id, column) in &self.parameters {
            let range = self.kernel.scalars[*id].ty.integer_range();
            if range.is_some_and(|(least, _)| least == 0) {
                facts.push(Fact::NotNegative(Row::column(*column)));
            }
        }
        let params = self.kernel.array_params();
        let mut extents = HashSet::new();
        for extent in params.flat_map(|it| &self.kernel.arrays[it].extents) {
            if extents.insert(extent) {
                facts.extend(self.linear(extent).map(Fact::NotNegative));
            }
        }
        let assumed = self.kernel.assumptions.iter();
        facts.extend(assumed.filter_map(|it| self.fact(it)));
        facts
    }

    fn recovered_subscripts(&self, sites: &[Site<'k>]) -> HashMap<usize, Vec<AffineExpr>> {
        let mut recovered = HashMap::new();
        let is_flat = |site: &&Site<'k>| {
            let positions = self.positions.get(site.order).map(Vec::as_slice);
            matches!(positions, Some([Position::Affine(expr)]) if has_products(expr))
        };
        let flat = sites.iter().filter(is_flat).map(|it| it.target);
        for target in flat.collect::<BTreeSet<_>>() {
            let Target::Array(array) = target else {
                continue;
            };
            let Ok(Some(shape)) = shape_of(self.kernel, array) else {
                continue;
            };
            if !shape.conditions.iter().all(|it| self.always_holds(it)) {
                continue;
            }
            let of_array = accesses(self.kernel).into_iter();
            let of_array = of_array.filter(|it| it.access.array == array);
            for (access, subscripts) in of_array.zip(shape.subscripts) {
                let mut same = sites.iter().filter(|site| {
                    let own = site.access;
                    own.is_some_and(|it| std::ptr::eq(it, access.access))
                });
                recovered.extend(same.next().map(|site| (site.order, subscripts)));
            }
        }
        recovered.extend(self.uncollapsed_subscripts(sites));
        recovered
    }

    /// Likewise those of arrays of several dimensions, some of which are collapsed wherever the
    /// array is accessed.
    fn uncollapsed_subscripts(&self, sites: &[Site<'k>]) -> Recovered {
        let subscripts = |site: &Site<'k>| self.positions.get(site.order).into_iter().flatten();
        let is_quotient = |it: &Position<'k>| matches!(it, Position::Affine(expr) if expr.as_quotient().is_some());
        let divided = sites.iter().filter(|it| subscripts(it).any(is_quotient));
        let divided: HashSet<_> = divided.map(|it| it.target).collect();
        let mut by_array: BTreeMap<Target, Option<Recovered>> = BTreeMap::new();
        for site in sites.iter().filter(|it| divided.contains(&it.target)) {
            let affine = subscripts(site).map(|it| match it {
                Position::Affine(expr) => Some((*expr).clone()),
                Position::Indirect(..) | Position::Computed(_) | Position::Any => None,
            });
            let affine: Option<Vec<_>> = affine.collect();
            let all = by_array
                .entry(site.target)
                .or_insert_with(|| Some(Vec::new()));
            match (all.as_mut(), affine) {
                (Some(all), Some(subscripts)) => all.push((site.order, subscripts)),
                _ => *all = None,
            }
        }
        let mut found = Vec::new();
        for accesses in by_array.into_values().flatten() {
            let (orders, subscripts): (Vec<_>, Vec<_>) = accesses.into_iter().unzip();
            let subscripts = uncollapsed(&subscripts).into_iter().flatten();
            found.extend(orders.into_iter().zip(subscripts));
        }
        found
    }

    /// Whether a condition over parameters holds for all that the kernel is run with.
    fn always_holds(&self, condition: &Condition) -> bool {
        let mut broken = Conjunction::universe(self.parameters.len());
        for fact in &self.facts {
            match fact {
                Fact::Zero(row) => broken.add_equality(row.clone()),
                Fact::NotNegative(row) => broken.add_inequality(row.clone()),
            }
        }
        let Some(Fact::NotNegative(row)) = self.fact(condition) else {
            return false;
        };
        let Ok(below) = row.scaled(-1).and_then(|it| it.offset(-1)) else {
            return false;
        };
        broken.add_inequality(below);
        broken.is_empty(&mut Budget::new(1000)) == Ok(true)
    }

    fn fact(&self, condition: &Condition) -> Option<Fact> {
        let (left, right) = (
            self.linear(&condition.left)?,
            self.linear(&condition.right)?,
        );
        let difference = right.minus(&left).ok()?;
        Some(match condition.relation {
            Compares::LessOrEqual => Fact::NotNegative(difference),
            Compares::Less => Fact::NotNegative(difference.offset(-1).ok()?),
            Compares::Equal => Fact::Zero(difference),
        })
    }

    /// An expression over parameters as a row, if it is linear.
    pub(super) fn linear(&self, expr: &AffineExpr) -> Option<Row> {
        let mut row = Row::from(i128::from(expr.constant()));
        for term in expr.terms() {
            let [Factor::Variable(Variable::Param(id))] = term.factors.as_slice() else {
                return None;
            };
            let column = self.parameters.get(id)?;
            let term = Row::column(*column).scaled(term.coefficient.into());
            row = row.plus(&term.ok()?).ok()?;
        }
        Some(row)
    }

    fn rows_of_loops(&self, sites: &[Site<'k>]) -> HashMap<IterId, [(&'k Access, AffineExpr); 2]> {
        let mut rows = HashMap::new();
        for level in sites.iter().flat_map(Site::levels) {
            if let super::Level::Loop(Loop::Scf(scf)) = level
                && !rows.contains_key(&scf.iter)
                && let Some(lower) = self.element(&scf.lower)
                && let Some(upper) = self.element(&scf.upper)
            {
                rows.insert(scf.iter, [lower, upper]);
            }
        }
        rows
    }

    /// The element of an array of one dimension that an expression reads, with its subscript.
    fn element(&self, expr: &'k Expr) -> Option<(&'k Access, AffineExpr)> {
        match expr {
            Expr::Cast(ty, inner) if ty.holds_all_of(inner.ty(self.kernel)) => self.element(inner),
            Expr::Local(local) => self.element(bound_to(self.kernel, *local)?),
            Expr::Load(access) => match access.subscripts.as_slice() {
                [Subscript::Affine(at)] => Some((access, at.clone())),
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether nothing in the kernel changes what an expression reads, but the iterators.
    pub(super) fn is_settled(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Load(access) => self.is_settled_access(access),
            Expr::Local(local) => !self.kernel.locals[*local].mutable,
            _ => expr.operands().into_iter().all(|it| self.is_settled(it)),
        }
    }

    pub(super) fn is_settled_access(&self, access: &Access) -> bool {
        let written = self
            .written
            .get_or_init(|| arrays_written_in(&self.kernel.body));
        !written.contains(&access.array)
            && access.subscripts.iter().all(|it| match it {
                Subscript::Affine(_) => true,
                Subscript::Computed(expr) => self.is_settled(expr),
            })
    }
}

fn has_products(expr: &AffineExpr) -> bool {
    expr.terms().iter().any(|term| term.factors.len() > 1)
}

fn positions<'k>(kernel: &'k Kernel, site: &Site<'k>) -> Vec<Position<'k>> {
    match (site.target, site.access) {
        (Target::Local(_), _) => Vec::new(),
        (Target::Array(array), None) => {
            vec![Position::Any; kernel.arrays[array].extents.len()]
        }
        (Target::Array(_), Some(access)) => {
            let subscripts = access.subscripts.iter();
            subscripts.map(|it| position(kernel, it)).collect()
        }
    }
}

fn position<'k>(kernel: &'k Kernel, subscript: &'k Subscript) -> Position<'k> {
    let Subscript::Computed(expr) = subscript else {
        return match subscript {
            Subscript::Affine(expr) => Position::Affine(expr),
            Subscript::Computed(expr) => Position::Computed(expr),
        };
    };
    match classify(kernel, subscript) {
        SubscriptKind::Affine(expr) => Position::Affine(expr),
        // A sum that wrapped below zero is out of range, which no access that happens is.
        SubscriptKind::Indirect {
            load,
            offset,
            may_wrap,
        } if !may_wrap || wraps_out_of_range(kernel, expr, &offset) => {
            Position::Indirect(load, offset)
        }
        SubscriptKind::Indirect { .. } | SubscriptKind::Opaque(_) => Position::Computed(expr),
    }
}

/// Whether `expr` is one element and one number that is added to it, not negative, in a type in
/// which they can only wrap below zero.
fn wraps_out_of_range(kernel: &Kernel, expr: &Expr, offset: &AffineExpr) -> bool {
    let is_small = offset
        .as_constant()
        .is_some_and(|it| (0..1 << 30).contains(&it));
    match expr {
        Expr::Cast(ty, inner) if ty.holds_all_of(inner.ty(kernel)) => {
            wraps_out_of_range(kernel, inner, offset)
        }
        Expr::Binary(BinaryOp::Add, left, right, _) => {
            let is_wide = matches!(expr.ty(kernel), Type::I32 | Type::I64);
            let is_number = |it: &Expr| matches!(it, Expr::Constant(_));
            let sides = [(left, right), (right, left)];
            let mut sides = sides.into_iter();
            is_small
                && is_wide
                && sides.any(|(one, other)| is_element(kernel, one) && is_number(other))
        }
        _ => false,
    }
}

/// Whether `expr` is an element that is read, whatever it is converted to without loss.
fn is_element(kernel: &Kernel, expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) => true,
        Expr::Cast(ty, inner) => ty.holds_all_of(inner.ty(kernel)) && is_element(kernel, inner),
        Expr::Local(local) => bound_to(kernel, *local).is_some_and(|it| is_element(kernel, it)),
        _ => false,
    }
}

impl From<crate::Overflow> for Unknown {
    fn from(_: crate::Overflow) -> Self {
        Self::Overflow
    }
}
