//! Which loops count.
//!
//! An *induction variable* is set once a turn, by adding something that stays the same during the
//! loop, in a statement that every turn runs. After `t` turns it is congruent to its first value
//! plus `t` times that step; so it is a function of the iterator, and its update goes. A loop
//! *counts* when its condition says, of one of them, that it has not reached a bound yet.
//!
//! The test of turn `t` is made on machine values. They equal the affine ones at the first test;
//! and as long as they do the test tells the truth, so the next turn begins with a value at most
//! one step beyond the bound. If all those values fit their types, the machine values equal the
//! affine ones at every test, by induction on `t`, the last one included: the loop ends where the
//! affine bound says. So all that has to be shown, or assumed, is that everything fits up to one
//! step beyond.

mod affine_bounds;
mod computed_bounds;
mod turns;

use super::Raising;
use super::written::Written;
use crate::Uncounted;
use crate::lower::interval::Interval;
use crate::lower::value::{Known, Typed};
use strew_affine::visit;
use strew_affine::{AffineExpr, BinaryOp, Expr, IterId, LocalId, Node, Place, Type};

/// A variable to which every turn adds the same.
#[derive(Clone, Debug)]
pub(super) struct Induction {
    pub(super) local: LocalId,
    pub(super) ty: Type,
    /// Where in the body it is updated.
    pub(super) position: usize,
    /// Its value when the loop starts; the variable keeps that now.
    pub(super) first: Typed,
    /// What is added.
    pub(super) step: Typed,
    /// The same as an affine expression; see [`step_form`].
    pub(super) form: AffineExpr,
}

/// A loop that counts.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) iter: IterId,
    pub(super) variable: LocalId,
    /// Whether the iterator is the variable rather than the number of turns before this one.
    pub(super) is_itself: bool,
    pub(super) step: i64,
    pub(super) bounds: Bounds,
    /// Of the iterator in the body.
    pub(super) range: Interval,
    pub(super) least: Vec<AffineExpr>,
    pub(super) greatest: Vec<AffineExpr>,
    /// The variable in the body.
    pub(super) value: Known,
    /// What is computed once, in front of the loop.
    pub(super) named: Option<(LocalId, Expr)>,
}

#[derive(Debug)]
pub(super) enum Bounds {
    Affine {
        lower: Vec<AffineExpr>,
        upper: Vec<AffineExpr>,
    },
    /// Two `i64`.
    Computed { lower: Expr, upper: Expr },
}

impl Induction {
    pub(super) fn constant_step(&self) -> Option<i64> {
        self.form.as_constant()
    }
}

/// What is added, up to multiples of two to the width: if it is a constant, the one of least
/// magnitude.
fn step_form(step: &Typed, ty: Type) -> Option<AffineExpr> {
    if let Some(constant) = step.as_constant() {
        let half = 1_i128 << (ty.bits() - 1);
        let least = (constant + half).rem_euclid(2 * half) - half;
        return i64::try_from(least).ok().map(AffineExpr::from);
    }
    let form = step.known.affine.as_ref()?;
    form.provided.is_empty().then(|| form.expr.clone())
}

impl Raising<'_> {
    /// The induction variables of a loop, found before what it writes is forgotten.
    pub(super) fn inductions(&mut self, body: &[Node], written: &Written) -> Vec<Induction> {
        let firsts = written.locals().filter_map(|local| {
            let first = self.facts.now.get(&local)?;
            Some((local, first.clone()))
        });
        let firsts: std::collections::HashMap<_, _> = firsts.collect();
        self.facts.forget(written.locals());
        let mut inductions = Vec::new();
        for (position, node) in body.iter().enumerate() {
            let Some((local, value)) = added(node) else {
                continue;
            };
            let ty = self.kernel.locals[local].ty;
            let is_number = ty.is_integer() && ty != Type::Bool;
            if !is_number || !written.is_set_once(local) || !written.leaves(value) {
                continue;
            }
            let step = self.value(value);
            let Some(form) = step_form(&step, ty) else {
                continue;
            };
            let first = firsts.get(&local).cloned();
            inductions.push(Induction {
                local,
                ty,
                position,
                first: first.unwrap_or_else(|| Typed::any(Expr::Local(local), ty)),
                form,
                step,
            });
        }
        inductions
    }

    /// How the loop counts, or why it does not.
    pub(super) fn counted(
        &mut self,
        condition: &Expr,
        inductions: &[Induction],
        written: &Written,
    ) -> Result<Counted, Uncounted> {
        let tested: Vec<&Induction> = inductions
            .iter()
            .filter(|it| visit::reads(condition, it.local))
            .collect();
        if tested.is_empty() {
            let mut is_set_again = false;
            visit::for_each_local(condition, &mut |it| {
                is_set_again |= written.is_set_again(it)
            });
            return Err(if is_set_again {
                Uncounted::IteratorAssigned
            } else {
                Uncounted::Header
            });
        }
        let goes_up = |it: &&&Induction| it.constant_step().is_some_and(|step| step > 0);
        let up = tested.iter().find(goes_up);
        let variable = up.or(tested.first()).copied().ok_or(Uncounted::Header)?;
        let conjuncts = self.open_conjuncts(condition, written);
        let iter = self.spare_iter();
        let outside = self.context.mark();
        if let Some(counted) = self.affinely(iter, variable, inductions, &conjuncts) {
            return Ok(counted);
        }
        self.context.return_to(outside);
        let [conjunct] = conjuncts.as_slice() else {
            return Err(Uncounted::Header);
        };
        self.computed(iter, variable, conjunct, written)
    }
}

impl Raising<'_> {
    /// What has to hold for a turn, without what is known to hold in each of them.
    fn open_conjuncts<'e>(&mut self, condition: &'e Expr, written: &Written) -> Vec<&'e Expr> {
        let mut truth = |it: &Expr| match written.leaves(it) {
            true => self.value(it).truth(),
            false => None,
        };
        match condition {
            Expr::Or(left, right) if truth(left) == Some(false) => {
                self.open_conjuncts(right, written)
            }
            Expr::And(left, right) => {
                let mut conjuncts = self.open_conjuncts(left, written);
                conjuncts.append(&mut self.open_conjuncts(right, written));
                conjuncts
            }
            it if truth(it) == Some(true) => Vec::new(),
            it => vec![it],
        }
    }
}

/// The local to which the node adds something, and what.
fn added(node: &Node) -> Option<(LocalId, &Expr)> {
    match node {
        Node::Reduce {
            places,
            combiner,
            values,
            ..
        } if combiner.name() == "add" => match (places.as_slice(), values.as_slice()) {
            ([Place::Local(local)], [value]) => Some((*local, value)),
            _ => None,
        },
        Node::Assign {
            place: Place::Local(local),
            value: Expr::Binary(BinaryOp::Add, left, right, _),
            ..
        } => match (&**left, &**right) {
            (Expr::Local(held), value) | (value, Expr::Local(held)) if held == local => {
                Some((*local, value))
            }
            _ => None,
        },
        _ => None,
    }
}
