//! Which elements of the values of a computation its root is computed from: composition along all
//! ways.

use super::indexing::{Indexing, Value};
use super::trace::trace;
use crate::indexing::IndexingError;
use crate::operation::call::Read;
use crate::operation::error::{ModuleError, ModuleErrorKind};
use crate::operation::module::{Action, Instruction, Module};
use std::collections::HashMap;

/// More different maps between two arrays than this are refused: their number can double from line
/// to line.
const MAX_MAPS: usize = 256;

/// More compositions than this are not made for one text.
const MAX_STEPS: usize = 1 << 16;

/// Which way maps lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Direction {
    OutputToInput,
    InputToOutput,
}

/// The maps between two arrays, all different; `None` when it is not known how elements depend on
/// each other.
pub(super) type Maps = Option<Vec<Indexing>>;

/// For each array of the root, the maps to (or from) the arrays of the parameters:
/// `reach[output][(parameter, part)]`. What is not listed is not read.
pub(super) type Reach = Vec<HashMap<(usize, usize), Maps>>;

/// The maps of a module as far as they have been asked for.
pub(super) struct Reaches<'m> {
    pub(super) module: &'m Module,
    known: HashMap<(usize, Direction), Reach>,
    steps: usize,
}

type Checked<T> = Result<T, ModuleError>;

impl<'m> Reaches<'m> {
    pub(super) fn new(module: &'m Module) -> Self {
        Self {
            module,
            known: HashMap::new(),
            steps: 0,
        }
    }

    /// How the root of a computation depends on its parameters.
    pub(super) fn of_computation(
        &mut self,
        computation: usize,
        direction: Direction,
    ) -> Checked<&Reach> {
        // Callees stand before their callers: one after the other, without recursion.
        for callee in self.callees(computation) {
            if !self.known.contains_key(&(callee, direction)) {
                let reach = self.reach(callee, direction)?;
                self.known.insert((callee, direction), reach);
            }
        }
        Ok(self.known.entry((computation, direction)).or_default())
    }

    /// The computation and all that it calls, in the order of the text.
    fn callees(&self, computation: usize) -> Vec<usize> {
        let mut is_needed = vec![false; self.module.computations.len()];
        if let Some(slot) = is_needed.get_mut(computation) {
            *slot = true;
        }
        for position in (0..self.module.computations.len()).rev() {
            if !is_needed.get(position).copied().unwrap_or(false) {
                continue;
            }
            let body = self.module.computations.get(position);
            for instruction in body.into_iter().flat_map(|it| &it.instructions) {
                if let Action::Call(callee) = instruction.action
                    && let Some(slot) = is_needed.get_mut(callee)
                {
                    *slot = true;
                }
            }
        }
        let all = is_needed.into_iter().enumerate();
        all.filter_map(|(at, is_needed)| is_needed.then_some(at))
            .collect()
    }

    fn reach(&mut self, computation: usize, direction: Direction) -> Checked<Reach> {
        let module = self.module;
        let Some(body) = module.computations.get(computation) else {
            return Ok(Vec::new());
        };
        let Some(root) = body.instructions.get(body.root) else {
            return Ok(Vec::new());
        };
        let mut reach = Vec::new();
        for (part, leaf) in root.shape.leaves().into_iter().enumerate() {
            let mut maps: HashMap<(usize, usize), Maps> = HashMap::new();
            maps.insert(
                (body.root, part),
                Some(vec![Indexing::identity(&leaf.extents)]),
            );
            for position in (0..=body.root).rev() {
                let Some(instruction) = body.instructions.get(position) else {
                    continue;
                };
                if !matches!(instruction.action, Action::Parameter(_)) {
                    self.step_back((computation, position), instruction, direction, &mut maps)?;
                }
            }
            let parameters = body.parameters.iter().enumerate();
            let numbers: HashMap<_, _> = parameters.map(|(number, at)| (*at, number)).collect();
            let maps = maps.into_iter();
            let maps =
                maps.filter_map(|((at, part), maps)| Some(((*numbers.get(&at)?, part), maps)));
            reach.push(maps.collect());
        }
        Ok(reach)
    }

    /// Replaces the maps of an instruction's arrays by maps of its operands' arrays.
    fn step_back(
        &mut self,
        (computation, position): (usize, usize),
        instruction: &'m Instruction,
        direction: Direction,
        maps: &mut HashMap<(usize, usize), Maps>,
    ) -> Checked<()> {
        let outputs = instruction.shape.leaves().len();
        let mut own: Option<Vec<Edge>> = None;
        for output in 0..outputs {
            let Some(behind) = maps.remove(&(position, output)) else {
                continue;
            };
            let edges = match &mut own {
                Some(edges) => edges,
                slot => slot.insert(self.edges((computation, position), instruction, direction)?),
            };
            for edge in edges.iter().filter(|it| it.output == output) {
                let Some(operand) = instruction.operands.get(edge.operand) else {
                    continue;
                };
                let slot = maps
                    .entry((*operand, edge.part))
                    .or_insert(Some(Vec::new()));
                let (Some(known), Some(behind), Some(steps)) = (&mut *slot, &behind, &edge.maps)
                else {
                    *slot = None;
                    continue;
                };
                for (first, step) in behind
                    .iter()
                    .flat_map(|it| steps.iter().map(move |step| (it, step)))
                {
                    if edge.is_identity {
                        add(known, first.clone());
                        continue;
                    }
                    self.steps += 1;
                    if self.steps > MAX_STEPS || known.len() > MAX_MAPS {
                        return Err(ModuleErrorKind::TooManyMaps.at(instruction.span));
                    }
                    let joined = match direction {
                        Direction::OutputToInput => first.then(step),
                        Direction::InputToOutput => step.then(first),
                    };
                    let joined = joined.and_then(|it| self.settled(it));
                    let joined = joined.map_err(|error| unmappable(error, instruction))?;
                    add(known, joined);
                }
            }
        }
        Ok(())
    }

    /// Its runtime variables traced, then in its simplest form.
    fn settled(&self, indexing: Indexing) -> Result<Indexing, IndexingError> {
        let module = self.module;
        let traced = indexing.traced(|value, places| trace(module, value, places))?;
        traced.tidied()
    }

    /// The maps between an instruction and its operands.
    pub(super) fn edges(
        &mut self,
        (computation, position): (usize, usize),
        instruction: &'m Instruction,
        direction: Direction,
    ) -> Checked<Vec<Edge>> {
        match &instruction.action {
            Action::Parameter(_) | Action::Constant(_) | Action::Iota(_) => Ok(Vec::new()),
            Action::Reads(reads) => {
                let edges = reads.iter().map(|read| {
                    let maps = self.of_read(computation, instruction, read, direction);
                    let maps = maps.map_err(|error| unmappable(error, instruction))?;
                    Ok(Edge {
                        output: read.output,
                        operand: read.operand,
                        part: read.part,
                        maps: Some(maps),
                        is_identity: read.is_exact && read.relation.is_identity(),
                    })
                });
                edges.collect()
            }
            Action::Call(callee) => {
                let reach = self.of_computation(*callee, direction)?.clone();
                self.lifted((computation, position), instruction, *callee, reach)
            }
            Action::Unknown => Ok(self.unknown_edges(computation, instruction)),
        }
    }

    fn of_read(
        &self,
        computation: usize,
        instruction: &Instruction,
        read: &Read,
        direction: Direction,
    ) -> Result<Vec<Indexing>, IndexingError> {
        let relation = &read.relation;
        // Nothing is computed from no elements, and groups of none could not be divided by.
        if relation.input.contains(&0) || relation.output.contains(&0) {
            return Ok(Vec::new());
        }
        let (solved, rank) = match direction {
            Direction::OutputToInput => (relation.output_to_input()?, relation.input.len()),
            Direction::InputToOutput => (relation.input_to_output()?, relation.output.len()),
        };
        let indexing = Indexing::solved(solved, rank, read.is_exact, |start| Value {
            calls: Vec::new(),
            computation,
            instruction: instruction
                .operands
                .get(start.operand)
                .copied()
                .unwrap_or(0),
            part: 0,
        });
        // Only what is known is put in: the definitions of an instruction's own maps speak of its
        // own operands.
        let module = self.module;
        let known = indexing.traced(|value, places| match trace(module, value, places)? {
            known @ super::indexing::Traced::Known(_) => Ok(known),
            super::indexing::Traced::At(..) => {
                Ok(super::indexing::Traced::At(value.clone(), places.to_vec()))
            }
        });
        let mut maps = Vec::new();
        add(&mut maps, known?.tidied()?);
        Ok(maps)
    }

    /// What is said of a callee's parameters, said of the operands.
    fn lifted(
        &self,
        call: (usize, usize),
        instruction: &Instruction,
        callee: usize,
        reach: Reach,
    ) -> Checked<Vec<Edge>> {
        let mut edges = Vec::new();
        for (output, reached) in reach.into_iter().enumerate() {
            for ((operand, part), maps) in reached {
                let maps = match maps {
                    Some(maps) => {
                        let lifted = maps.into_iter().map(|it| {
                            let lifted = it.with_values(|value| {
                                self.outside(call, instruction, callee, value)
                            });
                            self.settled(lifted)
                        });
                        let mut kept = Vec::new();
                        for map in lifted {
                            add(
                                &mut kept,
                                map.map_err(|error| unmappable(error, instruction))?,
                            );
                        }
                        Some(kept)
                    }
                    None => None,
                };
                edges.push(Edge {
                    output,
                    operand,
                    part,
                    maps,
                    is_identity: false,
                });
            }
        }
        edges.sort_by_key(|it| (it.output, it.operand, it.part));
        Ok(edges)
    }

    /// What a value of the callee is for the caller: an operand where it is a parameter, else what
    /// this call computes.
    fn outside(
        &self,
        call: (usize, usize),
        instruction: &Instruction,
        callee: usize,
        value: &Value,
    ) -> Value {
        let is_own = value.calls.is_empty() && value.computation == callee;
        let parameter = self
            .module
            .instruction(value.computation, value.instruction);
        match parameter.map(|it| &it.action) {
            Some(Action::Parameter(number)) if is_own => Value {
                calls: Vec::new(),
                computation: call.0,
                instruction: instruction.operands.get(*number).copied().unwrap_or(0),
                part: value.part,
            },
            _ => Value {
                calls: [&[call], value.calls.as_slice()].concat(),
                ..*value
            },
        }
    }

    fn unknown_edges(&self, computation: usize, instruction: &Instruction) -> Vec<Edge> {
        let outputs = instruction.shape.leaves().len();
        let mut edges = Vec::new();
        for (operand, position) in instruction.operands.iter().enumerate() {
            let shape = self
                .module
                .instruction(computation, *position)
                .map(|it| &it.shape);
            let parts = shape.map_or(0, |it| it.leaves().len());
            for output in 0..outputs {
                edges.extend((0..parts).map(|part| Edge {
                    output,
                    operand,
                    part,
                    maps: None,
                    is_identity: false,
                }));
            }
        }
        edges
    }
}

/// The maps between one array of a result and one of an operand.
pub(super) struct Edge {
    pub(super) output: usize,
    pub(super) operand: usize,
    pub(super) part: usize,
    pub(super) maps: Maps,
    /// Whether each element belongs to the one at the same index, for sure.
    pub(super) is_identity: bool,
}

/// Adds a map unless it is there, or leads nowhere.
fn add(maps: &mut Vec<Indexing>, indexing: Indexing) {
    if indexing.is_known_empty() {
        return;
    }
    match maps.iter_mut().find(|it| it.is_same_map(&indexing)) {
        // What is read for sure on one way is read.
        Some(same) => same.join_exactness(&indexing),
        None => maps.push(indexing),
    }
}

fn unmappable(error: IndexingError, instruction: &Instruction) -> ModuleError {
    ModuleErrorKind::Unmappable(error).at(instruction.span)
}
