//! C functions: what they are given, and the text of the whole.

use super::expression::Expression;
use super::statement::{Block, write_block};
use std::fmt::{self, Display, Formatter};
use strew::ir::Type;

/// The length of an array in one dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    N,
    M,
    /// The product of the two.
    Both,
    Constant(u8),
}

impl Display for Extent {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::N => f.write_str("n"),
            Self::M => f.write_str("m"),
            Self::Both => f.write_str("n * m"),
            Self::Constant(length) => length.fmt(f),
        }
    }
}

/// What the elements of an array are good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Anything.
    Values,
    /// Subscripts below an extent.
    Keys(Extent),
    /// Where rows begin in an array of `m`, one more than there are rows.
    Rows,
}

/// What an array is to those who read the text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Form {
    /// With its extents behind the name.
    Shaped,
    /// A pointer.
    Pointer,
    /// The member of an array of structures: how that type is written, the member, and how many
    /// elements that has if it is an array.
    Member(String, String, Option<u8>),
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Array {
    /// How the type of the elements is written.
    pub(crate) spelling: &'static str,
    pub(crate) ty: Type,
    pub(crate) name: String,
    pub(crate) form: Form,
    pub(crate) extents: Vec<Extent>,
    pub(crate) role: Role,
    pub(crate) is_written: bool,
}

impl Array {
    /// The member with the dot before it, or nothing.
    pub(crate) fn member(&self) -> String {
        match &self.form {
            Form::Shaped | Form::Pointer => String::new(),
            Form::Member(_, member, _) => format!(".{member}"),
        }
    }
}

impl Display for Array {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let constant = if self.is_written { "" } else { "const " };
        let ty = match &self.form {
            Form::Pointer => return write!(f, "{constant}{} *{}", self.spelling, self.name),
            Form::Shaped => self.spelling,
            Form::Member(structure, ..) => structure,
        };
        write!(f, "{constant}{ty} {}", self.name)?;
        match self.role {
            Role::Rows => f.write_str("[n + 1]"),
            _ => self.extents.iter().try_for_each(|it| write!(f, "[{it}]")),
        }
    }
}

/// A number or an array of numbers in a structure.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Member {
    /// How the type is written.
    pub(crate) spelling: &'static str,
    pub(crate) ty: Type,
    /// With the structures inside of the structure before it.
    pub(crate) name: String,
    pub(crate) role: Role,
    /// Of an array.
    pub(crate) length: Option<u8>,
}

/// The type of structures.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Structure {
    /// How it is written.
    pub(crate) name: String,
    /// The declarations of its members.
    pub(crate) declarations: Vec<String>,
    pub(crate) members: Vec<Member>,
}

impl Display for Structure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {{", self.name)?;
        for declaration in &self.declarations {
            writeln!(f, "  {declaration};")?;
        }
        writeln!(f, "}};")
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Function {
    pub(crate) name: String,
    /// How the type of its value is written, and the type.
    pub(crate) result: Option<(&'static str, Type)>,
    /// Its value, where that is a structure.
    pub(crate) result_record: Option<Structure>,
    /// The types of `n` and `m`.
    pub(crate) sizes: [Type; 2],
    /// How the type is written, the type, and the name.
    pub(crate) scalars: Vec<(&'static str, Type, String)>,
    /// The structures that are passed by value: which, and the name.
    pub(crate) records: Vec<(Structure, String)>,
    pub(crate) arrays: Vec<Array>,
    pub(crate) body: Block,
    /// What the text needs before it: structures, constant arrays with their elements, and
    /// functions that it calls.
    pub(crate) structures: Vec<Structure>,
    pub(crate) tables: Vec<(Array, Vec<Expression>)>,
    pub(crate) helpers: Vec<Function>,
}

impl Function {
    fn write(&self, f: &mut Formatter<'_>, storage: &str) -> fmt::Result {
        let [n, m] = self.sizes.map(crate::c::c_type);
        let result = self.result.map_or("void", |it| it.0);
        let record = self.result_record.as_ref();
        let result = record.map_or(result, |it| it.name.as_str());
        write!(f, "{storage}{result} {}({n} n, {m} m", self.name)?;
        for (spelling, _, name) in &self.scalars {
            write!(f, ", {spelling} {name}")?;
        }
        for (structure, name) in &self.records {
            write!(f, ", {} {name}", structure.name)?;
        }
        for array in self.passed() {
            write!(f, ", {array}")?;
        }
        writeln!(f, ") {{")?;
        write_block(f, &self.body, 1)?;
        writeln!(f, "}}")
    }

    /// The helpers that stand in the text. What nobody calls is a kernel, and those neither take
    /// nor give structures.
    fn written_helpers(&self) -> Vec<&Self> {
        let mut found: Vec<&Self> = Vec::new();
        for helper in self.helpers.iter().rev() {
            let call = format!("{}(", helper.name);
            let later = found.iter().copied().chain([self]);
            let mut statements = later.flat_map(|it| &it.body);
            let is_plain = helper.records.is_empty() && helper.result_record.is_none();
            if is_plain || statements.any(|it| it.to_string().contains(&call)) {
                found.push(helper);
            }
        }
        found.reverse();
        found
    }

    /// The arrays that a caller passes: for all members of an array of structures the first of
    /// them.
    pub(crate) fn passed(&self) -> impl Iterator<Item = &Array> {
        let first = |(position, array): (usize, &Array)| {
            let before = &self.arrays[..position];
            before.iter().all(|it| it.name != array.name)
        };
        let arrays = self.arrays.iter().enumerate();
        arrays.filter(move |it| first(*it)).map(|it| it.1)
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for header in ["stdint", "math", "stdlib"] {
            writeln!(f, "#include <{header}.h>")?;
        }
        for structure in &self.structures {
            structure.fmt(f)?;
        }
        for (table, elements) in &self.tables {
            let elements: Vec<_> = elements.iter().map(ToString::to_string).collect();
            writeln!(f, "static {table} = {{{}}};", elements.join(", "))?;
        }
        for helper in self.written_helpers() {
            helper.write(f, "static ")?;
        }
        self.write(f, "")
    }
}
