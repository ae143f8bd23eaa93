//! MLIR as [`to_mlir`](super::to_mlir) prints it, read back as a kernel.
//!
//! Values are expressions until a statement takes them: what is printed as several operations
//! (divisions, conversions of floats, choices) is recognised from the last of them. Buffers,
//! scalars that change, and loops are found again in their operations.

mod buffer;
mod expression;
mod index;
mod size;
mod statement;
mod token;

use super::{symbol, type_name};
use crate::text;
use crate::{
    AffineExpr, ArrayId, BinaryOp, Block, Combiner, Condition, Expr, Forall, Kernel, Label,
    LocalId, Node, Parameter, Place, Private, ScalarId, Span,
};
use std::collections::HashMap;
use std::fmt;
use token::{Token, Tokens};

/// What in a text is not MLIR as strew prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadError {
    /// The part of the text that is meant.
    pub span: Span,
    message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ReadError {}

impl ReadError {
    fn new(span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { span, message }
    }
}

type Checked<T> = Result<T, ReadError>;

/// The kernel that `text` says, a module as [`to_mlir`](super::to_mlir) prints it. It is not
/// verified.
///
/// # Errors
/// The first part of the text that strew does not print so.
pub fn parse(text: &str) -> Result<Kernel, ReadError> {
    let mut tokens = Tokens::of(text)?;
    tokens.skip_aliases()?;
    tokens.expect("module")?;
    tokens.expect("{")?;
    while tokens.take("func.func") {
        if !tokens.take("private") {
            let kernel = Reader::function(&mut tokens)?;
            tokens.expect("}")?;
            return match tokens.peek() {
                None => Ok(kernel),
                Some(_) => Err(tokens.wanted("the end")),
            };
        }
        // A function of the C library.
        tokens.symbol()?;
        while tokens.peek().is_some() && !tokens.is("func.func") {
            tokens.next();
        }
    }
    Err(tokens.wanted("`func.func`"))
}

/// What a name stands for.
#[derive(Clone, Debug)]
enum Known {
    Expr(Expr),
    /// A number of type `index`, and what of a remainder it is, if anything.
    Index(AffineExpr, Division),
    /// The greatest or the least of several.
    Extreme(Vec<AffineExpr>),
    /// A scalar as an index.
    Wide(Expr),
    Condition(Condition),
    Conditions(Vec<Condition>),
    Array(ArrayId),
    /// A scalar that changes, which is not declared before it is set.
    Slot {
        name: String,
        is_element: bool,
        local: Option<LocalId>,
    },
    /// The buffers of all iterations.
    Rows(ArrayId),
    /// A quotient or remainder whose divisor was made safe.
    Divided(BinaryOp, Expr, Expr),
    /// A float as an integer, of which so many ends are handled.
    Saturated(usize, Expr),
    /// Whether an index is in range.
    InRange,
    /// What was read from memory that may have changed since.
    Stale,
}

/// What of `dividend - (dividend floordiv divisor) * divisor` an index is.
#[derive(Clone, Debug)]
enum Division {
    None,
    Quotient(AffineExpr, AffineExpr),
    Whole(AffineExpr, AffineExpr),
}

/// A reduction whose places are read and not yet set.
struct Pending {
    combiner: Combiner,
    span: Span,
    places: Vec<Place>,
    combined: Vec<Expr>,
}

struct Reader<'r, 't> {
    tokens: &'r mut Tokens<'t>,
    kernel: Kernel,
    known: HashMap<&'t str, Known>,
    /// The sizes that are still to be casted.
    sizes: Vec<ScalarId>,
    pending: Option<Pending>,
    /// Those of the statement that is being read.
    labels: Vec<String>,
    /// What the value that is being defined is called, if it has a name.
    called: Option<String>,
    /// Values that read memory as it is now.
    current: Vec<&'t str>,
    /// Of the next forall.
    privates: Vec<Private>,
    rows: Vec<&'t str>,
    /// What C declares in front of kernels.
    combiners: Vec<Combiner>,
}

impl<'t> Reader<'_, 't> {
    fn function(tokens: &mut Tokens<'t>) -> Checked<Kernel> {
        let span = tokens.here();
        let name = tokens.symbol()?;
        let mut parameters = Vec::new();
        tokens.expect("(")?;
        while !tokens.take(")") {
            let (value, span) = tokens.value()?;
            tokens.expect(":")?;
            let ty = match tokens.is("memref") {
                true => tokens.memref()?,
                false => (Vec::new(), tokens.word()?.0),
            };
            parameters.push((value, ty, span));
            tokens.take(",");
        }
        if tokens.take("->") {
            tokens.word()?;
        }
        tokens.expect("attributes")?;
        let attributes = tokens.attributes()?;
        let signature = attributes.iter().find(|(key, _)| *key == "strew.kernel");
        let (_, signature) = signature.ok_or_else(|| {
            ReadError::new(
                span,
                "this function has no attribute `strew.kernel`, which says its parameters",
            )
        })?;
        let views = attributes.iter().find(|(key, _)| *key == "strew.views");
        let views = views.map_or("", |(_, views)| views);
        let kernel = declared(signature, views, span)?;
        if symbol(&kernel.name) != name || kernel.params.len() != parameters.len() {
            return Err(ReadError::new(span, "`strew.kernel` says another function"));
        }
        let combiners = combiners(signature);
        let mut reader = Reader {
            tokens,
            kernel,
            known: HashMap::new(),
            sizes: Vec::new(),
            pending: None,
            labels: Vec::new(),
            called: None,
            current: Vec::new(),
            privates: Vec::new(),
            rows: Vec::new(),
            combiners,
        };
        for (position, (value, ty, span)) in parameters.into_iter().enumerate() {
            reader.parameter(position, value, ty, span)?;
        }
        reader.sizes.reverse();
        reader.tokens.expect("{")?;
        let (body, end) = reader.block()?;
        reader.tokens.expect("}")?;
        reader.kernel.body = body.into();
        reader.kernel.result = end;
        Ok(reader.kernel)
    }

    /// Something may be set here, so that what was read before is no longer what would be read.
    fn forget(&mut self) {
        for name in self.current.drain(..) {
            self.known.insert(name, Known::Stale);
        }
    }

    /// Whether what `known` stands for is read from memory.
    fn reads(&self, known: &Known) -> bool {
        match known {
            Known::Expr(expr) | Known::Wide(expr) | Known::Saturated(_, expr) => {
                self.reads_memory(expr)
            }
            Known::Divided(_, left, right) => self.reads_memory(left) || self.reads_memory(right),
            _ => false,
        }
    }

    fn reads_memory(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Load(_) => true,
            Expr::Local(local) => self.kernel.locals[*local].mutable,
            other => other.operands().iter().any(|it| self.reads_memory(it)),
        }
    }

    /// Gives the labels that were read to the statement at `span`.
    fn label(&mut self, span: Span) {
        let labels = std::mem::take(&mut self.labels).into_iter();
        let labels = labels.map(|name| Label { name, span });
        self.kernel.labels.extend(labels);
    }

    fn parameter(
        &mut self,
        position: usize,
        value: &'t str,
        (dimensions, element): (Vec<Option<i64>>, &str),
        span: Span,
    ) -> Checked<()> {
        let (expected, known) = match self.kernel.params.get(position) {
            Some(Parameter::Scalar(id)) => {
                let scalar = &self.kernel.scalars[*id];
                if scalar.ty.is_integer() {
                    self.sizes.push(*id);
                }
                let known = Known::Expr(Expr::Param(*id));
                ((0, type_name(scalar.ty)), known)
            }
            Some(Parameter::Array(id)) => {
                let array = &self.kernel.arrays[*id];
                let shape = (array.extents.len(), type_name(array.element));
                (shape, Known::Array(*id))
            }
            Some(Parameter::Record(_)) | None => {
                return Err(ReadError::new(span, "`strew.kernel` says other parameters"));
            }
        };
        if expected != (dimensions.len(), element) {
            let why = format!("`strew.kernel` says another parameter than `%{value}`");
            return Err(ReadError::new(span, why));
        }
        self.known.insert(value, known);
        Ok(())
    }
}

/// The kernel without statements that `signature` and `views` say.
fn declared(signature: &str, views: &str, span: Span) -> Checked<Kernel> {
    let head = format!("{} {{\n{}\n", unquoted(signature), unquoted(views));
    // What it returns stands in front of the block, so it has to return something.
    let parsed = text::parse(&format!("{head}}}\n")).or_else(|errors| {
        let (_, ty) = signature.rsplit_once("-> ").ok_or(errors)?;
        let value = match ty.trim() {
            "f32" | "f64" => "0.0",
            "bool" => "false",
            _ => "0",
        };
        text::parse(&format!("{head} return {value}\n}}\n"))
    });
    match parsed.map(|mut kernels| (kernels.pop(), kernels.len())) {
        Ok((Some(kernel), 0)) => Ok(Kernel {
            result: None,
            ..kernel
        }),
        _ => Err(ReadError::new(span, "`strew.kernel` does not say a kernel")),
    }
}

/// The combiners that are declared in front of a kernel.
fn combiners(signature: &str) -> Vec<Combiner> {
    let text = unquoted(signature);
    let mut found = Vec::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("reduction @") else {
            continue;
        };
        let name = rest.split('(').next().unwrap_or_default();
        let ty = rest.split([':', ')']).nth(1).unwrap_or_default().trim();
        let trial = format!(
            "{line}\nkernel @k(a: {ty}[1], b: {ty}[1]) {{\n a[0] reduce({name}) b[0]\n}}\n"
        );
        let parsed = text::parse(&trial).ok().and_then(|mut it| it.pop());
        if let Some(Node::Reduce { combiner, .. }) = parsed.and_then(|mut it| it.body.pop()) {
            found.push(combiner);
        }
    }
    found
}

/// What the attributes say that something is called.
fn name_of(attributes: &token::Attributes<'_>) -> Option<String> {
    let mut found = attributes.iter().filter(|(key, _)| *key == "strew.name");
    found.next().map(|(_, name)| unquoted(name))
}

/// The labels among attributes.
fn labels(attributes: &token::Attributes<'_>) -> Vec<String> {
    let found = attributes.iter().find(|(key, _)| *key == "strew.labels");
    let found = found.map_or_else(String::new, |(_, labels)| unquoted(labels));
    found.lines().map(str::to_owned).collect()
}

/// Text that MLIR has in quotes.
fn unquoted(text: &str) -> String {
    text.replace("\\0A", "\n")
        .replace("\\22", "\"")
        .replace("\\5C", "\\")
}

/// What is merged into what, once the body is there.
fn forall(
    iter: crate::IterId,
    count: AffineExpr,
    privates: Vec<Private>,
    strategy: String,
) -> Forall {
    Forall {
        iter,
        count,
        privates,
        disjoint: Vec::new(),
        strategy,
        body: Block::default(),
    }
}
