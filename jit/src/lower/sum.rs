//! What is added to something, in as few operations as it takes: to add a negated number is to
//! subtract it, and a product can be rounded once with its sum where the processor has an
//! instruction for that.
//!
//! A sum of n products is off by no more than before when they are not rounded by themselves; but
//! it is another number.

use cranelift_codegen::ir::{InstBuilder, Opcode, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::{BinaryOp, Expr, Operand};

/// `held` and `incoming` added, if that is what the `body` of a combiner does and there is a better
/// way than to negate, or, where that `may_contract`, to multiply.
pub(super) fn sum(
    builder: &mut FunctionBuilder<'_>,
    body: &Expr,
    [held, incoming]: [Value; 2],
    may_contract: bool,
) -> Option<Value> {
    if !adds(body) {
        return None;
    }
    let negated = match made_by(builder, incoming) {
        Some((opcode @ (Opcode::Fneg | Opcode::Ineg), &[negated])) => Some((opcode, negated)),
        _ => None,
    };
    let summand = negated.map_or(incoming, |(_, negated)| negated);
    if may_contract
        && is_from_memory(builder, held)
        && let Some([left, right]) = product(builder, summand)
    {
        let left = match negated {
            Some(_) => builder.ins().fneg(left),
            None => left,
        };
        return Some(builder.ins().fma(left, right, held));
    }
    negated.map(|(opcode, negated)| match opcode {
        Opcode::Fneg => builder.ins().fsub(held, negated),
        _ => builder.ins().isub(held, negated),
    })
}

/// Whether `body`, of a combiner, is the sum of its operands.
pub(super) fn adds(body: &Expr) -> bool {
    let Expr::Binary(BinaryOp::Add, left, right, _) = body else {
        return false;
    };
    **left == Expr::Operand(Operand::Held(0)) && **right == Expr::Operand(Operand::Incoming(0))
}

/// The operation that makes `value`, and what of.
fn made_by<'b>(builder: &'b FunctionBuilder<'_>, value: Value) -> Option<(Opcode, &'b [Value])> {
    let dfg = &builder.func.dfg;
    let made = dfg.value_def(value).inst()?;
    Some((dfg.insts[made].opcode(), dfg.inst_args(made)))
}

/// Whether `value` is an element, to which products may have been added since it was loaded. A sum
/// that stays in a register waits for the one before, and a product in the same step would make it
/// wait longer.
fn is_from_memory(builder: &FunctionBuilder<'_>, value: Value) -> bool {
    matches!(
        made_by(builder, value),
        Some((Opcode::Load | Opcode::Fma, _))
    )
}

/// The factors of `value`, a product of floats that was just made: one from outside of a loop is
/// not made again inside.
fn product(builder: &FunctionBuilder<'_>, value: Value) -> Option<[Value; 2]> {
    let made = builder.func.dfg.value_def(value).inst()?;
    let is_here = builder.func.layout.inst_block(made) == builder.current_block();
    match made_by(builder, value)? {
        (Opcode::Fmul, &[left, right]) if is_here => Some([left, right]),
        _ => None,
    }
}
