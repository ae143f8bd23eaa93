//! A kernel as MLIR: `func`, `affine`, `scf`, `memref`, `arith`, `math`, `linalg` and `cf`.
//!
//! What MLIR has no word for stands in attributes whose names begin with `strew.`, so that
//! [`parse`] reads the same kernel back: the parameters as the kernel has them, types without
//! signs, the statements that are reductions, names, labels and views. Tools of MLIR keep
//! attributes, and rename values.
//!
//! Loops, conditions and accesses that are affine in MLIR's sense stay in the `affine` dialect;
//! those over products of variables, or inside of loops of `scf`, are calculated. Private buffers
//! of a forall are rows of one buffer, which a `linalg.reduce` merges behind it, so that no two
//! iterations write to one place. What the kernel checks (indices read from memory, divisors,
//! assumptions) are assertions; affine subscripts are taken to be in range, as they are once a call
//! has checked its sizes.

mod expression;
mod forall;
mod index;
mod node;
mod read;

use crate::verify::Verified;
use crate::visit::Loop;
use crate::{ArrayId, IterId, Kernel, LocalId, Node, Overflow, Parameter, ScalarId, Type, text};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt::{self, Write as _};

pub use read::{ReadError, parse};

/// What of a kernel has no counterpart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unsupported {
    /// An array of records.
    Records {
        /// The parameter.
        name: String,
    },
    /// A function of the host program.
    Host,
    /// A combiner that is not defined for its types, or has no identity there.
    Combiner {
        /// The combiner.
        name: String,
    },
    /// A check that no element is written twice.
    Disjoint,
    /// A number beyond 64 bits.
    Overflow,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Records { name } => write!(
                f,
                "`{name}` is an array of structs, which MLIR has no type for"
            ),
            Self::Host => {
                f.write_str("a combiner is a function of the host program, which text cannot name")
            }
            Self::Combiner { name } => {
                write!(f, "the combiner `{name}` has no identity for these types")
            }
            Self::Disjoint => {
                f.write_str("checks that no element is written twice are not written as MLIR")
            }
            Self::Overflow => {
                f.write_str("an affine expression leaves the range of 64-bit integers")
            }
        }
    }
}

impl std::error::Error for Unsupported {}

impl From<Overflow> for Unsupported {
    fn from(_: Overflow) -> Self {
        Self::Overflow
    }
}

/// The kernel as an MLIR module of one function, whose parameters are those of the kernel in their
/// order.
///
/// # Errors
/// What has no counterpart in MLIR.
pub fn to_mlir(kernel: &Verified) -> Result<String, Unsupported> {
    let mut emitter = Emitter::new(kernel);
    emitter.function()?;
    Ok(emitter.module())
}

/// An SSA value and what it is in the kernel.
#[derive(Clone, Debug)]
struct Typed {
    name: String,
    ty: Type,
}

/// Where a local lives.
#[derive(Clone, Debug)]
enum Slot {
    Value(Typed),
    Memory(Typed),
}

/// A buffer of elements.
#[derive(Clone, Debug)]
struct Memref {
    name: String,
    /// With the layout.
    ty: String,
}

struct Emitter<'k> {
    kernel: &'k Kernel,
    text: String,
    depth: usize,
    next: usize,
    /// As they are passed.
    scalars: HashMap<ScalarId, Typed>,
    /// As numbers of type `index`.
    sizes: HashMap<ScalarId, String>,
    arrays: HashMap<ArrayId, Memref>,
    iters: HashMap<IterId, String>,
    /// The iterators that the `affine` dialect takes in its expressions.
    dimensions: HashSet<IterId>,
    locals: HashMap<LocalId, Slot>,
    /// What the operands of a combiner stand for.
    held: Vec<Typed>,
    incoming: Vec<Typed>,
    /// Functions of the C library, by their declarations.
    declared: BTreeSet<String>,
    names: BTreeMap<String, usize>,
}

impl<'k> Emitter<'k> {
    fn new(kernel: &'k Kernel) -> Self {
        Self {
            kernel,
            text: String::new(),
            depth: 1,
            next: 0,
            scalars: HashMap::new(),
            sizes: HashMap::new(),
            arrays: HashMap::new(),
            iters: HashMap::new(),
            dimensions: HashSet::new(),
            locals: HashMap::new(),
            held: Vec::new(),
            incoming: Vec::new(),
            declared: BTreeSet::new(),
            names: BTreeMap::new(),
        }
    }

    fn module(self) -> String {
        let declared: String = self.declared.iter().map(|it| format!("  {it}\n")).collect();
        format!("module {{\n{declared}{}}}\n", self.text)
    }

    fn function(&mut self) -> Result<(), Unsupported> {
        let kernel = self.kernel;
        let mut params = Vec::new();
        for param in &kernel.params {
            params.push(self.param(*param)?);
        }
        let result = match kernel.result_type() {
            Some(ty) => format!(" -> {}", type_name(ty)),
            None => String::new(),
        };
        let (name, params) = (symbol(&kernel.name), params.join(", "));
        let known = quoted(&signature(kernel));
        let views = match text::view_lines(kernel) {
            views if views.is_empty() => String::new(),
            views => format!(", strew.views = {}", quoted(&views)),
        };
        self.line(&format!(
            "func.func @{name}({params}){result} attributes {{strew.kernel = {known}{views}}} {{"
        ));
        self.depth += 1;
        self.sizes();
        for condition in &kernel.assumptions {
            let holds = self.condition(condition)?;
            self.line(&format!(
                "cf.assert {holds}, \"an assumption does not hold\""
            ));
        }
        self.slots(&kernel.body);
        self.block(&kernel.body)?;
        match &kernel.result {
            Some(result) => {
                let value = self.expr(result)?;
                self.line(&format!("return {} : {}", value.name, type_name(value.ty)));
            }
            None => self.line("return"),
        }
        self.depth -= 1;
        self.line("}");
        Ok(())
    }

    fn param(&mut self, param: Parameter) -> Result<String, Unsupported> {
        let kernel = self.kernel;
        match param {
            Parameter::Scalar(scalar) => {
                let ty = kernel.scalars[scalar].ty;
                let name = self.named(&kernel.scalars[scalar].name);
                let text = format!("{name}: {}", type_name(ty));
                self.scalars.insert(scalar, Typed { name, ty });
                Ok(text)
            }
            Parameter::Array(array) => {
                let name = self.named(&kernel.arrays[array].name);
                let ty = memref(
                    kernel.arrays[array].extents.len(),
                    kernel.arrays[array].element,
                );
                let text = format!("{name}: {ty}");
                self.arrays.insert(array, Memref { name, ty });
                Ok(text)
            }
            Parameter::Record(record) => Err(Unsupported::Records {
                name: kernel.records[record].name.clone(),
            }),
        }
    }

    /// Sizes are casted at the top of the function, where the `affine` dialect takes them as
    /// symbols.
    fn sizes(&mut self) {
        let scalars: Vec<_> = self.kernel.scalars.iter().map(|(id, _)| id).collect();
        for id in scalars {
            let Some(scalar) = self.scalars.get(&id).cloned() else {
                continue;
            };
            if scalar.ty.is_integer() && scalar.ty != Type::Bool {
                let index = self.cast_to_index(&scalar);
                self.sizes.insert(id, index);
            }
        }
    }

    fn line(&mut self, line: &str) {
        // Writing to a `String` does not fail.
        let _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * self.depth);
    }

    /// A line that defines a value; returns its name.
    fn define(&mut self, operation: &str) -> String {
        let name = format!("%{}", self.next);
        self.next += 1;
        self.line(&format!("{name} = {operation}"));
        name
    }

    fn typed(&mut self, ty: Type, operation: &str) -> Typed {
        let name = self.define(operation);
        Typed { name, ty }
    }

    /// A name of its own that begins as `name`.
    fn named(&mut self, name: &str) -> String {
        let name = symbol(name);
        let count = self.names.entry(name.clone()).or_default();
        *count += 1;
        match *count {
            1 => format!("%{name}"),
            count => format!("%{name}${count}"),
        }
    }
}

/// What stands in front of the body of the kernel in its text, but for what it assumes.
fn signature(kernel: &Kernel) -> String {
    let mut head = kernel.clone();
    head.assumptions.clear();
    head.views = Default::default();
    let text = head.to_string();
    let mut lines = text.lines();
    let (mut found, mut all) = (false, Vec::new());
    while let Some(line) = lines.next().filter(|_| !found) {
        found = line.starts_with("kernel ");
        all.push(line.trim_end_matches(" {"));
    }
    all.join("\n")
}

/// The attribute with what something is called in the kernel: `mlir-opt` gives values names of its
/// own.
fn named(name: &str) -> String {
    format!("strew.name = {}", quoted(name))
}

/// The attribute with the labels of `node`, if it has some.
fn labels(kernel: &Kernel, node: &Node) -> Option<String> {
    let of_loop = Loop::of(node).map(|it| &kernel.iters[it.iter()].labels);
    let of_loop = of_loop.into_iter().flatten().map(String::as_str);
    let labels: Vec<_> = of_loop.chain(kernel.labels_of(node)).collect();
    let text = quoted(&labels.join("\n"));
    (!labels.is_empty()).then(|| format!("strew.labels = {text}"))
}

/// Attributes in braces, with a space in front; nothing where there are none.
fn attributes(all: impl IntoIterator<Item = String>) -> String {
    let all: Vec<_> = all.into_iter().collect();
    match all.is_empty() {
        true => String::new(),
        false => format!(" {{{}}}", all.join(", ")),
    }
}

/// `text` as MLIR writes it.
fn quoted(text: &str) -> String {
    let text = text.replace('\\', "\\5C").replace('"', "\\22");
    format!("\"{}\"", text.replace('\n', "\\0A"))
}

/// What an operation says about a number whose type MLIR does not tell from another.
fn unsigned(ty: Type) -> String {
    match ty {
        Type::U8 | Type::U16 | Type::U32 | Type::U64 => format!(" {{strew.type = \"{ty}\"}}"),
        _ => String::new(),
    }
}

/// `name` with what MLIR does not take in names replaced, and not a number.
fn symbol(name: &str) -> String {
    let is_taken = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let letters = name.chars().map(|it| if is_taken(it) { it } else { '_' });
    let name: String = letters.collect();
    match name.starts_with(|it: char| it.is_ascii_digit()) || name.is_empty() {
        true => format!("_{name}"),
        false => name,
    }
}

fn type_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "i1",
        Type::I8 | Type::U8 => "i8",
        Type::I16 | Type::U16 => "i16",
        Type::I32 | Type::U32 => "i32",
        Type::I64 | Type::U64 => "i64",
        Type::F32 => "f32",
        Type::F64 => "f64",
    }
}

/// The type of a buffer with so many dimensions.
fn memref(rank: usize, element: Type) -> String {
    format!("memref<{}{}>", "?x".repeat(rank), type_name(element))
}
