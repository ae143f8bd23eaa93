//! What is known where code is being lowered: elements that were loaded, subscripts that were
//! evaluated and checked, quotients. A check that another one implies would only be a jump more,
//! and the code generator cannot tell, since it does not know what a check is for.
//!
//! All of it dominates what is being lowered, and nothing that it was made of has changed since.
//! Where statements may be skipped nothing is known, since a use of what may have no value is
//! itself a reason to skip.

use super::function::{Binding, FunctionLowering};
use super::offsets::Base;
use super::reciprocal::Reciprocal;
use cranelift_codegen::ir::Value;
use strew_affine::bounded::Between;
use strew_affine::changed::Changed;
use strew_affine::interpret::Oob;
use strew_affine::visit::{for_each_local, walk};
use strew_affine::{
    Access, AffineExpr, Expr, Factor, IterId, LocalId, Node, Place, Subscript, Variable,
};

/// So many of the newest are kept: each new one is compared with all of them.
const MOST: usize = 64;

/// What is known, oldest first.
#[derive(Debug, Default)]
pub(super) struct Known {
    /// The quotients and remainders of affine expressions.
    pub(super) divisions: Vec<Division>,
    /// How to divide by what stays the same in a loop around.
    pub(super) reciprocals: Vec<(Expr, Reciprocal)>,
    facts: Vec<Fact>,
    /// How many facts there were ever.
    count: usize,
}

/// A quotient or a remainder.
#[derive(Debug)]
pub(super) struct Division {
    pub(super) factor: Factor,
    pub(super) value: Value,
    /// Where it holds in one turn of a loop alone: the iterator, and what that is there.
    pub(super) turn: Option<(IterId, Value)>,
}

#[derive(Debug)]
struct Fact {
    number: usize,
    what: What,
    /// The mutable scalars in it: it holds until one of them is set.
    mutable: Vec<LocalId>,
}

#[derive(Debug)]
enum What {
    /// An element of an array that nobody writes, as it was loaded, or extended to 64 bits.
    Loaded(Access, Value, Width),
    /// A subscript, as `i64`.
    Index(Subscript, Value),
    /// An integer as `i64`: whichever of these numbers, from the least to the most, is added to it,
    /// it is below the extent, which is over parameters alone, and not negative.
    Base(Expr, AffineExpr, (i64, i64), Value),
    /// As an unsigned number the value is below the extent, which is over parameters alone.
    InRange(Value, AffineExpr),
    /// What a condition around says of a number.
    Between(Between),
    /// Of two integers, of which the second is not 0.
    Quotient([Expr; 2], Value),
    /// An integer that is not 0.
    Divisor(Expr),
}

/// How an integer was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// As it is in memory.
    Own,
    /// Sign- or zero-extended to 64 bits.
    Extended,
}

/// A moment while a function is made.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    divisions: usize,
    reciprocals: usize,
    count: usize,
}

impl Known {
    fn add(&mut self, what: What, mutable: Vec<LocalId>) {
        if self.facts.len() == MOST {
            self.facts.remove(0);
        }
        self.facts.push(Fact {
            number: self.count,
            what,
            mutable,
        });
        self.count += 1;
    }

    fn find<R>(&self, wanted: impl Fn(&What) -> Option<R>) -> Option<R> {
        self.facts.iter().rev().find_map(|fact| wanted(&fact.what))
    }

    /// How to divide by `divisor`, if that is known.
    pub(super) fn reciprocal(&self, divisor: &Expr) -> Option<Reciprocal> {
        let mut reciprocals = self.reciprocals.iter();
        let found = reciprocals.find(|(it, _)| it.is_same(divisor));
        found.map(|(_, reciprocal)| *reciprocal)
    }

    fn forget_local(&mut self, local: LocalId) {
        self.facts.retain(|fact| !fact.mutable.contains(&local));
    }
}

impl FunctionLowering<'_, '_, '_> {
    pub(super) fn mark(&self) -> Mark {
        Mark {
            divisions: self.known.divisions.len(),
            reciprocals: self.known.reciprocals.len(),
            count: self.known.count,
        }
    }

    /// Forgets what was found since `mark`, since that is not sure to have run.
    pub(super) fn forget_since(&mut self, mark: Mark) {
        self.known.divisions.truncate(mark.divisions);
        self.known.reciprocals.truncate(mark.reciprocals);
        self.known.facts.retain(|fact| fact.number < mark.count);
    }

    /// Lowers what may not run, or not only once: what becomes known in there is forgotten behind
    /// it.
    pub(super) fn scoped<R>(&mut self, lower: impl FnOnce(&mut Self) -> R) -> R {
        let mark = self.mark();
        let lowered = lower(self);
        self.forget_since(mark);
        lowered
    }

    /// Forgets what follows from `local`, which is set.
    pub(super) fn forget_local(&mut self, local: LocalId) {
        self.known.forget_local(local);
    }

    /// Forgets what is not the same in the next turn of the loop over `iter` with this body.
    pub(super) fn forget_turn(&mut self, iter: IterId, body: &[Node]) {
        let changed = Changed::in_loop(iter, body).but(|_| true);
        let variable = Variable::Iter(iter);
        self.known.facts.retain(|fact| match &fact.what {
            What::Loaded(access, ..) => changed.place_stays(access),
            What::Index(subscript, _) => changed.stays(subscript),
            What::Base(base, ..) => changed.expr_stays(base),
            What::InRange(..) => true,
            What::Quotient(operands, _) => operands.iter().all(|it| changed.expr_stays(it)),
            What::Between(between) => changed.expr_stays(&between.number),
            What::Divisor(divisor) => changed.expr_stays(divisor),
        });
        let mentions = |factor: &Factor| match factor {
            Factor::Variable(it) => *it == variable,
            Factor::FloorDiv(left, right) | Factor::Mod(left, right) => {
                left.mentions(variable) || right.mentions(variable)
            }
        };
        (self.known.divisions).retain(|it| !mentions(&it.factor));
    }

    /// The value of a quotient or remainder that was found before.
    pub(super) fn known_division(&self, factor: &Factor) -> Option<Value> {
        let holds = |turn: Option<(IterId, Value)>| {
            turn.is_none_or(|(iter, value)| self.iters.get(iter) == Some(&value))
        };
        let mut divisions = self.known.divisions.iter().rev();
        let found = divisions.find(|it| it.factor == *factor && holds(it.turn));
        found.map(|it| it.value)
    }

    /// Forgets what follows from the scalars that `body`, of a loop, sets: a turn begins with what
    /// the one before has left.
    pub(super) fn forget_set_in(&mut self, body: &[Node]) {
        if self.known.facts.iter().all(|it| it.mutable.is_empty()) {
            return;
        }
        walk(body, &mut |node, _| {
            for place in node.places() {
                if let Place::Local(local) = place {
                    self.known.forget_local(*local);
                }
            }
        });
    }

    /// The element, if it was loaded before.
    pub(super) fn known_element(&self, access: &Access) -> Option<(Value, Width)> {
        self.known.find(|what| match what {
            What::Loaded(known, value, width) if known.is_same(access) => Some((*value, *width)),
            _ => None,
        })
    }

    /// Keeps an element that was loaded.
    pub(super) fn keep_element(&mut self, access: &Access, value: Value, width: Width) {
        if !self.program.facts.is_read_only(access.array) {
            return;
        }
        let mut mutable = Vec::new();
        let subscripts = &access.subscripts;
        if subscripts.iter().all(|it| self.stays(it, &mut mutable)) {
            let what = What::Loaded(access.clone(), value, width);
            self.known.add(what, mutable);
        }
    }

    pub(super) fn known_index(&self, subscript: &Subscript) -> Option<Value> {
        self.known.find(|what| match what {
            What::Index(known, value) if known.is_same(subscript) => Some(*value),
            _ => None,
        })
    }

    pub(super) fn keep_index(&mut self, subscript: &Subscript, value: Value) {
        let is_at_hand = match subscript {
            Subscript::Computed(Expr::Local(local)) => {
                matches!(self.locals.get(*local), Some(Binding::Loaded { .. }))
            }
            Subscript::Computed(_) => false,
            Subscript::Affine(expr) => expr.as_variable().is_some(),
        };
        let mut mutable = Vec::new();
        if !is_at_hand && self.stays(subscript, &mut mutable) {
            let what = What::Index(subscript.clone(), value);
            self.known.add(what, mutable);
        }
    }

    /// The value of `base`, if it was checked with all of its offsets. Those of an inner body may
    /// be others than those that were checked around it.
    pub(super) fn known_base(&self, base: &Base<'_>) -> Option<Value> {
        self.known.find(|what| match what {
            What::Base(known, bound, (least, most), value) => {
                let is_within = *least <= base.offsets.0 && base.offsets.1 <= *most;
                (is_within && known.is_same(base.expr) && bound == base.bound).then_some(*value)
            }
            _ => None,
        })
    }

    pub(super) fn keep_base(&mut self, base: &Base<'_>, value: Value) {
        let (expr, bound) = (base.expr.clone(), base.bound.clone());
        let what = What::Base(expr, bound, base.offsets, value);
        let mut mutable = Vec::new();
        for_each_local(base.expr, &mut |it| {
            mutable.extend(self.program.kernel.locals[it].mutable.then_some(it));
        });
        self.known.add(what, mutable);
    }

    /// Whether `value` was checked against `extent` before.
    pub(super) fn is_known_in_range(&self, value: Value, extent: &AffineExpr) -> bool {
        let found = self.known.find(|what| match what {
            What::InRange(known, bound) => (*known == value && bound == extent).then_some(()),
            _ => None,
        });
        found.is_some()
    }

    pub(super) fn keep_in_range(&mut self, value: Value, extent: &AffineExpr) {
        if self.program.oob == Oob::Error {
            let what = What::InRange(value, extent.clone());
            self.known.add(what, Vec::new());
        }
    }

    /// The quotient of `operands`, if they were divided before.
    pub(super) fn known_quotient(&self, operands: [&Expr; 2]) -> Option<Value> {
        self.known.find(|what| match what {
            What::Quotient(known, quotient) => {
                let mut pairs = known.iter().zip(operands);
                pairs
                    .all(|(known, it)| known.is_same(it))
                    .then_some(*quotient)
            }
            _ => None,
        })
    }

    pub(super) fn keep_quotient(&mut self, operands: [&Expr; 2], quotient: Value) {
        let mut mutable = Vec::new();
        let mut both = operands.into_iter();
        if self.program.oob == Oob::Error && both.all(|it| self.expr_stays(it, &mut mutable)) {
            let what = What::Quotient(operands.map(Clone::clone), quotient);
            self.known.add(what, mutable);
        }
    }

    /// Whether `expr` was found not to be 0 before.
    pub(super) fn is_known_divisor(&self, expr: &Expr) -> bool {
        let found = self.known.find(|what| match what {
            What::Divisor(known) => known.is_same(expr).then_some(()),
            _ => None,
        });
        found.is_some()
    }

    pub(super) fn keep_divisor(&mut self, divisor: &Expr) {
        let mut mutable = Vec::new();
        if self.program.oob == Oob::Error && self.expr_stays(divisor, &mut mutable) {
            self.known.add(What::Divisor(divisor.clone()), mutable);
        }
    }

    /// Keeps what a condition says, as long as the number is the same.
    pub(super) fn keep_between(&mut self, between: Between) {
        let mut mutable = Vec::new();
        if self.expr_stays(&between.number, &mut mutable) {
            self.known.add(What::Between(between), mutable);
        }
    }

    /// Whether a condition around says that `subscript` is in a dimension of `extent` elements.
    pub(super) fn is_said_in_range(&self, subscript: &Subscript, extent: &AffineExpr) -> bool {
        let Subscript::Computed(expr) = subscript else {
            return false;
        };
        let kernel = self.program.kernel;
        let found = self.known.find(|what| match what {
            What::Between(between) => between.says(kernel, expr, extent).then_some(()),
            _ => None,
        });
        found.is_some()
    }

    /// Whether one says that `base` is, with all of its offsets.
    pub(super) fn is_base_said_in_range(&self, base: &Base<'_>) -> bool {
        let kernel = self.program.kernel;
        let found = self.known.find(|what| match what {
            What::Between(between) if between.number.is_same(base.expr) => {
                let room = between.offsets(kernel, base.bound)?;
                let (least, most) = base.offsets;
                (room.contains(&least) && room.contains(&most)).then_some(())
            }
            _ => None,
        });
        found.is_some()
    }

    /// Whether `access` is the same element until a scalar in its subscripts is set.
    pub(super) fn is_steady(&self, access: &Access) -> bool {
        let mut subscripts = access.subscripts.iter();
        subscripts.all(|it| self.stays(it, &mut Vec::new()))
    }

    /// Whether the value of `subscript` is the same until a mutable scalar in it is set, which are
    /// added to `mutable`.
    fn stays(&self, subscript: &Subscript, mutable: &mut Vec<LocalId>) -> bool {
        self.program.oob == Oob::Error
            && match subscript {
                Subscript::Affine(_) => true,
                Subscript::Computed(expr) => self.expr_stays(expr, mutable),
            }
    }

    fn expr_stays(&self, expr: &Expr, mutable: &mut Vec<LocalId>) -> bool {
        match expr {
            Expr::Load(access) => {
                let mut subscripts = access.subscripts.iter();
                self.program.facts.is_read_only(access.array)
                    && subscripts.all(|it| self.stays(it, mutable))
            }
            Expr::Local(local) => {
                if self.program.kernel.locals[*local].mutable {
                    mutable.push(*local);
                }
                true
            }
            _ => {
                let mut operands = expr.operands().into_iter();
                operands.all(|it| self.expr_stays(it, mutable))
            }
        }
    }
}
