use super::{Fault, FaultKind, Machine, Stop, Touched};
use crate::evaluate::{self, DivisionByZero};
use crate::{Access, CombineError, Counter, Expr, Span, Subscript, Value};
use smallvec::SmallVec;

/// The subscripts of an element.
pub(super) type Subscripts = SmallVec<[i64; 4]>;

impl<'k> Machine<'k> {
    pub(super) fn holds(&mut self, condition: &'k Expr) -> Result<bool, Stop> {
        Ok(self.expr(condition)?.bits() != 0)
    }

    pub(super) fn expr(&mut self, expr: &'k Expr) -> Result<Value, Stop> {
        match expr {
            Expr::Constant(value) => Ok(*value),
            Expr::Iter(iter) => Ok(Value::i64(self.iters.get(*iter).copied().unwrap_or(0))),
            Expr::Param(param) => Ok(known(self.scalars.get(*param))),
            Expr::Local(local) => {
                self.skips.has_value(*local)?;
                self.read(Touched::Local(*local), &[], Span::default());
                Ok(known(self.locals.get(*local)))
            }
            // Only combiners' bodies have operands, and those go through `Combiner::combine`.
            Expr::Operand(_) => Ok(known(None)),
            Expr::Threads => Ok(Value::i64(self.skips.threads())),
            Expr::Load(access) => {
                let (cell, position) = self.position(access)?;
                self.read(Touched::Array(access.array), &cell, access.span);
                Ok(known(self.memory.cells(access.array).get(position)))
            }
            Expr::Unary(op, operand) => Ok(evaluate::unary(*op, self.expr(operand)?)),
            Expr::Binary(op, left, right, span) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                let by_zero = |DivisionByZero| self.fault(FaultKind::DivisionByZero, *span);
                evaluate::binary(*op, left, right).map_err(by_zero)
            }
            Expr::Compare(op, left, right) => {
                let (left, right) = (self.expr(left)?, self.expr(right)?);
                Ok(Value::bool(evaluate::compare(*op, left, right)))
            }
            Expr::And(left, right) => Ok(Value::bool(self.holds(left)? && self.holds(right)?)),
            Expr::Or(left, right) => Ok(Value::bool(self.holds(left)? || self.holds(right)?)),
            Expr::Select(condition, then, otherwise) => {
                let holds = self.holds(condition)?;
                self.expr(if holds { then } else { otherwise })
            }
            Expr::Cast(ty, operand) => Ok(evaluate::convert(*ty, self.expr(operand)?)),
            Expr::Call(function, operands) => {
                let operands: Result<Vec<_>, _> = operands.iter().map(|it| self.expr(it)).collect();
                Ok(evaluate::call(self.math, *function, &operands?)?)
            }
        }
    }

    /// Where an access lands: its subscripts, and its place among the array's cells. All subscripts
    /// are evaluated, then each is checked, outermost first.
    pub(super) fn position(&mut self, access: &'k Access) -> Result<(Subscripts, usize), Stop> {
        let mut indices: SmallVec<[i128; 4]> = SmallVec::new();
        for subscript in &access.subscripts {
            indices.push(self.subscript(subscript)?);
        }
        let mut cell = Subscripts::new();
        let mut position = 0_i128;
        for (index, extent) in indices.into_iter().zip(self.memory.extents(access.array)) {
            if !(0..i128::from(*extent)).contains(&index) {
                let kind = FaultKind::OutOfRange {
                    array: self.kernel.arrays[access.array].name.clone(),
                    index,
                    extent: *extent,
                };
                return Err(self.fault(kind, access.span));
            }
            // In range, so it fits.
            cell.push(index as i64);
            // Below the number of elements, which fits.
            position = position * i128::from(*extent) + index;
        }
        let position = usize::try_from(position).map_err(|_| Stop::Overflow)?;
        Ok((cell, position))
    }

    fn subscript(&mut self, subscript: &'k Subscript) -> Result<i128, Stop> {
        match subscript {
            Subscript::Affine(expr) => Ok(i128::from(self.affine(expr)?)),
            Subscript::Computed(expr) => Ok(self.expr(expr)?.as_integer().unwrap_or(-1)),
        }
    }

    pub(super) fn not_combined(&self, error: CombineError, span: Span) -> Stop {
        match error {
            CombineError::NotComputed(function) => Stop::NotComputed(function),
            CombineError::Panicked(panicked) => self.fault(panicked.into(), span),
            CombineError::NoHost(name) => Stop::NoHost(name),
        }
    }

    pub(super) fn fault(&self, kind: FaultKind, span: Span) -> Stop {
        let running = self.running.iter().map(|(iter, _)| *iter);
        let counters = Counter::around(running, &self.whiles).into_iter();
        let named = counters.map(|it| (it.name(self.kernel).to_owned(), self.counter(it)));
        Stop::Fault(Fault {
            kind,
            span,
            iteration: named.collect(),
        })
    }

    fn counter(&self, counter: Counter) -> i64 {
        match counter {
            Counter::Iter(iter) => self.iters.get(iter).copied().unwrap_or(0),
            Counter::Local(local) => known(self.locals.get(local)).as_integer().unwrap_or(0) as i64,
        }
    }
}

/// A verified kernel names nothing that has no value.
fn known(value: Option<&Value>) -> Value {
    value.copied().unwrap_or(Value::i64(0))
}
