//! Combiners: one update.

use super::blend::Blend;
use super::call::Calls;
use super::convert::convert;
use super::division::{divided, divides};
use super::function::FunctionLowering;
use super::operation;
use super::sum::sum;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{BinaryOp, Combiner, Expr, Operand, Type, Value as Constant};

/// What combining comes to.
pub(super) struct Combined {
    /// The values of the bodies.
    pub(super) values: Vec<Value>,
    /// For each call of a function of the host, whether it panicked; the value that it gave is what
    /// was held then.
    pub(super) panicked: Vec<Value>,
}

/// The values of a combiner's `bodies` on operands of `types`, or on vectors of them, lane by lane.
pub(super) fn apply_all(
    builder: &mut FunctionBuilder<'_>,
    calls: &mut Calls<'_>,
    bodies: &[Expr],
    types: &[Type],
    held: &[Value],
    incoming: &[Value],
) -> Combined {
    let operands = Operands {
        types,
        held,
        incoming,
    };
    let mut application = Application {
        builder,
        calls,
        operands,
        called: Vec::new(),
        panicked: Vec::new(),
    };
    let values = bodies.iter().map(|body| application.apply(body)).collect();
    Combined {
        values,
        panicked: application.panicked,
    }
}

/// What `combiner` makes of one value, or vector, of type `ty` and another.
pub(super) fn combined(
    builder: &mut FunctionBuilder<'_>,
    calls: &mut Calls<'_>,
    (combiner, ty): (&Combiner, Type),
    [held, incoming]: [Value; 2],
) -> Value {
    let bodies = combiner.bodies(&[ty]).unwrap_or_default();
    let combined = apply_all(builder, calls, &bodies, &[ty], &[held], &[incoming]);
    combined.values.first().copied().unwrap_or(held)
}

impl FunctionLowering<'_, '_, '_> {
    /// One vector or value combined with another.
    pub(super) fn combined_values(
        &mut self,
        (combiner, ty): (&Combiner, Type),
        held: Value,
        incoming: Value,
    ) -> Value {
        let mut calls = self.program.calls();
        combined(
            &mut self.builder,
            &mut calls,
            (combiner, ty),
            [held, incoming],
        )
    }
}

#[derive(Clone, Copy)]
struct Operands<'o> {
    types: &'o [Type],
    held: &'o [Value],
    incoming: &'o [Value],
}

impl Operands<'_> {
    /// A verified combiner names no other parts than there are.
    fn value(&self, builder: &mut FunctionBuilder<'_>, operand: Operand) -> Value {
        let value = match operand {
            Operand::Held(part) => self.held.get(part),
            Operand::Incoming(part) => self.incoming.get(part),
            // Called, not looked up.
            Operand::Host(_) => None,
        };
        value
            .copied()
            .unwrap_or_else(|| builder.ins().iconst(types::I64, 0))
    }

    /// `constant` in every lane of the operands.
    fn constant(&self, builder: &mut FunctionBuilder<'_>, constant: Constant) -> Value {
        let held = self.value(builder, Operand::Held(0));
        let lanes = builder.func.dfg.value_type(held);
        let value = operation::constant(builder, constant);
        operation::splat(builder, lanes, value)
    }

    /// The type of a part of a combiner's body.
    fn type_of(&self, part: &Expr) -> Type {
        match part {
            Expr::Constant(value) => value.ty(),
            Expr::Cast(to, _) => *to,
            Expr::Compare(..) | Expr::And(..) | Expr::Or(..) => Type::Bool,
            Expr::Unary(_, operand) | Expr::Binary(_, operand, ..) => self.type_of(operand),
            Expr::Select(_, then, _) => self.type_of(then),
            Expr::Call(_, operands) => operands.first().map_or(Type::F64, |it| self.type_of(it)),
            Expr::Operand(Operand::Held(part) | Operand::Incoming(part)) => {
                self.types.get(*part).copied().unwrap_or(Type::I64)
            }
            Expr::Operand(Operand::Host(_)) => self.types.first().copied().unwrap_or(Type::I64),
            Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Threads | Expr::Load(_) => {
                Type::I64
            }
        }
    }
}

struct Application<'a, 'b, 'c, 'o> {
    builder: &'a mut FunctionBuilder<'b>,
    calls: &'a mut Calls<'c>,
    operands: Operands<'o>,
    /// The calls that were made, with their values: a body has an expression as often as it is
    /// used.
    called: Vec<(&'o Expr, Value)>,
    panicked: Vec<Value>,
}

impl<'o> Application<'_, '_, '_, 'o> {
    fn apply(&mut self, body: &'o Expr) -> Value {
        let operands = self.operands;
        if let ([held], [incoming]) = (operands.held, operands.incoming)
            && let Some(sum) = sum(self.builder, body, [*held, *incoming], self.calls.contracts)
        {
            return sum;
        }
        match body {
            Expr::Operand(Operand::Host(address)) => {
                let both = [Operand::Held(0), Operand::Incoming(0)];
                let both = both.map(|it| operands.value(self.builder, it));
                let of = operands.type_of(body);
                let (value, panicked) = self.calls.combine(self.builder, *address, both, of);
                self.panicked.push(panicked);
                value
            }
            Expr::Operand(operand) => operands.value(self.builder, *operand),
            Expr::Unary(op, operand) => {
                let of = operands.type_of(operand);
                let operand = self.apply(operand);
                operation::unary(self.builder, *op, operand, of)
            }
            Expr::Binary(op, left, right, _) => self.binary(*op, left, right),
            Expr::Compare(op, left, right) => {
                let of = operands.type_of(left);
                let (left, right) = (self.apply(left), self.apply(right));
                operation::compare(self.builder, *op, left, right, of)
            }
            // Nothing in a combiner can fault, so both sides may be computed.
            Expr::And(left, right) => {
                let (left, right) = (self.apply(left), self.apply(right));
                self.builder.ins().band(left, right)
            }
            Expr::Or(left, right) => {
                let (left, right) = (self.apply(left), self.apply(right));
                self.builder.ins().bor(left, right)
            }
            Expr::Cast(to, operand) => {
                let from = operands.type_of(operand);
                let operand = self.apply(operand);
                convert(self.builder, operand, from, *to)
            }
            Expr::Call(function, values) => {
                if let Some((_, known)) = self.called.iter().find(|(it, _)| *it == body) {
                    return *known;
                }
                let of = operands.type_of(body);
                let values: Vec<_> = values.iter().map(|it| self.apply(it)).collect();
                let value = self.calls.emit(self.builder, *function, &values, of);
                self.called.push((body, value));
                value
            }
            Expr::Select(condition, then, otherwise) => self.select(condition, [then, otherwise]),
            Expr::Constant(value) => operands.constant(self.builder, *value),
            // A verified combiner is made of operands and constants.
            Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Threads | Expr::Load(_) => {
                operands.value(self.builder, Operand::Held(0))
            }
        }
    }

    /// A verified combiner divides integers by constants alone.
    fn binary(&mut self, op: BinaryOp, left: &'o Expr, right: &'o Expr) -> Value {
        let of = self.operands.type_of(left);
        let values = [self.apply(left), self.apply(right)];
        if divides(op, of) {
            return divided(self.builder, op, values, of, right.as_divisor());
        }
        let [left, right] = values;
        operation::binary(self.builder, op, left, right, of)
    }

    fn select(&mut self, condition: &'o Expr, [then, otherwise]: [&'o Expr; 2]) -> Value {
        let operands = self.operands;
        let held = operands.value(self.builder, Operand::Held(0));
        let is_vector = self.builder.func.dfg.value_type(held).is_vector();
        let blend = Blend::of(condition, [then, otherwise], |it| operands.type_of(it));
        if let Some(blend) = blend.filter(|_| !is_vector) {
            let values = blend.operands.map(|it| self.apply(it));
            return blend.of_values(self.builder, values);
        }
        let condition = self.apply(condition);
        let (then, otherwise) = (self.apply(then), self.apply(otherwise));
        operation::choose(self.builder, condition, then, otherwise)
    }
}
