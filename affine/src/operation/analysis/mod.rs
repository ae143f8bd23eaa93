//! The indexing maps of instructions and computations, from outputs to inputs and back.

mod indexing;
mod reach;
mod tile;
mod trace;
mod usage;

pub use indexing::{Indexing, RuntimeSource, Value};
pub use tile::{Tile, tile};
pub use usage::{Coalescing, coalescing, utilization};

use super::error::ModuleError;
use super::module::{Instruction, Module};
use super::shape::{ArrayShape, Shape};
use reach::{Direction, Edge, Reaches};

/// A map from or to one of the arrays of an operand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartMap {
    /// Which of the operand's arrays: 0 unless it is a tuple.
    pub part: usize,
    /// The map.
    pub indexing: Indexing,
}

/// The maps between an operand and an output: none where no element depends on another, several
/// where elements are read in several ways; `None` where it is not known how elements depend on
/// each other.
pub type KnownMaps = Option<Vec<PartMap>>;

/// An operand, or a parameter of a computation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The name of the instruction that it is.
    pub name: String,
    /// What it is.
    pub shape: Shape,
}

/// Which elements of its inputs the elements of an instruction, or of the root of a computation,
/// are computed from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ElementMaps {
    /// The name of the instruction.
    pub name: String,
    /// Its operation.
    pub opcode: String,
    /// What it computes.
    pub shape: Shape,
    /// What it is computed from.
    pub inputs: Vec<Input>,
    /// For each of its arrays, the maps to each input.
    pub output_to_input: Vec<Vec<KnownMaps>>,
    /// For each input, the maps to each of its arrays.
    pub input_to_output: Vec<Vec<KnownMaps>>,
}

impl ElementMaps {
    /// The arrays that it computes.
    pub fn outputs(&self) -> Vec<&ArrayShape> {
        self.shape.leaves()
    }
}

/// The maps of the instructions of a module. What several instructions need is found once.
pub struct Analysis<'m> {
    reaches: Reaches<'m>,
}

impl<'m> Analysis<'m> {
    /// An analysis of `module` that has found nothing yet.
    pub fn new(module: &'m Module) -> Self {
        Self {
            reaches: Reaches::new(module),
        }
    }

    /// What is meant by a module: the maps of the entry's root, of the operands that it has; or,
    /// when the entry is a computation that is not marked `ENTRY`, as a fusion's is, those of its
    /// root through all its instructions to its parameters.
    ///
    /// # Errors
    /// The maps cannot be written in 64 bits, or there are too many.
    pub fn root(&mut self) -> Result<ElementMaps, ModuleError> {
        let module = self.reaches.module;
        let entry = module.entry();
        let Some(computation) = module.computations().get(entry) else {
            return self.of_computation(entry);
        };
        if computation.name().is_some() && !computation.is_entry() {
            self.of_computation(entry)
        } else {
            self.of_instruction(entry, computation.root())
        }
    }

    /// The maps between an instruction and its operands. Those of a fusion go through its
    /// computation.
    ///
    /// # Errors
    /// The maps cannot be written in 64 bits, or there are too many.
    pub fn of_instruction(
        &mut self,
        computation: usize,
        position: usize,
    ) -> Result<ElementMaps, ModuleError> {
        let module = self.reaches.module;
        let Some(instruction) = module.instruction(computation, position) else {
            return Ok(ElementMaps::nothing());
        };
        let at = (computation, position);
        let mut edges_to = |direction| self.reaches.edges(at, instruction, direction);
        let backward = edges_to(Direction::OutputToInput)?;
        let forward = edges_to(Direction::InputToOutput)?;
        let operands = instruction.operands.iter();
        let inputs = operands.filter_map(|it| module.instruction(computation, *it));
        let inputs = inputs.map(Input::of).collect();
        Ok(ElementMaps::collect(instruction, inputs, backward, forward))
    }

    /// The maps between the root of a computation and its parameters.
    ///
    /// # Errors
    /// The maps cannot be written in 64 bits, or there are too many.
    pub fn of_computation(&mut self, computation: usize) -> Result<ElementMaps, ModuleError> {
        let module = self.reaches.module;
        let body = module.computations().get(computation);
        let root = body.and_then(|it| it.instructions().get(it.root()));
        let (Some(body), Some(root)) = (body, root) else {
            return Ok(ElementMaps::nothing());
        };
        let mut edges_to = |direction| {
            let reach = self.reaches.of_computation(computation, direction)?;
            let edges = reach.iter().enumerate().flat_map(|(output, reached)| {
                reached.iter().map(move |((operand, part), maps)| Edge {
                    output,
                    operand: *operand,
                    part: *part,
                    maps: maps.clone(),
                    is_identity: false,
                })
            });
            let mut edges: Vec<_> = edges.collect();
            edges.sort_by_key(|it| (it.output, it.operand, it.part));
            Ok(edges)
        };
        let backward = edges_to(Direction::OutputToInput)?;
        let forward = edges_to(Direction::InputToOutput)?;
        let parameters = body.parameters().iter();
        let inputs = parameters.filter_map(|it| body.instructions().get(*it));
        let inputs = inputs.map(Input::of).collect();
        Ok(ElementMaps::collect(root, inputs, backward, forward))
    }
}

impl Input {
    fn of(instruction: &Instruction) -> Self {
        Self {
            name: instruction.name.clone(),
            shape: instruction.shape.clone(),
        }
    }
}

impl ElementMaps {
    fn nothing() -> Self {
        Self {
            name: String::new(),
            opcode: String::new(),
            shape: Shape::Tuple(Vec::new()),
            inputs: Vec::new(),
            output_to_input: Vec::new(),
            input_to_output: Vec::new(),
        }
    }

    fn collect(
        instruction: &Instruction,
        inputs: Vec<Input>,
        backward: Vec<Edge>,
        forward: Vec<Edge>,
    ) -> Self {
        let outputs = instruction.shape.leaves().len();
        let mut output_to_input = vec![vec![Some(Vec::new()); inputs.len()]; outputs];
        let mut input_to_output = vec![vec![Some(Vec::new()); outputs]; inputs.len()];
        for edge in backward {
            join(&mut output_to_input, edge.output, edge.operand, &edge);
        }
        for edge in forward {
            join(&mut input_to_output, edge.operand, edge.output, &edge);
        }
        Self {
            name: instruction.name.clone(),
            opcode: instruction.opcode.clone(),
            shape: instruction.shape.clone(),
            inputs,
            output_to_input,
            input_to_output,
        }
    }
}

fn join(maps: &mut [Vec<KnownMaps>], from: usize, to: usize, edge: &Edge) {
    let Some(slot) = maps.get_mut(from).and_then(|it| it.get_mut(to)) else {
        return;
    };
    match (slot.as_mut(), &edge.maps) {
        (Some(known), Some(maps)) => known.extend(maps.iter().map(|it| PartMap {
            part: edge.part,
            indexing: it.clone(),
        })),
        _ => *slot = None,
    }
}
