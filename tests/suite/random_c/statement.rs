//! C statements as trees. Whatever is left out of a tree, what remains ends, and reads nothing that
//! was not written.

use super::expression::{ASSIGNMENT, Binary, Expression, Place};
use super::function::{Array, Extent};
use std::fmt::{self, Display, Formatter};

pub(crate) type Block = Vec<Statement>;

/// A value, or none for `default`.
pub(crate) type Label = Option<i32>;

/// How a loop that counts is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopForm {
    For,
    /// Without a condition; it is left by `break`.
    Endless,
    /// The iterator is declared before it and stepped at the end of the body, which has no
    /// `continue`.
    While,
}

/// What stands in the parentheses of a loop that counts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct LoopHeader {
    pub(crate) form: LoopForm,
    /// How the type of the iterator is written.
    pub(crate) ty: &'static str,
    pub(crate) iterator: String,
    pub(crate) from: Expression,
    /// More iterators with their first values, each behind a comma.
    pub(crate) others: String,
    /// The condition and the step as they are written.
    pub(crate) condition: String,
    pub(crate) step: String,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Statement {
    /// How the type is written, the name, and the first value.
    Declare(String, String, Expression),
    /// A structure: how the type is written, the name, and the first values of its members.
    Record(String, String, Vec<Expression>),
    /// The operator before `=`, nothing for a plain assignment.
    Assign(Place, &'static str, Expression),
    /// The same value for two places.
    Chain(Place, Place, Expression),
    /// An expression for what it does.
    Effect(Expression),
    /// A step as a statement: before or behind the place, up or down.
    Step(Place, &'static str, bool),
    If(Expression, Block, Option<Block>),
    For(LoopHeader, Block),
    /// Runs at most as often as the counter says, which is declared before it.
    Repeat {
        counter: String,
        turns: Expression,
        condition: Expression,
        /// `while`, or `do`, where the first turn comes without a question.
        asks_first: bool,
        body: Block,
    },
    /// Each with its labels.
    Switch(Expression, Vec<(Vec<Label>, Block)>),
    /// `break` or `continue`.
    Leave(&'static str),
    Return(Option<Expression>),
    /// A local array and its first elements. One that C gives no values gets them in a loop.
    Array(Array, Vec<Expression>),
    Block(Block),
}

pub(super) fn write_block(f: &mut Formatter<'_>, block: &Block, depth: usize) -> fmt::Result {
    block.iter().try_for_each(|it| it.write(f, depth))
}

/// Values between braces.
fn braced(values: &[Expression]) -> String {
    let values: Vec<_> = values.iter().map(|it| it.at(ASSIGNMENT)).collect();
    format!("{{{}}}", values.join(", "))
}

impl Statement {
    fn write(&self, f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
        let indent = "  ".repeat(depth);
        match self {
            Self::Declare(ty, name, value) => {
                writeln!(f, "{indent}{ty} {name} = {};", value.at(ASSIGNMENT))
            }
            Self::Record(ty, name, values) => {
                writeln!(f, "{indent}{ty} {name} = {};", braced(values))
            }
            Self::Assign(place, operator, value) => {
                writeln!(f, "{indent}{place} {operator}= {};", value.at(ASSIGNMENT))
            }
            Self::Chain(first, second, value) => {
                let value = value.at(ASSIGNMENT);
                writeln!(f, "{indent}{first} = {second} = {value};")
            }
            Self::Effect(expression) => writeln!(f, "{indent}{expression};"),
            Self::Step(place, sign, true) => writeln!(f, "{indent}{sign}{place};"),
            Self::Step(place, sign, false) => writeln!(f, "{indent}{place}{sign};"),
            Self::If(condition, yes, no) => {
                writeln!(f, "{indent}if ({condition}) {{")?;
                write_block(f, yes, depth + 1)?;
                if let Some(no) = no {
                    writeln!(f, "{indent}}} else {{")?;
                    write_block(f, no, depth + 1)?;
                }
                writeln!(f, "{indent}}}")
            }
            Self::For(header, body) => write_loop(f, header, body, depth),
            Self::Repeat { .. } => self.write_repeat(f, depth),
            Self::Switch(value, cases) => write_switch(f, value, cases, depth),
            Self::Return(None) => writeln!(f, "{indent}return;"),
            Self::Return(Some(value)) => writeln!(f, "{indent}return {value};"),
            Self::Leave(word) => writeln!(f, "{indent}{word};"),
            Self::Array(array, values) => write_array(f, array, values, depth),
            Self::Block(body) => {
                writeln!(f, "{indent}{{")?;
                write_block(f, body, depth + 1)?;
                writeln!(f, "{indent}}}")
            }
        }
    }

    fn write_repeat(&self, f: &mut Formatter<'_>, depth: usize) -> fmt::Result {
        let Self::Repeat {
            counter,
            turns,
            condition,
            asks_first,
            body,
        } = self
        else {
            return Ok(());
        };
        let indent = "  ".repeat(depth);
        let turns = turns.at(Binary::And.level());
        let condition = condition.at(Binary::BothOf.level());
        writeln!(f, "{indent}int {counter} = {turns} & 7;")?;
        if *asks_first {
            writeln!(f, "{indent}while ({counter} > 0 && {condition}) {{")?;
            writeln!(f, "{indent}  {counter}--;")?;
            write_block(f, body, depth + 1)?;
            writeln!(f, "{indent}}}")
        } else {
            writeln!(f, "{indent}do {{")?;
            write_block(f, body, depth + 1)?;
            writeln!(f, "{indent}}} while ({counter}-- > 0 && {condition});")
        }
    }
}

fn write_loop(
    f: &mut Formatter<'_>,
    header: &LoopHeader,
    body: &Block,
    depth: usize,
) -> fmt::Result {
    let indent = "  ".repeat(depth);
    let LoopHeader {
        ty,
        iterator,
        others,
        condition,
        step,
        ..
    } = header;
    let first = format!("{ty} {iterator} = {}{others}", header.from.at(ASSIGNMENT));
    match header.form {
        LoopForm::For => writeln!(f, "{indent}for ({first}; {condition}; {step}) {{")?,
        LoopForm::Endless => {
            writeln!(f, "{indent}for ({first};; {step}) {{")?;
            writeln!(f, "{indent}  if (!({condition}))")?;
            writeln!(f, "{indent}    break;")?;
        }
        LoopForm::While => {
            writeln!(f, "{indent}{first};")?;
            writeln!(f, "{indent}while ({condition}) {{")?;
        }
    }
    write_block(f, body, depth + 1)?;
    if header.form == LoopForm::While {
        writeln!(f, "{indent}  {step};")?;
    }
    writeln!(f, "{indent}}}")
}

fn write_switch(
    f: &mut Formatter<'_>,
    value: &Expression,
    cases: &[(Vec<Label>, Block)],
    depth: usize,
) -> fmt::Result {
    let indent = "  ".repeat(depth);
    writeln!(f, "{indent}switch ({value}) {{")?;
    for (labels, body) in cases {
        for label in labels {
            match label {
                Some(label) => writeln!(f, "{indent}case {label}:")?,
                None => writeln!(f, "{indent}default:")?,
            }
        }
        writeln!(f, "{indent}{{")?;
        write_block(f, body, depth + 1)?;
        writeln!(f, "{indent}}}")?;
    }
    writeln!(f, "{indent}}}")
}

fn write_array(
    f: &mut Formatter<'_>,
    array: &Array,
    values: &[Expression],
    depth: usize,
) -> fmt::Result {
    let indent = "  ".repeat(depth);
    write!(f, "{indent}{array}")?;
    if !values.is_empty() {
        write!(f, " = {}", braced(values))?;
    }
    writeln!(f, ";")?;
    let is_constant = |it: &Extent| matches!(it, Extent::Constant(_));
    if array.extents.iter().all(is_constant) {
        return Ok(());
    }
    let mut place = array.name.clone();
    for (number, extent) in array.extents.iter().enumerate() {
        let iterator = format!("{}_{number}", array.name);
        let from = format!("int {iterator} = 0; {iterator} < {extent}; {iterator}++");
        writeln!(f, "{indent}for ({from})")?;
        place += &format!("[{iterator}]");
    }
    writeln!(f, "{indent}  {place} = {}_0 * 3;", array.name)
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}
