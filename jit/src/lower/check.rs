//! Bodies that evaluate updates and check where they go, and do nothing with them.

use super::function::FunctionLowering;
use crate::deciding::{Deciding, is_evaluated};
use crate::facts::Checks;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use std::collections::BTreeSet;
use strew_affine::interpret::Oob;
use strew_affine::visit::Loop;
use strew_affine::{
    AffineFor, ArrayId, BinaryOp, Expr, Forall, LocalId, Node, Place, Subscript, Variable,
};

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes the buffers of `forall` known, which have no memory.
    pub(super) fn bind_checked(&mut self, forall: &Forall) {
        let none = self.builder.ins().iconst(types::I64, 0);
        for (buffer, _) in forall.buffers() {
            self.bind_array(buffer, none);
            self.checked.insert(buffer);
        }
        if self.program.oob == Oob::Error {
            self.deciding = Some(Deciding::of(self.program.kernel, &forall.body));
        }
    }

    /// The upper bound of a loop from `lower` to `upper`: one turn is enough where all would find
    /// the same.
    pub(super) fn checked_turns(&mut self, node: &AffineFor, lower: Value, upper: Value) -> Value {
        // Where updates go is asked of all of them.
        let is_proved = self.bounds.is_empty()
            && self.program.checks == Checks::Computed
            && self.loops.iter().all(|it| !matches!(it, Loop::Scf(_)));
        if self.checked.is_empty() || !is_proved || !Turns::are_alike(node, &self.checked) {
            return upper;
        }
        let first = self.builder.ins().iadd_imm_s(lower, node.step);
        self.builder.ins().smin(upper, first)
    }

    pub(super) fn is_only_checked(&self, places: &[Place]) -> bool {
        match places.first() {
            Some(Place::Element(access)) => self.checked.contains(&access.array),
            Some(Place::Local(_)) | None => false,
        }
    }

    pub(super) fn check_update(&mut self, places: &'k [Place], values: &'k [Expr]) {
        if let (Some(Place::Element(access)), [guard]) = (places.first(), values)
            && let Some(marks) = self.marks_of(access.array)
        {
            return self.mark_where(guard, access, &marks);
        }
        values.iter().for_each(|value| self.check_expr(value));
        let key = self.key(places);
        self.note_bounds(places, key);
    }

    /// Whether nobody needs what would be put into `places`.
    pub(super) fn are_idle(&self, places: &[Place]) -> bool {
        let deciding = self.deciding.as_ref();
        let is_needed = |it: &Deciding| places.iter().any(|place| it.needs(place));
        !places.is_empty() && deciding.is_some_and(|it| !is_needed(it))
    }

    /// Whether nobody needs the value of `local`.
    pub(super) fn is_idle(&self, local: LocalId) -> bool {
        let deciding = self.deciding.as_ref();
        deciding.is_some_and(|it| !it.needs_local(local))
    }

    /// Checks a statement that puts `values` into `places`, which nobody needs.
    pub(super) fn check_statement(&mut self, places: &'k [Place], values: &'k [Expr]) {
        values.iter().for_each(|value| self.check_expr(value));
        for place in places {
            if let Place::Element(access) = place {
                self.check_access(access);
            }
        }
    }

    /// Checks what can fail in `expr`, whose value nobody needs. The code generator would leave out
    /// sums and products, but not loads.
    pub(super) fn check_expr(&mut self, expr: &'k Expr) {
        match expr {
            _ if is_evaluated(expr, self.program.kernel) => drop(self.expr(expr)),
            Expr::Load(access) => self.check_access(access),
            _ => {
                let operands = expr.operands().into_iter();
                operands.for_each(|it| self.check_expr(it));
            }
        }
    }
}

/// What follows from the iterator of a loop.
struct Turns<'k> {
    target: &'k AffineFor,
    /// What updates are only checked for: nothing else may be written, since that could be read in
    /// the next turn.
    buffers: &'k BTreeSet<ArrayId>,
    locals: BTreeSet<LocalId>,
}

impl<'k> Turns<'k> {
    /// Whether nothing that can fail in a turn of `target`, affine subscripts apart, follows from
    /// its iterator.
    fn are_alike(target: &'k AffineFor, buffers: &'k BTreeSet<ArrayId>) -> bool {
        let mut turns = Self {
            target,
            buffers,
            locals: BTreeSet::new(),
        };
        target.body.iter().all(|node| turns.is_alike(node))
    }

    fn is_alike(&mut self, node: &'k Node) -> bool {
        if let Node::Declare { local, value } = node
            && self.follows(value)
        {
            self.locals.insert(*local);
        }
        let is_statement = matches!(node, Node::Declare { .. } | Node::Reduce { .. });
        let mut places = node.places().iter();
        is_statement
            && node
                .expressions()
                .into_iter()
                .all(|it| self.fails_alike(it))
            && places.all(|place| match place {
                Place::Element(access) => {
                    self.buffers.contains(&access.array) && self.are_found_alike(&access.subscripts)
                }
                Place::Local(_) => false,
            })
    }

    /// Whether `expr` follows from the iterator.
    fn follows(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Iter(iter) => *iter == self.target.iter,
            Expr::Local(local) => self.locals.contains(local),
            Expr::Load(access) => access.subscripts.iter().any(|it| match it {
                Subscript::Affine(expr) => expr.mentions(Variable::Iter(self.target.iter)),
                Subscript::Computed(expr) => self.follows(expr),
            }),
            _ => expr.operands().into_iter().any(|it| self.follows(it)),
        }
    }

    /// Whether `expr` fails in all turns or in none.
    fn fails_alike(&self, expr: &Expr) -> bool {
        let divides = matches!(expr, Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..));
        match expr {
            Expr::Load(access) => self.are_found_alike(&access.subscripts),
            // What is evaluated at all may follow from a condition.
            Expr::And(..) | Expr::Or(..) | Expr::Select(..) => !self.follows(expr),
            _ if divides => !self.follows(expr),
            _ => expr.operands().into_iter().all(|it| self.fails_alike(it)),
        }
    }

    fn are_found_alike(&self, subscripts: &[Subscript]) -> bool {
        subscripts.iter().all(|subscript| match subscript {
            Subscript::Affine(_) => true,
            Subscript::Computed(expr) => !self.follows(expr) && self.fails_alike(expr),
        })
    }
}
