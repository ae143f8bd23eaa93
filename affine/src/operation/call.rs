//! An instruction whose operands are known, before it is known what it does.

use super::attributes::Attributes;
use super::error::{ModuleError, ModuleErrorKind};
use super::relation::Relation;
use super::shape::{ArrayShape, Shape};
use crate::Span;

/// An operand with its place in the text.
pub(super) struct Operand<'m> {
    pub(super) shape: &'m Shape,
    pub(super) span: Span,
}

/// An instruction whose operands are known.
pub(super) struct Call<'m, 't, 's> {
    pub(super) opcode: &'t str,
    /// The place of the opcode.
    pub(super) span: Span,
    pub(super) operands: Vec<Operand<'m>>,
    /// The shape that the text gives, and its place.
    pub(super) stated: Option<(&'m Shape, Span)>,
    pub(super) attributes: Attributes<'t, 's>,
}

/// From which elements of an operand a result is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) operand: usize,
    /// Which of the arrays of the operand.
    pub(super) part: usize,
    /// Which of the arrays of the result.
    pub(super) output: usize,
    pub(super) relation: Relation,
    /// Whether all of these elements are read for sure, whatever the values of arrays are.
    pub(super) is_exact: bool,
}

impl Read {
    /// A read of an operand that is one array for a result that is one.
    pub(super) fn new(operand: usize, relation: Relation) -> Self {
        Self {
            operand,
            part: 0,
            output: 0,
            relation,
            is_exact: true,
        }
    }

    /// The same for another of the arrays of the result.
    pub(super) fn for_output(self, output: usize) -> Self {
        Self { output, ..self }
    }

    /// The same when some of the elements may not be read.
    pub(super) fn perhaps(self) -> Self {
        Self {
            is_exact: false,
            ..self
        }
    }
}

/// What an operation computes, and from what.
pub(super) struct Described {
    pub(super) shape: Shape,
    pub(super) reads: Vec<Read>,
}

impl Described {
    /// One array.
    pub(super) fn array(shape: ArrayShape, reads: Vec<Read>) -> Self {
        Self {
            shape: Shape::Array(shape),
            reads,
        }
    }

    /// One array for each of `shapes`: a tuple unless it is only one.
    pub(super) fn arrays(mut shapes: Vec<ArrayShape>, reads: Vec<Read>) -> Self {
        let shape = match shapes.len() {
            1 => Shape::Array(shapes.remove(0)),
            _ => Shape::Tuple(shapes.into_iter().map(Shape::Array).collect()),
        };
        Self { shape, reads }
    }
}

pub(super) type Checked<T> = Result<T, ModuleError>;

impl Call<'_, '_, '_> {
    /// Refuses a number of operands that is not in `range`.
    pub(super) fn takes(
        &self,
        range: impl std::ops::RangeBounds<usize>,
        expected: &'static str,
    ) -> Checked<()> {
        let found = self.operands.len();
        if range.contains(&found) {
            return Ok(());
        }
        Err(ModuleErrorKind::OperandCount {
            operation: self.opcode.to_owned(),
            expected,
            found,
        }
        .at(self.span))
    }

    /// The operand at a position, which is one array.
    pub(super) fn array(&self, position: usize) -> Checked<&ArrayShape> {
        match self.operands.get(position).map(|it| it.shape) {
            Some(Shape::Array(array)) => Ok(array),
            Some(tuple @ Shape::Tuple(_)) => {
                Err(self.misfit(position, tuple.to_string(), "one array"))
            }
            None => Err(ModuleErrorKind::OperandCount {
                operation: self.opcode.to_owned(),
                expected: "more operands",
                found: self.operands.len(),
            }
            .at(self.span)),
        }
    }

    /// The error that the operand at `position` is `found`, but `expected` is needed.
    fn misfit(&self, position: usize, found: String, expected: impl Into<String>) -> ModuleError {
        let span = self.operands.get(position).map_or(self.span, |it| it.span);
        let expected = expected.into();
        ModuleErrorKind::OperandShape { found, expected }.at(span)
    }

    /// The error that another operand than the one at `position` is needed.
    pub(super) fn operand_misfit(
        &self,
        position: usize,
        expected: impl Into<String>,
    ) -> ModuleError {
        let found = self.operands.get(position);
        let found = found.map_or_else(String::new, |it| it.shape.to_string());
        self.misfit(position, found, expected)
    }

    /// Refuses the operand at `position` when it has other extents.
    pub(super) fn expect_extents(&self, position: usize, extents: &[i64]) -> Checked<()> {
        if self.array(position)?.extents == extents {
            return Ok(());
        }
        Err(self.operand_misfit(position, format!("an array of {}", extents_text(extents))))
    }

    /// Refuses the operand at `position` when it has dimensions.
    pub(super) fn expect_scalar(&self, position: usize) -> Checked<()> {
        if self.array(position)?.rank() == 0 {
            return Ok(());
        }
        Err(self.operand_misfit(position, "a single value"))
    }

    /// Refuses the operand at `position` when its elements are no positions.
    pub(super) fn expect_integers(&self, position: usize) -> Checked<()> {
        if self.array(position)?.element.is_integer() {
            return Ok(());
        }
        Err(self.operand_misfit(position, "an integer"))
    }

    /// The shape in the text, which the operands do not tell.
    pub(super) fn stated_array(&self) -> Checked<&ArrayShape> {
        match self.stated {
            Some((Shape::Array(array), _)) => Ok(array),
            Some((tuple @ Shape::Tuple(_), span)) => Err(ModuleErrorKind::WrongShape {
                stated: tuple.to_string(),
                actual: "one array".to_owned(),
            }
            .at(span)),
            None => Err(ModuleErrorKind::NoShape(self.opcode.to_owned()).at(self.span)),
        }
    }

    /// A result with these extents whose elements are of the type in the text, or of that of the
    /// operand at `position`.
    pub(super) fn result(&self, extents: Vec<i64>, position: usize) -> Checked<ArrayShape> {
        self.result_part(extents, position, 0)
    }

    /// As [`Call::result`], for one of the arrays of the result.
    pub(super) fn result_part(
        &self,
        extents: Vec<i64>,
        position: usize,
        output: usize,
    ) -> Checked<ArrayShape> {
        let stated = self.stated.and_then(|(shape, _)| match shape {
            Shape::Array(array) => Some(array),
            Shape::Tuple(parts) => match parts.get(output) {
                Some(Shape::Array(array)) => Some(array),
                _ => None,
            },
        });
        let element = match stated {
            Some(array) => array.element,
            None => self.array(position)?.element,
        };
        Ok(ArrayShape {
            element,
            extents,
            layout: None,
            is_tiled: false,
        })
    }

    /// A result with these extents and the elements of the operand at `position`.
    pub(super) fn same_elements(&self, extents: Vec<i64>, position: usize) -> Checked<ArrayShape> {
        Ok(ArrayShape {
            element: self.array(position)?.element,
            extents,
            layout: None,
            is_tiled: false,
        })
    }
}

fn extents_text(extents: &[i64]) -> String {
    let extents: Vec<_> = extents.iter().map(i64::to_string).collect();
    format!("[{}]", extents.join(","))
}
