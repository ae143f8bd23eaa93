//! Where an integer comes from: followed through instructions that only move it.

use super::indexing::{Traced, Value};
use crate::indexing::{IndexExpr, IndexingError, VariableKind};
use crate::operation::module::{Action, Instruction, Module};

type Checked<T> = Result<T, IndexingError>;

/// Places are not followed further, nor when they become larger than this: each step can multiply
/// their size.
const STEPS: usize = 64;
const NODES: usize = 4096;

/// Operations that give the integers of their operand, each at another index.
const MOVES: [&str; 11] = [
    "bitcast",
    "broadcast",
    "convert",
    "copy",
    "get-tuple-element",
    "optimization-barrier",
    "reshape",
    "reverse",
    "slice",
    "transpose",
    "tuple",
];

/// The value at a place, or the first place that it comes from.
pub(super) fn trace(module: &Module, value: &Value, places: &[IndexExpr]) -> Checked<Traced> {
    let (mut value, mut places) = (value.clone(), places.to_vec());
    for _ in 0..STEPS {
        let Some(instruction) = module.instruction(value.computation, value.instruction) else {
            break;
        };
        match &instruction.action {
            Action::Constant(Some(known)) => return Ok(Traced::Known((*known).into())),
            Action::Iota(dimension) => {
                let index = places.get(*dimension).cloned();
                return Ok(index.map_or(Traced::At(value, places), Traced::Known));
            }
            Action::Reads(_) => match moved(module, instruction, &value, &places)? {
                Some((from, at)) => (value, places) = (from, at),
                None => break,
            },
            Action::Parameter(_) | Action::Constant(None) | Action::Call(_) | Action::Unknown => {
                break;
            }
        }
    }
    Ok(Traced::At(value, places))
}

/// The place in an operand whose value an instruction moves there.
fn moved(
    module: &Module,
    instruction: &Instruction,
    value: &Value,
    places: &[IndexExpr],
) -> Checked<Option<(Value, Vec<IndexExpr>)>> {
    if !MOVES.contains(&instruction.opcode()) || !keeps_integers(module, instruction, value) {
        return Ok(None);
    }
    let Action::Reads(reads) = &instruction.action else {
        return Ok(None);
    };
    let Some(read) = reads.iter().find(|it| it.output == value.part) else {
        return Ok(None);
    };
    let Some(operand) = instruction.operands().get(read.operand) else {
        return Ok(None);
    };
    let solved = read.relation.output_to_input()?.map;
    let mut moved = Vec::with_capacity(solved.results().len());
    let mut nodes = 0_usize;
    for result in solved.results() {
        let place = result.substitute(&|variable| {
            match variable.kind {
                VariableKind::Dimension => places.get(variable.position).cloned(),
                VariableKind::Range | VariableKind::Runtime => None,
            }
            .unwrap_or_else(|| variable.into())
        })?;
        nodes = nodes.saturating_add(place.size().nodes);
        moved.push(place);
    }
    if nodes > NODES {
        return Ok(None);
    }
    let from = Value {
        instruction: *operand,
        part: read.part,
        ..value.clone()
    };
    Ok(Some((from, moved)))
}

/// Whether the result is of integers that hold all those of the operand.
fn keeps_integers(module: &Module, instruction: &Instruction, value: &Value) -> bool {
    if instruction.opcode() != "convert" {
        return true;
    }
    let operand = instruction.operands().first();
    let operand = operand.and_then(|it| module.instruction(value.computation, *it));
    let Some(operand) = operand else {
        return false;
    };
    match (
        operand.shape().leaves().as_slice(),
        instruction.shape().leaves().as_slice(),
    ) {
        ([from], [to]) => {
            let (from, to) = (from.element, to.element);
            let is_signed = |name: &str| name.starts_with('s');
            let fits = match (is_signed(from.name()), is_signed(to.name())) {
                (true, true) | (false, false) => from.bits() <= to.bits(),
                (false, true) => from.bits() < to.bits(),
                (true, false) => false,
            };
            from.is_integer() && to.is_integer() && fits
        }
        _ => false,
    }
}
