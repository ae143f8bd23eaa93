//! A step as it is written: a word with arguments, which the step itself knows how to read.

use super::Fault;
use crate::{LoopPath, Size, StatementName};
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

/// Something of the script with where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Placed<T> {
    pub(crate) start: usize,
    pub(crate) it: T,
    pub(crate) end: usize,
}

impl<T> Placed<T> {
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    fn faulty(&self, fault: Fault) -> FaultAt {
        (self.start, fault, self.end)
    }
}

/// What is wrong, and where.
pub(crate) type FaultAt = (usize, Fault, usize);
pub(crate) type Read<T> = Result<T, FaultAt>;

/// What can stand as an argument.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    /// `n / 2`, and `i/j` for the path of a loop.
    Size(Size),
    /// `[n, m]`
    List(Vec<Size>),
    /// `add_sat(100)`
    Call(String, Vec<Size>),
    /// `j by i`
    By(Size, Size),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |sizes: &[Size]| {
            let each: Vec<_> = sizes.iter().map(ToString::to_string).collect();
            each.join(", ")
        };
        match self {
            Self::Size(size) => size.fmt(f),
            Self::List(sizes) => write!(f, "[{}]", list(sizes)),
            Self::Call(name, sizes) => write!(f, "{name}({})", list(sizes)),
            Self::By(what, other) => write!(f, "{what} by {other}"),
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Argument {
    Plain(Placed<Value>),
    /// `chunks = 8`
    Named(Placed<Value>, Placed<Value>),
}

/// One step. What is read is taken out of it.
#[derive(Debug)]
pub(crate) struct Call {
    name: Placed<String>,
    arguments: VecDeque<Placed<Argument>>,
    close: Range<usize>,
}

impl Call {
    pub(crate) fn new(
        name: Placed<String>,
        arguments: Vec<Placed<Argument>>,
        close: Range<usize>,
    ) -> Self {
        Self {
            name,
            arguments: arguments.into(),
            close,
        }
    }

    /// The word that it begins with.
    pub(crate) fn name(&self) -> &str {
        &self.name.it
    }

    /// That no step is called so.
    pub(crate) fn unknown(&self) -> FaultAt {
        self.name.faulty(Fault::UnknownStep(self.name.it.clone()))
    }

    /// The next argument without a name; `what` is expected.
    fn plain(&mut self, what: &str) -> Read<Placed<Value>> {
        match self.arguments.pop_front().map(|it| it.it) {
            Some(Argument::Plain(value)) => Ok(value),
            Some(Argument::Named(key, _)) => Err(unexpected(&key, &[what])),
            None => Err(self.ends(&[what])),
        }
    }

    /// That it has something else than `what`, or ends without it.
    pub(crate) fn lacks(&self, what: &str) -> FaultAt {
        match self.arguments.front().map(|it| &it.it) {
            Some(Argument::Plain(value) | Argument::Named(value, _)) => unexpected(value, &[what]),
            None => self.ends(&[what]),
        }
    }

    fn ends(&self, expected: &[&str]) -> FaultAt {
        let Range { start, end } = self.close;
        let fault = Fault::Unexpected {
            found: Some(")".to_owned()),
            expected: expected.iter().map(|it| (*it).to_owned()).collect(),
        };
        (start, fault, end)
    }

    /// A loop, the next argument.
    pub(crate) fn path(&mut self) -> Read<LoopPath> {
        self.plain(LOOP)?.path()
    }

    /// All arguments that are left, loops.
    pub(crate) fn paths(&mut self) -> Read<Vec<LoopPath>> {
        let mut paths = vec![self.path()?];
        while !self.arguments.is_empty() {
            paths.push(self.path()?);
        }
        Ok(paths)
    }

    /// One scalar or more, behind them a loop, and how many iterations its tiles have: all
    /// arguments without a name that are left, and the one called `tile`.
    pub(crate) fn scalars_in_tiles(&mut self) -> Read<(Vec<String>, LoopPath, u64)> {
        let tile = self.named("tile")?;
        let mut scalars = vec![self.word()?];
        while self.arguments.len() > 1 {
            scalars.push(self.word()?);
        }
        let target = self.path()?;
        let tile = tile.ok_or_else(|| self.lacks("`tile = 4096`"))?;
        Ok((scalars, target, tile.number()?))
    }

    /// `j by i`, the next argument: two loops.
    pub(crate) fn path_by_path(&mut self) -> Read<[LoopPath; 2]> {
        const WHAT: &str = "two loops, as in `j by i`";
        let value = self.plain(WHAT)?;
        match &value.it {
            Value::By(what, other) => match (path_of(what), path_of(other)) {
                (Some(what), Some(other)) => Ok([what, other]),
                _ => Err(unexpected(&value, &[WHAT])),
            },
            _ => Err(unexpected(&value, &[WHAT])),
        }
    }

    /// A name, the next argument.
    pub(crate) fn word(&mut self) -> Read<String> {
        self.plain(NAME)?.word()
    }

    /// Sizes in brackets, the next argument.
    pub(crate) fn list(&mut self) -> Read<Vec<Size>> {
        let value = self.plain(SIZES)?;
        match value.it {
            Value::List(sizes) => Ok(sizes),
            _ => Err(unexpected(&value, &[SIZES])),
        }
    }

    /// A statement of a body, the next argument.
    pub(crate) fn statement(&mut self) -> Read<StatementName> {
        let value = self.plain(STATEMENT)?;
        let word = value.word().map_err(|_| unexpected(&value, &[STATEMENT]))?;
        Ok(StatementName::from(word.as_str()))
    }

    /// A number, the next argument.
    pub(crate) fn number(&mut self) -> Read<u64> {
        self.plain(NUMBER)?.number()
    }

    /// A number that may be negative, the next argument.
    pub(crate) fn offset(&mut self) -> Read<i64> {
        self.plain(NUMBER)?.offset()
    }

    /// What the argument called `name` is, if there is one.
    pub(crate) fn named(&mut self, name: &'static str) -> Read<Option<Placed<Value>>> {
        let mut found: Option<Placed<Value>> = None;
        for argument in std::mem::take(&mut self.arguments) {
            match argument.it {
                Argument::Named(key, value) if is_name(&key.it, name) => {
                    if found.is_some() {
                        return Err((argument.start, Fault::Repeated(name), argument.end));
                    }
                    found = Some(value);
                }
                it => self.arguments.push_back(Placed { it, ..argument }),
            }
        }
        Ok(found)
    }

    /// All arguments with names that are left, with these.
    pub(crate) fn names(&mut self) -> Read<Vec<(String, Placed<Value>)>> {
        let mut found = Vec::new();
        while let Some(argument) = self.arguments.pop_front() {
            match argument.it {
                Argument::Named(key, value) => found.push((key.word()?, value)),
                Argument::Plain(value) => return Err(unexpected(&value, &["`s = add`"])),
            }
        }
        Ok(found)
    }

    /// What the arguments `word(array) = …` are, with their arrays.
    pub(crate) fn clauses(&mut self, word: &str) -> Read<Vec<(String, Placed<Value>)>> {
        let mut found = Vec::new();
        for argument in std::mem::take(&mut self.arguments) {
            match argument.it {
                Argument::Named(
                    Placed {
                        it: Value::Call(name, arrays),
                        ..
                    },
                    value,
                ) if name == word && matches!(arrays.as_slice(), [Size::Name(_)]) => {
                    let names = arrays.into_iter().filter_map(|it| match it {
                        Size::Name(name) => Some(name),
                        _ => None,
                    });
                    found.extend(names.map(|it| (it, value.clone())));
                }
                it => self.arguments.push_back(Placed { it, ..argument }),
            }
        }
        Ok(found)
    }

    /// A loop with a size, the next argument.
    pub(crate) fn size_of_loop(&mut self) -> Read<(LoopPath, Size)> {
        match self.arguments.pop_front().map(|it| it.it) {
            Some(Argument::Named(key, value)) => Ok((key.path()?, value.size()?)),
            Some(Argument::Plain(value)) => Err(unexpected(&value, &[LOOP_WITH_SIZE])),
            None => Err(self.ends(&[LOOP_WITH_SIZE])),
        }
    }

    /// All arguments that are left, each a loop with a size.
    pub(crate) fn sizes_of_loops(&mut self) -> Read<Vec<(LoopPath, Size)>> {
        let mut found = vec![self.size_of_loop()?];
        while !self.arguments.is_empty() {
            found.push(self.size_of_loop()?);
        }
        Ok(found)
    }

    /// That nothing is left; `known` are the names that arguments can have.
    pub(crate) fn finish(mut self, known: &[&str]) -> Read<()> {
        let known: Vec<_> = known.iter().map(|it| format!("`{it}`")).collect();
        let known: Vec<_> = known.iter().map(String::as_str).collect();
        match self.arguments.pop_front().map(|it| it.it) {
            None => Ok(()),
            Some(Argument::Plain(value) | Argument::Named(value, _)) => match known.as_slice() {
                [] => Err(unexpected(&value, &["`)`"])),
                known => Err(unexpected(&value, known)),
            },
        }
    }
}

const LOOP: &str = "a loop";
const NUMBER: &str = "a number";
const LOOP_WITH_SIZE: &str = "a loop with a size, as in `i = 32`";
const NAME: &str = "a name";
const SIZES: &str = "sizes in brackets, as in `[n, m]`";
const STATEMENT: &str = "a statement of the body: a label, or a position as in `S1`";

fn unexpected(value: &Placed<Value>, expected: &[&str]) -> FaultAt {
    value.faulty(Fault::Unexpected {
        found: Some(value.it.to_string()),
        expected: expected.iter().map(|it| (*it).to_owned()).collect(),
    })
}

fn is_name(value: &Value, name: &str) -> bool {
    matches!(value, Value::Size(Size::Name(it)) if it == name)
}

/// `i/j` as a path of loops.
fn path_of(size: &Size) -> Option<LoopPath> {
    fn names(size: &Size, found: &mut Vec<String>) -> bool {
        match size {
            Size::Name(name) => {
                found.push(name.clone());
                true
            }
            Size::Quotient(sides) => {
                let [outer, inner] = &**sides;
                matches!(inner, Size::Name(_)) && names(outer, found) && names(inner, found)
            }
            _ => false,
        }
    }
    let mut found = Vec::new();
    names(size, &mut found).then(|| LoopPath::new(found))
}

impl Placed<Value> {
    pub(crate) fn path(&self) -> Read<LoopPath> {
        let path = match &self.it {
            Value::Size(size) => path_of(size),
            _ => None,
        };
        path.ok_or_else(|| unexpected(self, &[LOOP]))
    }

    /// That the argument that this belongs to is there twice.
    pub(crate) fn repeated(&self, name: &'static str) -> FaultAt {
        self.faulty(Fault::Repeated(name))
    }

    pub(crate) fn number(&self) -> Read<u64> {
        match self.it {
            Value::Size(Size::Integer(value)) => Ok(value),
            _ => Err(unexpected(self, &[NUMBER])),
        }
    }

    pub(crate) fn offset(&self) -> Read<i64> {
        let number = match &self.it {
            Value::Size(size) => size.as_integer(),
            _ => None,
        };
        number.ok_or_else(|| unexpected(self, &[NUMBER]))
    }

    pub(crate) fn size(&self) -> Read<Size> {
        match &self.it {
            Value::Size(size) => Ok(size.clone()),
            _ => Err(unexpected(self, &["a size, as in `n / 2`"])),
        }
    }

    pub(crate) fn word(&self) -> Read<String> {
        match &self.it {
            Value::Size(Size::Name(name)) => Ok(name.clone()),
            _ => Err(unexpected(self, &[NAME])),
        }
    }

    /// The name of a combiner, perhaps with a parameter.
    pub(crate) fn combiner(&self) -> Read<String> {
        match &self.it {
            Value::Size(Size::Name(name)) => Ok(name.clone()),
            Value::Call(name, parameters) => match parameters.as_slice() {
                [parameter] if parameter.is_word() => Ok(format!("{name}({parameter})")),
                _ => Err(unexpected(self, &["a combiner"])),
            },
            _ => Err(unexpected(self, &["a combiner"])),
        }
    }
}

impl Size {
    fn is_word(&self) -> bool {
        matches!(self, Self::Name(_)) || self.as_integer().is_some()
    }
}
