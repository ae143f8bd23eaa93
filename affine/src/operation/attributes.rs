//! The attributes of an instruction, read as what the operation expects of them.

use super::error::{ModuleError, ModuleErrorKind};
use super::text::tree::{Attribute, Tree, TreeKind, Word};
use crate::Span;

/// A number with its place.
pub(super) type Number = (i64, Span);

/// The attributes of one instruction. Those that nobody asks for are not looked at.
pub(super) struct Attributes<'t, 's> {
    operation: &'t str,
    /// The name of the operation, where a missing attribute is reported.
    span: Span,
    list: &'t [Attribute<'s>],
}

/// `start:limit:stride` along one dimension, the stride from 1.
#[derive(Clone, Copy, Debug)]
pub(super) struct SliceRange {
    pub(super) start: i64,
    pub(super) limit: i64,
    pub(super) stride: i64,
    pub(super) span: Span,
}

/// `low_high_interior` along one dimension; what is inside is never negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Padding {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) interior: i64,
}

/// One dimension of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct WindowDimension {
    pub(super) size: i64,
    pub(super) stride: i64,
    pub(super) low: i64,
    pub(super) high: i64,
    /// One more than the number of holes between two elements of what the window moves over.
    pub(super) base_dilation: i64,
    /// One more than the number of holes between two elements of the window.
    pub(super) window_dilation: i64,
    pub(super) is_reversed: bool,
}

/// The two or three lists of `dim_labels`: a letter or the number of a spatial dimension for each
/// dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Labels<'s> {
    pub(super) input: &'s str,
    pub(super) kernel: &'s str,
    pub(super) output: &'s str,
    pub(super) span: Span,
}

const PADDING_EXAMPLE: &str = "padding=0_1x2_2_1";
const WINDOW_EXAMPLE: &str =
    "window={size=3x3 stride=1x2 pad=0_1x1_1 lhs_dilate=1x2 rhs_dilate=2x1 rhs_reversal=0x1}";
const LABELS_EXAMPLE: &str = "dim_labels=b01f_01io->b01f";

impl<'t, 's> Attributes<'t, 's> {
    pub(super) fn new(operation: Word<'t>, list: &'t [Attribute<'s>]) -> Self {
        Self {
            operation: operation.text,
            span: operation.span,
            list,
        }
    }

    fn find(&self, name: &str) -> Option<&'t Attribute<'s>> {
        self.list.iter().find(|it| it.name.text == name)
    }

    pub(super) fn missing(&self, attribute: &'static str, example: &'static str) -> ModuleError {
        let operation = self.operation.to_owned();
        ModuleErrorKind::MissingAttribute {
            operation,
            attribute,
            example,
        }
        .at(self.span)
    }

    fn required<T>(
        &self,
        found: Option<T>,
        attribute: &'static str,
        example: &'static str,
    ) -> Result<T, ModuleError> {
        found.ok_or_else(|| self.missing(attribute, example))
    }

    /// Where the value of `name` stands; the operation's name without one.
    pub(super) fn span_of(&self, name: &str) -> Span {
        self.find(name).map_or(self.span, value_span)
    }

    /// `name={1,2}`.
    pub(super) fn numbers(&self, name: &str) -> Result<Option<Vec<Number>>, ModuleError> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        match attribute.value.as_slice() {
            [
                Tree {
                    kind: TreeKind::Group('{', inner),
                    ..
                },
            ] => {
                let numbers = inner.split(is_comma).filter(|it| !it.is_empty());
                let numbers = numbers.map(|it| {
                    number(it).ok_or_else(|| {
                        malformed(attribute, "dimensions={0,2}").at(value_span(attribute))
                    })
                });
                numbers.collect::<Result<_, _>>().map(Some)
            }
            _ => Err(malformed(attribute, "dimensions={0,2}").at(value_span(attribute))),
        }
    }

    /// `name={1,2}`, which is needed.
    pub(super) fn required_numbers(
        &self,
        name: &'static str,
        example: &'static str,
    ) -> Result<Vec<Number>, ModuleError> {
        self.required(self.numbers(name)?, name, example)
    }

    /// `name={1,2}` as different dimensions below `rank`; none without it.
    pub(super) fn dimensions(
        &self,
        name: &'static str,
        rank: usize,
    ) -> Result<Vec<usize>, ModuleError> {
        different_dimensions(name, &self.numbers(name)?.unwrap_or_default(), rank)
    }

    /// `name={1,2}` as different dimensions below `rank`, which is needed.
    pub(super) fn required_dimensions(
        &self,
        name: &'static str,
        example: &'static str,
        rank: usize,
    ) -> Result<Vec<usize>, ModuleError> {
        different_dimensions(name, &self.required_numbers(name, example)?, rank)
    }

    /// `name=3`.
    pub(super) fn number(&self, name: &str) -> Result<Option<Number>, ModuleError> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        let found = number(&attribute.value);
        let found = found
            .ok_or_else(|| malformed(attribute, "index_vector_dim=1").at(value_span(attribute)));
        found.map(Some)
    }

    /// `name=word`.
    pub(super) fn word(&self, name: &str) -> Result<Option<Word<'s>>, ModuleError> {
        let Some(attribute) = self.find(name) else {
            return Ok(None);
        };
        match attribute.value.as_slice() {
            [
                Tree {
                    kind: TreeKind::Word(text),
                    span,
                },
            ] => Ok(Some(Word { text, span: *span })),
            _ => Err(malformed(attribute, "calls=f").at(value_span(attribute))),
        }
    }

    /// `slice={[5:10:1], [0:50:2]}`.
    pub(super) fn slices(&self) -> Result<Vec<SliceRange>, ModuleError> {
        let example = "slice={[5:10:1], [0:50:2]}";
        let attribute = self.required(self.find("slice"), "slice", example)?;
        let bad = || malformed(attribute, example).at(value_span(attribute));
        let [
            Tree {
                kind: TreeKind::Group('{', inner),
                ..
            },
        ] = attribute.value.as_slice()
        else {
            return Err(bad());
        };
        let parts = inner.split(is_comma).filter(|it| !it.is_empty());
        parts
            .map(|part| slice_range(part).ok_or_else(bad))
            .collect()
    }

    /// `padding=1_4_1x4_8_0`, for an array of `rank` dimensions.
    pub(super) fn padding(&self, rank: usize) -> Result<Vec<Padding>, ModuleError> {
        let found = self.word("padding")?;
        if rank == 0 && found.is_none() {
            return Ok(Vec::new());
        }
        let word = self.required(found, "padding", PADDING_EXAMPLE)?;
        let parts: Option<Vec<_>> = split_dimensions(word.text).map(padding).collect();
        let parts = parts.ok_or_else(|| bad_word("padding", PADDING_EXAMPLE).at(word.span))?;
        same_length("padding", parts.len(), rank, "dimensions", word.span)?;
        Ok(parts)
    }

    /// `window={size=3x3 stride=2x2 …}`, none without it.
    pub(super) fn window(&self) -> Result<Vec<WindowDimension>, ModuleError> {
        let Some(attribute) = self.find("window") else {
            return Ok(Vec::new());
        };
        let bad = || malformed(attribute, WINDOW_EXAMPLE).at(value_span(attribute));
        match attribute.value.as_slice() {
            [
                Tree {
                    kind: TreeKind::Group('{', inner),
                    ..
                },
            ] => window(inner).ok_or_else(bad),
            _ => Err(bad()),
        }
    }

    /// `dim_labels=b01f_01io->b01f`.
    pub(super) fn labels(&self) -> Result<Labels<'s>, ModuleError> {
        let found = self.find("dim_labels");
        let attribute = self.required(found, "dim_labels", LABELS_EXAMPLE)?;
        let span = value_span(attribute);
        let bad = || malformed(attribute, LABELS_EXAMPLE).at(span);
        let [
            Tree {
                kind: TreeKind::Word(operands),
                ..
            },
            Tree {
                kind: TreeKind::Mark("->"),
                ..
            },
            Tree {
                kind: TreeKind::Word(output),
                ..
            },
        ] = attribute.value.as_slice()
        else {
            return Err(bad());
        };
        let (input, kernel) = operands.split_once('_').ok_or_else(bad)?;
        Ok(Labels {
            input,
            kernel,
            output,
            span,
        })
    }
}

/// Refuses a list of another length than `expected`.
pub(super) fn same_length(
    attribute: &'static str,
    found: usize,
    expected: usize,
    what: &'static str,
    span: Span,
) -> Result<(), ModuleError> {
    if found == expected {
        return Ok(());
    }
    Err(ModuleErrorKind::ListLength {
        attribute,
        found,
        expected,
        what,
    }
    .at(span))
}

/// The numbers as dimensions below `rank`, none twice.
pub(super) fn different_dimensions(
    attribute: &'static str,
    numbers: &[Number],
    rank: usize,
) -> Result<Vec<usize>, ModuleError> {
    let mut seen = vec![false; rank];
    let mut dimensions = Vec::with_capacity(numbers.len());
    for (found, span) in numbers {
        let dimension = usize::try_from(*found).unwrap_or(usize::MAX);
        match seen.get_mut(dimension) {
            Some(seen) if !*seen => *seen = true,
            _ => {
                return Err(ModuleErrorKind::BadDimension {
                    attribute,
                    found: *found,
                    rank,
                }
                .at(*span));
            }
        }
        dimensions.push(dimension);
    }
    Ok(dimensions)
}

fn value_span(attribute: &Attribute<'_>) -> Span {
    let spans = attribute.value.iter().map(|it| it.span);
    spans.reduce(Span::to).unwrap_or(attribute.name.span)
}

fn malformed(attribute: &Attribute<'_>, example: &'static str) -> ModuleErrorKind {
    bad_word(attribute.name.text, example)
}

fn bad_word(attribute: &str, example: &'static str) -> ModuleErrorKind {
    ModuleErrorKind::Malformed {
        attribute: attribute.to_owned(),
        example,
    }
}

fn is_comma(tree: &Tree<'_>) -> bool {
    matches!(tree.kind, TreeKind::Mark(","))
}

fn number(trees: &[Tree<'_>]) -> Option<Number> {
    match trees {
        [
            Tree {
                kind: TreeKind::Word(text),
                span,
            },
        ] => Some((text.parse().ok()?, *span)),
        _ => None,
    }
}

fn slice_range(part: &[Tree<'_>]) -> Option<SliceRange> {
    let [
        Tree {
            kind: TreeKind::Group('[', inner),
            span,
        },
    ] = part
    else {
        return None;
    };
    let numbers = inner.split(|it| matches!(it.kind, TreeKind::Mark(":")));
    let numbers: Option<Vec<_>> = numbers.map(number).collect();
    let (start, limit, stride) = match numbers?.as_slice() {
        [(start, _), (limit, _)] => (*start, *limit, 1),
        [(start, _), (limit, _), (stride, _)] => (*start, *limit, *stride),
        _ => return None,
    };
    (stride > 0).then_some(SliceRange {
        start,
        limit,
        stride,
        span: *span,
    })
}

/// The parts of `1x2x3`; none of an empty text.
fn split_dimensions(text: &str) -> impl Iterator<Item = &str> {
    text.split('x')
}

fn padding(text: &str) -> Option<Padding> {
    let numbers: Option<Vec<i64>> = text.split('_').map(|it| it.parse().ok()).collect();
    let (low, high, interior) = match numbers?.as_slice() {
        [low, high] => (*low, *high, 0),
        [low, high, interior] if *interior >= 0 => (*low, *high, *interior),
        _ => return None,
    };
    Some(Padding {
        low,
        high,
        interior,
    })
}

fn window(trees: &[Tree<'_>]) -> Option<Vec<WindowDimension>> {
    let words: Vec<_> = trees.iter().filter(|it| !is_comma(it)).collect();
    let mut dimensions: Vec<WindowDimension> = Vec::new();
    for (at, entry) in words.chunks(3).enumerate() {
        let [name, equals, value] = entry else {
            return None;
        };
        let (TreeKind::Word(name), TreeKind::Mark("="), TreeKind::Word(value)) =
            (&name.kind, &equals.kind, &value.kind)
        else {
            return None;
        };
        let parts: Vec<_> = split_dimensions(value).collect();
        if at == 0 {
            dimensions = vec![WindowDimension::default(); parts.len()];
        }
        if parts.len() != dimensions.len() {
            return None;
        }
        for (dimension, part) in dimensions.iter_mut().zip(parts) {
            dimension.set(name, part)?;
        }
    }
    Some(dimensions)
}

impl Default for WindowDimension {
    fn default() -> Self {
        Self {
            size: 1,
            stride: 1,
            low: 0,
            high: 0,
            base_dilation: 1,
            window_dilation: 1,
            is_reversed: false,
        }
    }
}

impl WindowDimension {
    fn set(&mut self, name: &str, text: &str) -> Option<()> {
        let positive = || text.parse().ok().filter(|it: &i64| *it > 0);
        match name {
            "size" => self.size = positive()?,
            "stride" => self.stride = positive()?,
            "lhs_dilate" => self.base_dilation = positive()?,
            "rhs_dilate" => self.window_dilation = positive()?,
            "rhs_reversal" => self.is_reversed = text == "1",
            "pad" => {
                let (low, high) = text.split_once('_')?;
                self.low = low.parse().ok()?;
                self.high = high.parse().ok()?;
            }
            _ => return None,
        }
        Some(())
    }
}
