//! From trees to a [`Module`]: names are looked up, shapes and attributes checked.

mod constant;
mod shapes;

use crate::Span;
use crate::operation::attributes::Attributes;
use crate::operation::call::{Call, Described, Operand};
use crate::operation::error::{ModuleError, ModuleErrorKind};
use crate::operation::family;
use crate::operation::module::{Action, Computation, Instruction, Module};
use crate::operation::shape::Shape;
use crate::operation::text::{self, tree};
use crate::spelling::nearest;
use constant::constant;
use shapes::is_countable;
use std::collections::{HashMap, HashSet};

/// Nobody reads more.
const ERRORS_REPORTED: usize = 20;

/// Operations whose results are there, but of whose elements nothing is said.
const UNKNOWN: [&str; 44] = [
    "add-dependency",
    "after-all",
    "all-gather",
    "all-gather-done",
    "all-gather-start",
    "all-reduce",
    "all-reduce-done",
    "all-reduce-start",
    "all-to-all",
    "async-done",
    "async-start",
    "async-update",
    "batch-norm-grad",
    "batch-norm-inference",
    "batch-norm-training",
    "cholesky",
    "collective-broadcast",
    "collective-permute",
    "collective-permute-done",
    "collective-permute-start",
    "conditional",
    "copy-done",
    "copy-start",
    "custom-call",
    "domain",
    "dynamic-reshape",
    "fft",
    "get-dimension-size",
    "infeed",
    "outfeed",
    "ragged-all-to-all",
    "ragged-dot",
    "recv",
    "recv-done",
    "reduce-scatter",
    "rng",
    "rng-bit-generator",
    "scan",
    "select-and-scatter",
    "send",
    "send-done",
    "set-dimension-size",
    "triangular-solve",
    "while",
];

/// The module in `source`.
pub(super) fn module(source: &str) -> Result<Module, Vec<ModuleError>> {
    let items = text::items(source).map_err(|error| vec![error])?;
    let mut resolver = Resolver::default();
    let mut loose = Vec::new();
    for item in &items {
        match item {
            tree::Item::Computation(computation) => resolver.computation(computation),
            tree::Item::Instruction(instruction) => loose.push(instruction),
        }
    }
    if !loose.is_empty() {
        let computation = resolver.body(loose, None, Span::default());
        resolver.computations.extend(computation);
    }
    resolver.finish(source)
}

/// A computation as far as it is read.
#[derive(Default)]
struct Body<'t> {
    instructions: Vec<Instruction>,
    /// `None` for one with an error, about which nothing more is to be said.
    names: HashMap<&'t str, (Option<usize>, Span)>,
    root: Option<usize>,
    parameters: Vec<(usize, Span)>,
}

#[derive(Default)]
struct Resolver<'t> {
    computations: Vec<Computation>,
    /// `None` for one with an error.
    names: HashMap<&'t str, (Option<usize>, Span)>,
    /// The words of all attributes: a computation that is one of them is used by an instruction.
    mentioned: HashSet<&'t str>,
    errors: Vec<ModuleError>,
}

/// A place where something is wrong that has been recorded, or that follows from something
/// recorded.
struct Recorded;

type Checked<T> = Result<T, Recorded>;

impl<'t> Resolver<'t> {
    fn record(&mut self, error: ModuleError) -> Recorded {
        self.errors.push(error);
        Recorded
    }

    fn is_full(&self) -> bool {
        self.errors.len() >= ERRORS_REPORTED
    }

    fn computation(&mut self, read: &'t tree::Computation<'t>) {
        if self.is_full() {
            return;
        }
        let name = read.name.name();
        if let Some((_, first)) = self.names.get(name) {
            let kind = ModuleErrorKind::Duplicate {
                name: name.to_owned(),
                first: *first,
            };
            self.errors.push(kind.at(read.name.span));
            return;
        }
        if read.is_entry && self.computations.iter().any(|it| it.is_entry) {
            self.errors
                .push(ModuleErrorKind::Second("ENTRY").at(read.name.span));
        }
        let body = self.body(
            read.instructions.iter().collect(),
            Some(name),
            read.name.span,
        );
        let position = body.map(|mut body| {
            body.is_entry = read.is_entry;
            self.computations.push(body);
            self.computations.len() - 1
        });
        self.names.insert(name, (position, read.name.span));
        for instruction in &read.instructions {
            let values = instruction.attributes.iter().map(|it| it.value.as_slice());
            values.for_each(|it| note_words(it, &mut self.mentioned));
        }
    }

    /// The computation with these instructions, if nothing is wrong with them.
    fn body(
        &mut self,
        instructions: Vec<&'t tree::Instruction<'t>>,
        name: Option<&str>,
        span: Span,
    ) -> Option<Computation> {
        let before = self.errors.len();
        let mut body = Body::default();
        for instruction in instructions {
            if self.is_full() {
                return None;
            }
            let read = self.instruction(&body, instruction);
            self.add(&mut body, instruction, read.ok());
        }
        let parameters = self.parameters(&body);
        if body.instructions.is_empty() && self.errors.len() == before {
            self.errors.push(ModuleErrorKind::Empty.at(span));
        }
        if self.errors.len() > before {
            return None;
        }
        Some(Computation {
            name: name.map(str::to_owned),
            is_entry: false,
            root: body.root.unwrap_or(body.instructions.len() - 1),
            instructions: body.instructions,
            parameters,
        })
    }

    fn add(
        &mut self,
        body: &mut Body<'t>,
        read: &'t tree::Instruction<'t>,
        instruction: Option<Instruction>,
    ) {
        let word = read.name;
        let name = word.name();
        if !name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_') {
            let kind = ModuleErrorKind::NotAName(word.text.to_owned());
            self.errors.push(kind.at(word.span));
            return;
        }
        let position = instruction.map(|instruction| {
            if let Action::Parameter(number) = instruction.action {
                body.parameters.push((number, word.span));
            }
            body.instructions.push(instruction);
            body.instructions.len() - 1
        });
        if let Some((_, first)) = body.names.get(name) {
            let kind = ModuleErrorKind::Duplicate {
                name: name.to_owned(),
                first: *first,
            };
            self.errors.push(kind.at(word.span));
            return;
        }
        body.names.insert(name, (position, word.span));
        if read.is_root {
            if body.root.is_some() {
                self.errors
                    .push(ModuleErrorKind::Second("ROOT").at(word.span));
            }
            body.root = position;
        }
    }

    /// The positions of the parameters in the order of their numbers.
    fn parameters(&mut self, body: &Body<'t>) -> Vec<usize> {
        let positions = body.instructions.iter().enumerate();
        let mut numbered: Vec<_> = positions
            .filter_map(|(at, instruction)| match instruction.action {
                Action::Parameter(number) => Some((number, at)),
                _ => None,
            })
            .collect();
        numbered.sort_unstable();
        let gap = numbered
            .iter()
            .enumerate()
            .find(|(at, (number, _))| at != number);
        // A number too high, or one that is given twice, is where the first gap shows.
        if let (Some((missing, (number, at))), false) = (gap, self.is_full()) {
            let span = body
                .instructions
                .get(*at)
                .map_or(Span::default(), |it| it.span);
            let twice = body.parameters.iter().rev().find(|(it, _)| it == number);
            let span = twice.map_or(span, |(_, span)| *span);
            self.errors
                .push(ModuleErrorKind::ParameterNumbers(missing).at(span));
        }
        numbered.into_iter().map(|(_, at)| at).collect()
    }

    fn instruction(
        &mut self,
        body: &Body<'t>,
        read: &'t tree::Instruction<'t>,
    ) -> Checked<Instruction> {
        let stated = match &read.shape {
            Some(shape) => Some((self.shape(shape)?, shape.span)),
            None => None,
        };
        let opcode = read.opcode.text;
        let leaf = match opcode {
            "parameter" | "constant" | "iota" | "partition-id" | "replica-id" => {
                Some(self.leaf(read, stated.as_ref())?)
            }
            _ => None,
        };
        let (operands, shape, action) = match leaf {
            Some((shape, action)) => (Vec::new(), shape, action),
            None => {
                let operands = self.operands(body, read)?;
                let (shape, action) = self.action(body, read, &operands, stated.as_ref())?;
                (
                    operands.into_iter().map(|(at, _)| at).collect(),
                    shape,
                    action,
                )
            }
        };
        Ok(Instruction {
            name: read.name.name().to_owned(),
            span: read.name.span,
            opcode: opcode.to_owned(),
            shape,
            operands,
            action,
        })
    }

    /// An instruction that has no operands, whose shape stands in the text.
    fn leaf(
        &mut self,
        read: &tree::Instruction<'_>,
        stated: Option<&(Shape, Span)>,
    ) -> Checked<(Shape, Action)> {
        let opcode = read.opcode;
        let Some((shape, span)) = stated else {
            let kind = ModuleErrorKind::NoShape(opcode.text.to_owned());
            return Err(self.record(kind.at(opcode.span)));
        };
        let wrong_count = |expected| ModuleErrorKind::OperandCount {
            operation: opcode.text.to_owned(),
            expected,
            found: read.operands.len(),
        };
        let action = match (opcode.text, read.operands.as_slice()) {
            ("parameter", [operand]) => self.parameter_number(operand, opcode.span)?,
            ("parameter", _) => {
                return Err(self.record(wrong_count("its number").at(opcode.span)));
            }
            ("constant", operands) => Action::Constant(constant(shape, operands)),
            ("iota", []) => self.iota(read, shape, *span)?,
            (_, []) => Action::Reads(Vec::new()),
            _ => return Err(self.record(wrong_count("no operands").at(opcode.span))),
        };
        Ok((shape.clone(), action))
    }

    fn parameter_number(&mut self, operand: &tree::Operand<'_>, span: Span) -> Checked<Action> {
        let word = match &operand.value {
            tree::OperandValue::Word(word) if operand.shape.is_none() => Some(*word),
            _ => None,
        };
        let number = word.and_then(|it| it.text.parse().ok());
        number.map(Action::Parameter).ok_or_else(|| {
            let span = word.map_or(span, |it| it.span);
            let kind = ModuleErrorKind::Malformed {
                attribute: "parameter".to_owned(),
                example: "parameter(0)",
            };
            self.record(kind.at(span))
        })
    }

    fn iota(&mut self, read: &tree::Instruction<'_>, shape: &Shape, span: Span) -> Checked<Action> {
        let Shape::Array(array) = shape else {
            let kind = ModuleErrorKind::WrongShape {
                stated: shape.to_string(),
                actual: "one array".to_owned(),
            };
            return Err(self.record(kind.at(span)));
        };
        let attributes = Attributes::new(read.opcode, &read.attributes);
        let found = attributes.number("iota_dimension");
        let found = found.map_err(|error| self.record(error))?;
        let Some((found, span)) = found else {
            let error = attributes.missing("iota_dimension", "iota_dimension=0");
            return Err(self.record(error));
        };
        match usize::try_from(found) {
            Ok(dimension) if dimension < array.rank() => Ok(Action::Iota(dimension)),
            _ => {
                let attribute = "iota_dimension";
                let rank = array.rank();
                let kind = ModuleErrorKind::BadDimension {
                    attribute,
                    found,
                    rank,
                };
                Err(self.record(kind.at(span)))
            }
        }
    }

    /// The operands' positions and places. A shape in front of one has to be its own.
    fn operands(
        &mut self,
        body: &Body<'t>,
        read: &'t tree::Instruction<'t>,
    ) -> Checked<Vec<(usize, Span)>> {
        let mut operands = Vec::with_capacity(read.operands.len());
        for operand in &read.operands {
            let word = match &operand.value {
                tree::OperandValue::Word(word) => *word,
                tree::OperandValue::Literal(_, span) => {
                    let kind = ModuleErrorKind::NotAName("{".to_owned());
                    return Err(self.record(kind.at(*span)));
                }
            };
            let position = self.lookup(body, word)?;
            if let (Some(stated), Some(instruction)) =
                (&operand.shape, body.instructions.get(position))
            {
                let shape = self.shape(stated)?;
                self.expect_shape(&shape, &instruction.shape, stated.span)?;
            }
            operands.push((position, word.span));
        }
        Ok(operands)
    }

    fn lookup(&mut self, body: &Body<'t>, word: tree::Word<'_>) -> Checked<usize> {
        match body.names.get(word.name()) {
            Some((Some(position), _)) => Ok(*position),
            Some((None, _)) => Err(Recorded),
            None => {
                let name = word.name().to_owned();
                let nearest = nearest(&name, body.names.keys().copied()).map(str::to_owned);
                let kind = ModuleErrorKind::UnknownInstruction { name, nearest };
                Err(self.record(kind.at(word.span)))
            }
        }
    }

    fn expect_shape(&mut self, stated: &Shape, actual: &Shape, span: Span) -> Checked<()> {
        if stated.agrees_with(actual) {
            return Ok(());
        }
        let kind = ModuleErrorKind::WrongShape {
            stated: stated.to_string(),
            actual: actual.to_string(),
        };
        Err(self.record(kind.at(span)))
    }

    /// What an instruction with operands does.
    fn action(
        &mut self,
        body: &Body<'t>,
        read: &'t tree::Instruction<'t>,
        operands: &[(usize, Span)],
        stated: Option<&(Shape, Span)>,
    ) -> Checked<(Shape, Action)> {
        let opcode = read.opcode;
        let values = operands.iter().filter_map(|(at, span)| {
            let shape = &body.instructions.get(*at)?.shape;
            Some(Operand { shape, span: *span })
        });
        let call = Call {
            opcode: opcode.text,
            span: opcode.span,
            operands: values.collect(),
            stated: stated.map(|(shape, span)| (shape, *span)),
            attributes: Attributes::new(opcode, &read.attributes),
        };
        let (shape, action) = match opcode.text {
            "fusion" => self.call(&call, "calls")?,
            "call" => self.call(&call, "to_apply")?,
            name => match family::describe(name) {
                Some(describe) => {
                    let described = describe(&call).map_err(|error| self.record(error))?;
                    let Described { shape, reads } = described;
                    if !shape.leaves().iter().all(|it| is_countable(&it.extents)) {
                        return Err(self.record(ModuleErrorKind::TooLarge.at(opcode.span)));
                    }
                    (shape, Action::Reads(reads))
                }
                None => (self.unknown(&call)?, Action::Unknown),
            },
        };
        match stated {
            None => Ok((shape, action)),
            Some((stated, span)) => {
                self.expect_shape(stated, &shape, *span)?;
                // The text knows the layout.
                Ok((stated.clone(), action))
            }
        }
    }

    /// What a computation makes of the operands, which are its parameters.
    fn call(
        &mut self,
        call: &Call<'_, '_, '_>,
        attribute: &'static str,
    ) -> Checked<(Shape, Action)> {
        let word = call.attributes.word(attribute);
        let word = word.map_err(|error| self.record(error))?;
        let Some(word) = word else {
            let example = if attribute == "calls" {
                "calls=f"
            } else {
                "to_apply=f"
            };
            let error = call.attributes.missing(attribute, example);
            return Err(self.record(error));
        };
        let position = match self.names.get(word.name()) {
            Some((Some(position), _)) => *position,
            Some((None, _)) => return Err(Recorded),
            None => {
                let name = word.name().to_owned();
                let nearest = nearest(&name, self.names.keys().copied()).map(str::to_owned);
                let kind = ModuleErrorKind::UnknownComputation { name, nearest };
                return Err(self.record(kind.at(word.span)));
            }
        };
        let Some(computation) = self.computations.get(position) else {
            return Err(Recorded);
        };
        if computation.parameters.len() != call.operands.len() {
            let kind = ModuleErrorKind::ParameterCount {
                computation: word.name().to_owned(),
                expected: computation.parameters.len(),
                found: call.operands.len(),
            };
            return Err(self.record(kind.at(call.span)));
        }
        let parameters = computation.parameters.iter();
        let parameters = parameters.filter_map(|it| computation.instructions.get(*it));
        for (at, (parameter, operand)) in parameters.zip(&call.operands).enumerate() {
            if !parameter.shape.agrees_with(operand.shape) {
                let expected = format!("{} for parameter {at}", parameter.shape);
                let error = call.operand_misfit(at, expected);
                return Err(self.record(error));
            }
        }
        match computation.instructions.get(computation.root) {
            Some(root) => Ok((root.shape.clone(), Action::Call(position))),
            None => Err(Recorded),
        }
    }

    /// The shape of an operation of which no more is known.
    fn unknown(&mut self, call: &Call<'_, '_, '_>) -> Checked<Shape> {
        if !UNKNOWN.contains(&call.opcode) {
            let name = call.opcode.to_owned();
            let others = ["parameter", "constant", "iota", "fusion", "call"];
            let known = family::names().chain(UNKNOWN).chain(others);
            let nearest = nearest(&name, known).map(str::to_owned);
            let kind = ModuleErrorKind::UnknownOperation { name, nearest };
            return Err(self.record(kind.at(call.span)));
        }
        match call.stated {
            Some((shape, _)) => Ok(shape.clone()),
            None => {
                let kind = ModuleErrorKind::NoShape(call.opcode.to_owned());
                Err(self.record(kind.at(call.span)))
            }
        }
    }

    fn finish(mut self, source: &str) -> Result<Module, Vec<ModuleError>> {
        if self.computations.is_empty() && self.errors.is_empty() {
            let end = source.trim_end().len();
            self.errors
                .push(ModuleErrorKind::Empty.at(Span::new(end, end)));
        }
        if !self.errors.is_empty() {
            self.errors.sort_by_key(|error| error.span);
            return Err(self.errors);
        }
        let entry = self.entry();
        Ok(Module {
            computations: self.computations,
            entry,
        })
    }

    fn entry(&self) -> usize {
        let computations = &self.computations;
        let marked = computations.iter().position(|it| it.is_entry);
        let loose = computations.iter().position(|it| it.name.is_none());
        let is_used = |it: &Computation| {
            let name = it.name.as_deref();
            name.is_some_and(|it| self.mentioned.contains(it))
        };
        let last = computations.iter().rposition(|it| !is_used(it));
        marked.or(loose).or(last).unwrap_or(0)
    }
}

/// Adds the words among `trees`, as names.
fn note_words<'t>(trees: &[tree::Tree<'t>], words: &mut HashSet<&'t str>) {
    for tree in trees {
        match &tree.kind {
            tree::TreeKind::Word(text) => {
                words.insert(text.strip_prefix('%').unwrap_or(text));
            }
            tree::TreeKind::Group(_, inner) => note_words(inner, words),
            tree::TreeKind::Mark(_) => {}
        }
    }
}
