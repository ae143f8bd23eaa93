//! Division of integers by what is not 0.

use super::convert::convert;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value};
use cranelift_frontend::FunctionBuilder;
use strew_affine::visit::walk;
use strew_affine::{Access, BinaryOp, Expr, Node, Subscript, Type};

/// Whether `op` divides integers.
pub(super) fn divides(op: BinaryOp, ty: Type) -> bool {
    ty.is_integer() && matches!(op, BinaryOp::Div | BinaryOp::Rem)
}

/// `left op right`, towards zero, of integers of type `ty`, where `right` is not 0, and `divisor`
/// if that is known. `MIN / -1` is `MIN` with remainder 0, which the processor's own instruction
/// would trap on.
pub(super) fn divided(
    builder: &mut FunctionBuilder<'_>,
    op: BinaryOp,
    operands: [Value; 2],
    ty: Type,
    divisor: Option<i128>,
) -> Value {
    // Narrow division is done in 32 bits, where its operands and its result fit, `128` of
    // `-128 / -1` too.
    let wide = if ty.bytes() < 4 { Type::I32 } else { ty };
    let [left, right] = operands.map(|it| convert(builder, it, ty, wide));
    let is_plain = divisor.is_some_and(|it| it != -1);
    let divided = match (op, ty.is_signed()) {
        (BinaryOp::Div, false) => builder.ins().udiv(left, right),
        (_, false) => builder.ins().urem(left, right),
        (BinaryOp::Div, true) if is_plain => builder.ins().sdiv(left, right),
        (_, true) if is_plain => builder.ins().srem(left, right),
        _ => guarded(builder, op, left, right),
    };
    convert(builder, divided, wide, ty)
}

/// The remainder of `operands`, whose quotient is known: a product takes a few cycles, where
/// another division takes twenty and more.
pub(super) fn remainder(
    builder: &mut FunctionBuilder<'_>,
    [left, right]: [Value; 2],
    quotient: Value,
) -> Value {
    let product = builder.ins().imul(quotient, right);
    builder.ins().isub(left, product)
}

/// Calls `visit` for each division in `nodes`, those in subscripts included, with what it divides,
/// and by what.
pub(super) fn for_each_division<'k>(
    nodes: &'k [Node],
    visit: &mut impl FnMut(BinaryOp, [&'k Expr; 2]),
) {
    walk(nodes, &mut |node, _| {
        for expr in node.expressions() {
            divisions_in(expr, visit);
        }
        for access in node.written_elements() {
            divisions_in_subscripts(access, visit);
        }
    });
}

fn divisions_in<'k>(expr: &'k Expr, visit: &mut impl FnMut(BinaryOp, [&'k Expr; 2])) {
    match expr {
        Expr::Binary(op @ (BinaryOp::Div | BinaryOp::Rem), left, right, _) => {
            visit(*op, [left, right]);
        }
        Expr::Load(access) => divisions_in_subscripts(access, visit),
        _ => {}
    }
    for operand in expr.operands() {
        divisions_in(operand, visit);
    }
}

fn divisions_in_subscripts<'k>(
    access: &'k Access,
    visit: &mut impl FnMut(BinaryOp, [&'k Expr; 2]),
) {
    for subscript in &access.subscripts {
        if let Subscript::Computed(expr) = subscript {
            divisions_in(expr, visit);
        }
    }
}

fn guarded(builder: &mut FunctionBuilder<'_>, op: BinaryOp, left: Value, right: Value) -> Value {
    let ty = builder.func.dfg.value_type(left);
    let one = builder.ins().iconst(ty, 1);
    let minus_one = builder.ins().icmp_imm_s(IntCC::Equal, right, -1);
    let divisor = builder.ins().select(minus_one, one, right);
    match op {
        BinaryOp::Div => {
            let quotient = builder.ins().sdiv(left, divisor);
            let negated = builder.ins().ineg(left);
            builder.ins().select(minus_one, negated, quotient)
        }
        // The remainder by 1 is 0, as that by -1 is.
        _ => builder.ins().srem(left, divisor),
    }
}
