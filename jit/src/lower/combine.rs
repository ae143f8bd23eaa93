//! Combiners: one update.

use super::call::Calls;
use super::convert::convert;
use super::operation;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{Expr, Operand, Type, Value as Constant};

/// The values of a combiner's `bodies` on operands of `types`, or on vectors of them, lane by lane.
pub(super) fn apply_all(
    builder: &mut FunctionBuilder<'_>,
    calls: &mut Calls<'_>,
    bodies: &[Expr],
    types: &[Type],
    held: &[Value],
    incoming: &[Value],
) -> Vec<Value> {
    let operands = Operands {
        types,
        held,
        incoming,
    };
    bodies
        .iter()
        .map(|body| apply(builder, calls, body, operands))
        .collect()
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
            Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Load(_) => Type::I64,
        }
    }
}

fn apply(
    builder: &mut FunctionBuilder<'_>,
    calls: &mut Calls<'_>,
    body: &Expr,
    operands: Operands<'_>,
) -> Value {
    let mut on =
        |builder: &mut FunctionBuilder<'_>, expr: &Expr| apply(builder, calls, expr, operands);
    match body {
        Expr::Operand(operand) => operands.value(builder, *operand),
        Expr::Unary(op, operand) => {
            let of = operands.type_of(operand);
            let operand = on(builder, operand);
            operation::unary(builder, *op, operand, of)
        }
        Expr::Binary(op, left, right, _) => {
            let of = operands.type_of(left);
            let (left, right) = (on(builder, left), on(builder, right));
            operation::binary(builder, *op, left, right, of)
        }
        Expr::Compare(op, left, right) => {
            let of = operands.type_of(left);
            let (left, right) = (on(builder, left), on(builder, right));
            operation::compare(builder, *op, left, right, of)
        }
        // Nothing in a combiner can fault, so both sides may be computed.
        Expr::And(left, right) => {
            let (left, right) = (on(builder, left), on(builder, right));
            builder.ins().band(left, right)
        }
        Expr::Or(left, right) => {
            let (left, right) = (on(builder, left), on(builder, right));
            builder.ins().bor(left, right)
        }
        Expr::Cast(to, operand) => {
            let from = operands.type_of(operand);
            let operand = on(builder, operand);
            convert(builder, operand, from, *to)
        }
        Expr::Call(function, values) => {
            let of = operands.type_of(body);
            let values: Vec<_> = values.iter().map(|it| on(builder, it)).collect();
            calls.emit(builder, *function, &values, of)
        }
        Expr::Select(condition, then, otherwise) => {
            let condition = on(builder, condition);
            let (then, otherwise) = (on(builder, then), on(builder, otherwise));
            operation::choose(builder, condition, then, otherwise)
        }
        Expr::Constant(value) => operands.constant(builder, *value),
        // A verified combiner is made of operands and constants.
        Expr::Iter(_) | Expr::Param(_) | Expr::Local(_) | Expr::Load(_) => {
            operands.value(builder, Operand::Held(0))
        }
    }
}
