use crate::{AffineExpr, Block, Condition, Expr, Node, Relation, Span, Type, Variable, View};
use la_arena::{Arena, Idx};
use std::collections::HashSet;

/// A loop's iterator.
pub type IterId = Idx<Iter>;
/// A scalar parameter.
pub type ScalarId = Idx<Scalar>;
/// An array: a parameter, a private buffer or a local array.
pub type ArrayId = Idx<Array>;
/// A record parameter.
pub type RecordId = Idx<Record>;
/// A view of an array parameter.
pub type ViewId = Idx<View>;
/// A `let` or a mutable scalar.
pub type LocalId = Idx<Local>;

/// One function: what it takes and what it does.
///
/// All names of a kernel (parameters, arrays, iterators, locals) are different from each other.
#[derive(Debug, PartialEq)]
pub struct Kernel {
    /// The name, without the `@` that the text puts before it.
    pub name: String,
    /// Where the name stands in the source.
    pub span: Span,
    /// The parameters in the order of a call.
    pub params: Vec<Parameter>,
    /// The scalar parameters.
    pub scalars: Arena<Scalar>,
    /// The record parameters.
    pub records: Arena<Record>,
    /// Array parameters, fields of record parameters, private buffers of foralls, and local arrays.
    pub arrays: Arena<Array>,
    /// The views of array parameters that the text shows; accesses are of arrays.
    pub views: Arena<View>,
    /// The iterators of all loops.
    pub iters: Arena<Iter>,
    /// The `let` values and mutable scalars.
    pub locals: Arena<Local>,
    /// The labels of statements, which schedules can name them by; mostly none.
    pub labels: Vec<Label>,
    /// What the kernel relies on, over parameters alone. When one of these does not hold, a call
    /// ends before anything happens.
    pub assumptions: Vec<Condition>,
    /// What runs.
    pub body: Block,
    /// What a call returns: computed behind the body, where the locals and local arrays of its
    /// outermost block are visible.
    pub result: Option<Expr>,
    /// Where that stands in the source; where the name does if there is none.
    pub result_span: Span,
}

/// A label in front of a statement that is no loop: those have theirs in [`Iter::labels`]. It goes
/// with the statement wherever a step takes that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The label.
    pub name: String,
    /// The statement in the source, without the label.
    pub span: Span,
}

/// One parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Parameter {
    /// A value.
    Scalar(ScalarId),
    /// An array, borrowed from the caller. Distinct array parameters never overlap.
    Array(ArrayId),
    /// An array of records, borrowed likewise: each of its fields is an array.
    Record(RecordId),
}

/// A scalar parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Scalar {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// A size that no caller passes: an `i64` that is found from the length of an array, which has
    /// it as an extent.
    pub inferred: bool,
    /// Where it is declared.
    pub span: Span,
}

/// An array, stored row by row.
#[derive(Clone, Debug, PartialEq)]
pub struct Array {
    /// Its name.
    pub name: String,
    /// The type of its elements.
    pub element: Type,
    /// The number of elements in each dimension, outermost first, over parameters alone; at least
    /// one dimension.
    pub extents: Vec<AffineExpr>,
    /// The inferred size that says how many elements a caller passes, where these are not all that
    /// the extents speak of: they are the first ones. A call with fewer is refused.
    pub length: Option<ScalarId>,
    /// Where it lies, when it is a field of a record parameter; else its elements follow each
    /// other.
    pub field: Option<Field>,
    /// Where it is declared.
    pub span: Span,
}

/// An array of records, of which every field is an array of its own: as fields never overlap, they
/// are different arrays for everything that is said about accesses.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its name.
    pub name: String,
    /// The distance in bytes from one record to the next.
    pub bytes: u32,
    /// The fields, each an array called `record.field` with the extents of the records and, behind
    /// them, its own; at least one.
    pub fields: Vec<ArrayId>,
    /// Where it is declared.
    pub span: Span,
}

/// Where the elements of an array lie that is a field of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The record.
    pub record: RecordId,
    /// The distance in bytes from the beginning of a record to the field: a multiple of the size of
    /// its type.
    pub offset: u32,
    /// How many of the last extents are those of the field itself: in every record its elements
    /// follow each other.
    pub own_dimensions: usize,
}

impl Array {
    /// The extents of the records and, behind them, those that the field has in every record; of an
    /// array that is no field, all and none.
    pub fn split_extents(&self) -> (&[AffineExpr], &[AffineExpr]) {
        let own = self.field.map_or(0, |it| it.own_dimensions);
        let records = self.extents.len().saturating_sub(own);
        self.extents.split_at(records)
    }

    /// How many elements there are, where all extents are numbers and so many can be counted.
    pub fn known_elements(&self) -> Option<u64> {
        let mut extents = self.extents.iter();
        extents.try_fold(1_u64, |elements, extent| {
            elements.checked_mul(u64::try_from(extent.as_constant()?).ok()?)
        })
    }

    /// Whether a caller may pass `found` elements where the extents speak of `expected`.
    pub fn takes<T: PartialOrd>(&self, found: T, expected: T) -> bool {
        found == expected || self.length.is_some() && found > expected
    }

    /// How many elements of a field each record has; 1 for an array that is no field.
    pub fn elements_per_record(&self) -> u64 {
        let (_, own) = self.split_extents();
        let lengths = own.iter().map(|it| it.as_constant().unwrap_or(0));
        lengths.fold(1, |all, it| {
            all.saturating_mul(u64::try_from(it).unwrap_or(0))
        })
    }
}

/// An iterator.
#[derive(Clone, Debug, PartialEq)]
pub struct Iter {
    /// Its name.
    pub name: String,
    /// The labels of its loop, which schedules can name it by; mostly none.
    pub labels: Vec<String>,
    /// Where its loop stands.
    pub span: Span,
}

/// A scalar that lives inside the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// `var` (can be set again) rather than `let`.
    pub mutable: bool,
    /// Stands for the element that it is declared with: what is done to it counts as done to that
    /// one, and to put it back there counts for nothing.
    pub is_element: bool,
    /// Where it is declared.
    pub span: Span,
}

/// The clone shares its [blocks](Block) with this kernel until one of them is written.
impl Clone for Kernel {
    fn clone(&self) -> Self {
        Self {
            name: self.name.clone(),
            span: self.span,
            params: self.params.clone(),
            scalars: self.scalars.clone(),
            records: self.records.clone(),
            arrays: self.arrays.clone(),
            views: self.views.clone(),
            iters: self.iters.clone(),
            locals: self.locals.clone(),
            labels: self.labels.clone(),
            assumptions: self.assumptions.clone(),
            body: self.body.shared(),
            result: self.result.clone(),
            result_span: self.result_span,
        }
    }
}

impl Kernel {
    /// Whether `left` and `right` are equal whenever the assumptions hold, as far as their form
    /// shows.
    pub fn assumes_equal(&self, left: &AffineExpr, right: &AffineExpr) -> bool {
        left == right
            || left.minus(right).is_ok_and(|difference| {
                let opposite = difference.scaled(-1);
                let mut assumptions = self.assumptions.iter();
                assumptions.any(|it| {
                    let sides = it.right.minus(&it.left);
                    it.relation == Relation::Equal
                        && sides.is_ok_and(|it| it == difference || Ok(it) == opposite)
                })
            })
    }

    /// The labels of `node`, an assignment, an update or a declaration, the first in the source
    /// first.
    pub fn labels_of(&self, node: &Node) -> impl Iterator<Item = &str> {
        let span = match node {
            Node::Assign { span, .. } | Node::Reduce { span, .. } => Some(*span),
            Node::Declare { local, .. } => Some(self.locals[*local].span),
            _ => None,
        };
        let of_node = move |it: &&Label| span.is_some_and(|span| it.span.contains(span));
        self.labels
            .iter()
            .filter(of_node)
            .map(|it| it.name.as_str())
    }

    /// A kernel without parameters that does nothing.
    pub fn new(name: impl Into<String>, span: Span) -> Self {
        Self {
            name: name.into(),
            span,
            params: Vec::new(),
            scalars: Arena::new(),
            records: Arena::new(),
            arrays: Arena::new(),
            views: Arena::new(),
            iters: Arena::new(),
            locals: Arena::new(),
            labels: Vec::new(),
            assumptions: Vec::new(),
            body: Block::default(),
            result: None,
            result_span: span,
        }
    }

    /// The first assumption that does not hold when the integer parameters have these values. One
    /// whose sides cannot be computed in 64 bits, or whose parameters do not fit into an `i64`,
    /// does not hold.
    pub fn broken_assumption(&self, value: &dyn Fn(ScalarId) -> Option<i64>) -> Option<&Condition> {
        let value_of = |variable| match variable {
            Variable::Param(scalar) => value(scalar),
            Variable::Iter(_) => None,
        };
        let mut assumptions = self.assumptions.iter();
        assumptions.find(|condition| condition.holds(&value_of) != Ok(true))
    }

    /// The type of the value that a call returns.
    pub fn result_type(&self) -> Option<Type> {
        self.result.as_ref().map(|result| result.ty(self))
    }

    /// The arrays that come from the caller, in the order of a call: array parameters and the
    /// fields of record parameters.
    pub fn array_params(&self) -> impl Iterator<Item = ArrayId> + '_ {
        let arrays = self.params.iter().flat_map(|param| match param {
            Parameter::Array(array) => std::slice::from_ref(array),
            Parameter::Record(record) => &self.records[*record].fields,
            Parameter::Scalar(_) => &[],
        });
        arrays.copied()
    }

    /// The name of a field without that of its record.
    pub fn field_name(&self, field: ArrayId) -> &str {
        let array = &self.arrays[field];
        let of_record = array.field.and_then(|it| {
            let rest = array.name.strip_prefix(&self.records[it.record].name)?;
            rest.strip_prefix('.')
        });
        of_record.unwrap_or(&array.name)
    }

    /// How many bytes lie between the beginnings of two records that follow each other, when
    /// `array` is a field of them; else of two elements.
    pub fn stride_bytes(&self, array: ArrayId) -> u32 {
        let array = &self.arrays[array];
        let of_record = array.field.map(|it| self.records[it.record].bytes);
        of_record.unwrap_or(array.element.bytes())
    }

    /// Whether `name` names anything in the kernel.
    pub fn is_taken(&self, name: &str) -> bool {
        self.names().any(|it| it == name)
    }

    /// The names of everything in the kernel, those among them that nothing uses any more.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let scalars = self.scalars.values().map(|it| &it.name);
        let records = self.records.values().map(|it| &it.name);
        let arrays = self.arrays.values().map(|it| &it.name);
        let views = self.views.values().map(|it| &it.name);
        let iters = self.iters.values().map(|it| &it.name);
        let locals = self.locals.values().map(|it| &it.name);
        let parameters = scalars.chain(records).chain(arrays).chain(views);
        parameters.chain(iters).chain(locals).map(String::as_str)
    }

    /// `base` if it is free, else `base` with the smallest number behind it that makes it so.
    pub fn fresh_name(&self, base: &str) -> String {
        if !self.is_taken(base) {
            return base.to_owned();
        }
        let numbered = self.names().filter_map(|name| {
            let number = name.strip_prefix(base)?.strip_prefix('_')?;
            let is_written_so = !number.starts_with(['0', '+']);
            is_written_so.then(|| number.parse::<u64>().ok())?
        });
        let taken: HashSet<u64> = numbered.collect();
        let free = (2..).find(|number| !taken.contains(number));
        format!("{base}_{}", free.unwrap_or_default())
    }
}
