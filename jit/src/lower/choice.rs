//! Conditions that only decide what scalars become: both sides are computed, and the condition
//! picks.
//!
//! That costs a few instructions more than a jump that is foretold, and far fewer than one that is
//! not: in a merge of two sorted rows, or a search by halves, nobody can tell which way the next
//! comparison goes. Of floats those are chosen that each turn of a loop has for itself, and one
//! alone where turns hand it on, by what is at hand; see [`blend`](super::blend).

use super::blend::{choose_bits, looks_for_nan};
use super::expr::operations_of;
use super::function::{Binding, FunctionLowering};
use crate::CompileError;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::Variable;
use strew_affine::visit::{
    declared_in, for_each_load, for_each_local_in_subscripts, for_each_sure_load, reads,
    scalars_set_in,
};
use strew_affine::{Access, BinaryOp, Expr, LocalId, Node, Operand, Place, Subscript};

/// So many operations on both sides together cost less than half of the jumps being foretold
/// wrongly.
const MOST_OPERATIONS: usize = 8;

/// What it takes to do what statements do without a jump.
#[derive(Default)]
pub(super) struct Cost<'k> {
    pub(super) operations: usize,
    /// What is loaded in any case.
    loaded: Vec<&'k Access>,
}

/// What a side does to the scalars.
type Values = Vec<(Variable, Value)>;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Lowers both sides of a condition without a jump, if they may be: whether it did.
    pub(super) fn choose(
        &mut self,
        condition: &'k Expr,
        sides: [&'k [Node]; 2],
    ) -> Result<bool, CompileError> {
        let Some(targets) = self.choice(condition, sides) else {
            return Ok(false);
        };
        let condition = self.expr(condition);
        self.count_updates_where(condition, sides[0]);
        if !sides[1].is_empty() {
            let fails = self.builder.ins().bxor_imm_u(condition, 1);
            self.count_updates_where(fails, sides[1]);
        }
        let before = self.values_of(&targets);
        self.scoped(|function| function.nodes(sides[0]))?;
        let then = self.values_of(&targets);
        for (variable, value) in before {
            self.builder.def_var(variable, value);
        }
        self.scoped(|function| function.nodes(sides[1]))?;
        let otherwise = self.values_of(&targets);
        for ((variable, then), (_, otherwise)) in then.into_iter().zip(otherwise) {
            let picked = choose_bits(&mut self.builder, condition, [then, otherwise]);
            self.builder.def_var(variable, picked);
        }
        self.pick_early(condition, &targets);
        Ok(true)
    }

    /// Lowers a condition that decides which of two floats a scalar is, or whether it is another,
    /// without a jump, if it may be: whether it did.
    pub(super) fn choose_float(&mut self, condition: &Expr, sides: [&'k [Node]; 2]) -> bool {
        let Some((local, then)) = assigned(sides[0]) else {
            return false;
        };
        let before = Expr::Local(local);
        let otherwise = match (sides[1], assigned(sides[1])) {
            ([], _) => &before,
            (_, Some((other, value))) if other == local => value,
            _ => return false,
        };
        let values = [then, otherwise];
        let is_chosen = !self.is_counted(sides) && self.is_one_of(local, condition, values);
        if is_chosen {
            let picked = self.picked(condition, values);
            self.set_local(local, picked);
        }
        is_chosen
    }

    /// Whether `local` is a float that can be one of two `values` without a jump. Where the
    /// condition or a value is made of what the scalar was, turns would wait for each other, where
    /// a jump that is foretold does not.
    fn is_one_of(&self, local: LocalId, condition: &Expr, values: [&Expr; 2]) -> bool {
        let is_itself = |it: &Expr| matches!(it, Expr::Local(it) if *it == local);
        let waits = |it: &Expr| !is_itself(it) && reads(it, local);
        let operations: usize = values.into_iter().map(operations_of).sum();
        self.program.kernel.locals[local].ty.is_float()
            && !self.is_uncertain(local)
            && !self.is_idle(local)
            && !looks_for_nan(condition)
            && !reads(condition, local)
            && operations <= MOST_OPERATIONS
            && values.iter().all(|it| !waits(it) && self.is_at_hand(it))
    }

    /// Whether nothing in `expr` can fail, and all that it loads lies where the loop comes by
    /// anyway: what is far from the caches is not even to be fetched where it is not taken.
    pub(super) fn is_at_hand(&self, expr: &Expr) -> bool {
        let mut is_near = true;
        for_each_load(expr, &mut |it| {
            is_near &= self.known_element(it).is_some() || self.goes_along(it);
        });
        is_near && !self.needs_branch(expr)
    }

    /// Whether `access` stays where it is in the innermost loop, or goes to the next element of a
    /// row with each turn.
    fn goes_along(&self, access: &Access) -> bool {
        let Some(innermost) = self.loops.last() else {
            return true;
        };
        let step = |subscript: &Subscript| match subscript {
            Subscript::Affine(expr) => expr.split_off(innermost.iter()).map(|(step, _)| step),
            Subscript::Computed(_) => None,
        };
        let mut inner_first = access.subscripts.iter().rev().map(step);
        let last = inner_first.next().flatten();
        last.is_some_and(|it| it.abs() <= 1) && inner_first.all(|it| it == Some(0))
    }

    /// Whether a statement on one of the `sides` is an update that the report counts: it does not
    /// happen wherever both sides are computed.
    fn is_counted(&self, sides: [&[Node]; 2]) -> bool {
        let mut nodes = sides.into_iter().flatten();
        nodes.any(|it| self.program.facts.counts(it))
    }

    fn values_of(&mut self, targets: &[Variable]) -> Values {
        let targets = targets.iter().copied();
        let value = |variable| (variable, self.builder.use_var(variable));
        targets.map(value).collect()
    }

    /// The scalars that `sides` of `condition` set, if that is all they do, it is cheap, and
    /// nothing in it can fail.
    pub(super) fn choice(
        &self,
        condition: &'k Expr,
        sides: [&'k [Node]; 2],
    ) -> Option<Vec<Variable>> {
        if self.is_counted(sides) && !self.is_plain() {
            return None;
        }
        let mut targets = Vec::new();
        let mut cost = Cost::default();
        let set: Vec<_> = sides.into_iter().flat_map(scalars_set_in).collect();
        for_each_sure_load(condition, &mut |it| {
            // With what the sides set, its subscripts are those of another element.
            let mut stays = true;
            for_each_local_in_subscripts(it, &mut |local| stays &= !set.contains(&local));
            cost.loaded.extend(stays.then_some(it));
        });
        for node in sides.into_iter().flatten() {
            if let Node::Declare { local, value } = node {
                self.is_cheap_let(*local, value, &mut cost).then_some(())?;
                continue;
            }
            let variable = self.cheap_target(node, &mut cost)?;
            if !targets.contains(&variable) {
                targets.push(variable);
            }
        }
        (cost.operations <= MOST_OPERATIONS).then_some(targets)
    }

    /// Whether `local` is declared with `value` for good, and that is cheap.
    pub(super) fn is_cheap_let(&self, local: LocalId, value: &Expr, cost: &mut Cost<'_>) -> bool {
        !self.program.kernel.locals[local].mutable && self.is_cheap(value, cost)
    }

    /// The scalar that the statement `node` sets, or the only element of a buffer that it updates,
    /// if it is of that kind; adds what it takes to `cost`.
    pub(super) fn cheap_target(&self, node: &Node, cost: &mut Cost<'_>) -> Option<Variable> {
        let (place, values) = match node {
            Node::Assign { place, value, .. } => (place, std::slice::from_ref(value)),
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => {
                let [place] = places.as_slice() else {
                    return None;
                };
                let bodies = combiner.bodies(&[self.type_of(place)])?;
                let is_cheap = |body: &Expr| self.is_cheap(body, cost);
                bodies.iter().all(is_cheap).then_some(())?;
                (place, values.as_slice())
            }
            _ => return None,
        };
        let is_cheap = |value: &Expr| self.is_cheap(value, cost);
        values.iter().all(is_cheap).then_some(())?;
        match place {
            Place::Local(local) => self.variable_of(*local),
            Place::Element(_) if matches!(node, Node::Reduce { .. }) => self.only_held(place),
            Place::Element(_) => None,
        }
    }

    /// What `local` is held in, if it is an integer that is sure to have a value, or a float of
    /// this turn of the loop: where one is handed on, turns would wait for each other.
    fn variable_of(&self, local: LocalId) -> Option<Variable> {
        let is_float = self.program.kernel.locals[local].ty.is_float();
        let is_meant = !is_float || self.is_of_turn(local);
        match self.locals.get(local)? {
            Binding::Mutable(variable) if is_meant && !self.is_uncertain(local) => Some(*variable),
            _ => None,
        }
    }

    /// Whether each turn of the innermost loop has a `local` of its own.
    fn is_of_turn(&self, local: LocalId) -> bool {
        let innermost = self.loops.last();
        innermost.is_some_and(|it| declared_in(it.body(), local).is_some())
    }

    fn is_uncertain(&self, local: LocalId) -> bool {
        self.program.uncertain.contains(&local)
    }

    /// Whether `expr` takes few instructions and cannot fail; adds how many to `cost`.
    pub(super) fn is_cheap(&self, expr: &Expr, cost: &mut Cost<'_>) -> bool {
        let here = match expr {
            Expr::Constant(_)
            | Expr::Iter(_)
            | Expr::Param(_)
            | Expr::Operand(Operand::Held(_) | Operand::Incoming(_)) => {
                return true;
            }
            Expr::Local(local) => return !self.is_uncertain(*local),
            Expr::Load(access) => return cost.loaded.iter().any(|it| it.is_same(access)),
            Expr::Cast(_, operand) if matches!(**operand, Expr::Constant(_)) => return true,
            Expr::Binary(BinaryOp::Div | BinaryOp::Rem, ..)
            | Expr::Call(..)
            | Expr::Threads
            | Expr::Operand(Operand::Host(_)) => false,
            Expr::Unary(..)
            | Expr::Binary(..)
            | Expr::Compare(..)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Select(..)
            | Expr::Cast(..) => true,
        };
        cost.operations += 1;
        let mut operands = expr.operands().into_iter();
        here && operands.all(|it| self.is_cheap(it, cost))
    }
}

/// The scalar that `side` sets, if that is all it does, and to what.
fn assigned(side: &[Node]) -> Option<(LocalId, &Expr)> {
    match side {
        [
            Node::Assign {
                place: Place::Local(local),
                value,
                ..
            },
        ] => Some((*local, value)),
        _ => None,
    }
}
