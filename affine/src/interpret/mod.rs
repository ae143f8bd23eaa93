//! The reference: what a kernel means, run statement by statement.
//!
//! Every later stage is held against it: a transform may not change what it computes, generated code computes the same bits and
//! stops at the same fault.

mod expression;
mod forall;
mod memory;
mod stop;

pub use stop::{Argument, BadArguments, Fault, FaultKind, ForallOrder, Stop};

use crate::verify::Verified;
use crate::{
    AffineExpr, AffineFor, Bound, Combiner, Condition, Expr, IterId, Kernel, LocalId, Node,
    Overflow, Parameter, Place, Relation, ScalarId, ScfFor, Value, Variable,
};
use la_arena::ArenaMap;
use memory::Memory;

/// Runs `kernel` on `arguments`. Each statement, each turn of a loop and each element of a private buffer costs one unit of
/// `fuel`.
///
/// # Errors
/// Bad arguments, a fault (the first in serial order, whatever `order` is), an affine expression that leaves 64 bits, or no fuel
/// left. The arguments are then unchanged.
pub fn interpret(
    kernel: &Verified,
    arguments: &mut [Argument],
    fuel: u64,
    order: ForallOrder,
) -> Result<(), Stop> {
    let mut machine = Machine::new(kernel, arguments, fuel, order)?;
    machine.block(&kernel.body)?;
    for (param, argument) in kernel.params.iter().zip(arguments) {
        if let (Parameter::Array(array), Argument::Array(cells)) = (param, argument) {
            cells.clone_from_slice(machine.memory.cells(*array));
        }
    }
    Ok(())
}

struct Machine<'k> {
    kernel: &'k Kernel,
    scalars: ArenaMap<ScalarId, Value>,
    memory: Memory,
    iters: ArenaMap<IterId, i64>,
    locals: ArenaMap<LocalId, Value>,
    /// The iterators of the loops that are running, outermost first.
    running: Vec<IterId>,
    fuel: u64,
    order: ForallOrder,
}

impl<'k> Machine<'k> {
    fn burn(&mut self, units: u64) -> Result<(), Stop> {
        self.fuel = self.fuel.checked_sub(units).ok_or(Stop::OutOfFuel)?;
        Ok(())
    }

    fn block(&mut self, nodes: &'k [Node]) -> Result<(), Stop> {
        nodes.iter().try_for_each(|node| self.node(node))
    }

    fn node(&mut self, node: &'k Node) -> Result<(), Stop> {
        self.burn(1)?;
        match node {
            Node::AffineFor(affine) => self.affine_for(affine),
            Node::ScfFor(scf) => self.scf_for(scf),
            Node::Forall(forall) => self.forall(forall),
            Node::AffineIf {
                conditions,
                then,
                otherwise,
            } => {
                let holds = self.conditions(conditions)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::ScfIf {
                condition,
                then,
                otherwise,
            } => {
                let holds = self.holds(condition)?;
                self.block(if holds { then } else { otherwise })
            }
            Node::ScfWhile { condition, body } => {
                while self.holds(condition)? {
                    self.burn(1)?;
                    self.block(body)?;
                }
                Ok(())
            }
            Node::Declare { local, value } => {
                let value = self.expr(value)?;
                self.locals.insert(*local, value);
                Ok(())
            }
            Node::Assign { place, value, .. } => {
                let value = self.expr(value)?;
                self.update(place, |_| value)
            }
            Node::Reduce {
                place,
                combiner,
                value,
                ..
            } => {
                let incoming = self.expr(value)?;
                self.reduce(place, combiner, incoming)
            }
        }
    }

    fn affine_for(&mut self, affine: &'k AffineFor) -> Result<(), Stop> {
        let lower = self.bound(&affine.lower)?.into_iter().max().unwrap_or(0);
        let upper = self.bound(&affine.upper)?.into_iter().min().unwrap_or(0);
        self.counted(affine.iter, lower..upper, affine.step, &affine.body)
    }

    fn bound(&self, bound: &Bound) -> Result<Vec<i64>, Overflow> {
        bound.0.iter().map(|expr| self.affine(expr)).collect()
    }

    fn scf_for(&mut self, scf: &'k ScfFor) -> Result<(), Stop> {
        let lower = self.index(&scf.lower)?;
        let upper = self.index(&scf.upper)?;
        self.counted(scf.iter, lower..upper, scf.step, &scf.body)
    }

    /// Bounds are `i64`, so their mathematical value fits.
    fn index(&mut self, expr: &'k Expr) -> Result<i64, Stop> {
        let value = self.expr(expr)?.as_integer();
        let value = value.and_then(|value| i64::try_from(value).ok());
        Ok(value.unwrap_or(0))
    }

    fn counted(
        &mut self,
        iter: IterId,
        range: std::ops::Range<i64>,
        step: i64,
        body: &'k [Node],
    ) -> Result<(), Stop> {
        let mut at = Some(range.start);
        // A value beyond `i64` is beyond every upper bound.
        while let Some(value) = at.filter(|value| *value < range.end) {
            self.iteration(iter, value, body)?;
            at = value.checked_add(step);
        }
        Ok(())
    }

    fn iteration(&mut self, iter: IterId, value: i64, body: &'k [Node]) -> Result<(), Stop> {
        self.burn(1)?;
        self.iters.insert(iter, value);
        let depth = self.running.len();
        self.running.push(iter);
        let result = self.block(body);
        self.running.truncate(depth);
        result
    }

    fn conditions(&self, conditions: &[Condition]) -> Result<bool, Overflow> {
        for condition in conditions {
            let left = self.affine(&condition.left)?;
            let right = self.affine(&condition.right)?;
            let holds = match condition.relation {
                Relation::LessOrEqual => left <= right,
                Relation::Less => left < right,
                Relation::Equal => left == right,
            };
            if !holds {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn affine(&self, expr: &AffineExpr) -> Result<i64, Overflow> {
        let mut fits = true;
        expr.for_each_variable(&mut |variable| fits &= self.variable(variable).is_some());
        if !fits {
            return Err(Overflow);
        }
        expr.evaluate(&|variable| self.variable(variable).unwrap_or(0))
    }

    /// The variable's mathematical value, if it fits: that of a `u64` need not.
    fn variable(&self, variable: Variable) -> Option<i64> {
        match variable {
            Variable::Iter(iter) => self.iters.get(iter).copied(),
            Variable::Param(param) => {
                let value = self.scalars.get(param)?.as_integer()?;
                i64::try_from(value).ok()
            }
        }
    }

    fn update(
        &mut self,
        place: &'k Place,
        change: impl FnOnce(Value) -> Value,
    ) -> Result<(), Stop> {
        match place {
            Place::Local(local) => {
                if let Some(held) = self.locals.get_mut(*local) {
                    *held = change(*held);
                }
            }
            Place::Element(access) => {
                let position = self.position(access)?;
                if let Some(held) = self.memory.cell_mut(access.array, position) {
                    *held = change(*held);
                }
            }
        }
        Ok(())
    }

    fn reduce(
        &mut self,
        place: &'k Place,
        combiner: &Combiner,
        incoming: Value,
    ) -> Result<(), Stop> {
        let body = combiner.body(incoming.ty());
        self.update(place, |held| expression::combine(&body, held, incoming))
    }
}
