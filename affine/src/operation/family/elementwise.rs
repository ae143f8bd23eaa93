//! Operations that compute each element from the elements at the same index.

use crate::operation::call::{Call, Checked, Described, Read};
use crate::operation::relation::Relation;

/// The names, by the number of operands; `map` takes any.
const UNARY: [&str; 38] = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atanh",
    "cbrt",
    "ceil",
    "clz",
    "convert",
    "copy",
    "cos",
    "cosh",
    "count-leading-zeros",
    "erf",
    "exponential",
    "exponential-minus-one",
    "floor",
    "imag",
    "is-finite",
    "log",
    "log-plus-one",
    "logistic",
    "negate",
    "not",
    "popcnt",
    "real",
    "reduce-precision",
    "round-nearest-afz",
    "round-nearest-even",
    "rsqrt",
    "sign",
    "sine",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "cosine",
];
const BINARY: [&str; 18] = [
    "add",
    "and",
    "atan2",
    "compare",
    "complex",
    "divide",
    "maximum",
    "minimum",
    "multiply",
    "or",
    "power",
    "remainder",
    "shift-left",
    "shift-right-arithmetic",
    "shift-right-logical",
    "stochastic-convert",
    "subtract",
    "xor",
];
const TERNARY: [&str; 2] = ["clamp", "select"];

pub(super) fn names() -> impl Iterator<Item = &'static str> {
    let names = UNARY.iter().chain(&BINARY).chain(&TERNARY).chain(&["map"]);
    names.copied()
}

pub(super) fn is_elementwise(opcode: &str) -> bool {
    names().any(|it| it == opcode)
}

/// Every operand has the extents of the result, but for the bounds of `clamp` and the condition of
/// `select`, which can be single values.
pub(super) fn elementwise(call: &Call<'_, '_, '_>) -> Checked<Described> {
    let opcode = call.opcode;
    if UNARY.contains(&opcode) {
        call.takes(1..=1, "one operand")?;
    } else if BINARY.contains(&opcode) {
        call.takes(2..=2, "two operands")?;
    } else if TERNARY.contains(&opcode) {
        call.takes(3..=3, "three operands")?;
    } else {
        call.takes(1.., "at least one operand")?;
    }
    let shaped = usize::from(TERNARY.contains(&opcode));
    let extents = call.array(shaped)?.extents.clone();
    let mut reads = Vec::with_capacity(call.operands.len());
    for position in 0..call.operands.len() {
        let can_be_single = match opcode {
            "clamp" => position != 1,
            "select" => position == 0,
            _ => false,
        };
        let relation = if can_be_single && call.array(position)?.rank() == 0 {
            Relation::everything(&[], &extents)
        } else {
            call.expect_extents(position, &extents)?;
            Relation::identity(&extents)
        };
        reads.push(Read::new(position, relation));
    }
    // What is chosen from may not be looked at.
    if opcode == "select" {
        reads = reads
            .into_iter()
            .map(|read| {
                if read.operand > 0 {
                    read.perhaps()
                } else {
                    read
                }
            })
            .collect();
    }
    Ok(Described::array(call.result(extents, shaped)?, reads))
}
