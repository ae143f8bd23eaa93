//! Shapes as the text writes them.

use super::{Checked, Resolver};
use crate::Span;
use crate::operation::error::ModuleErrorKind;
use crate::operation::shape::{ArrayShape, ElementType, Shape};
use crate::operation::text::tree;

/// What is done for each pair of dimensions grows with the square.
const MAX_RANK: usize = 64;

impl Resolver<'_> {
    pub(super) fn shape(&mut self, shape: &tree::Shape<'_>) -> Checked<Shape> {
        match &shape.kind {
            tree::ShapeKind::Tuple(parts) => {
                let parts = parts.iter().map(|it| self.shape(it));
                parts.collect::<Checked<_>>().map(Shape::Tuple)
            }
            tree::ShapeKind::Array {
                element,
                extents,
                layout,
            } => {
                let Some(ty) = ElementType::from_name(element.text) else {
                    let kind = ModuleErrorKind::UnknownElement(element.text.to_owned());
                    return Err(self.record(kind.at(element.span)));
                };
                let extents = self.extents(extents, shape.span)?;
                let (layout, is_tiled) = match layout {
                    Some(layout) => {
                        let order = self.layout(layout, extents.len())?;
                        (order, layout.is_tiled)
                    }
                    None => (None, false),
                };
                Ok(Shape::Array(ArrayShape {
                    element: ty,
                    extents,
                    layout,
                    is_tiled,
                }))
            }
        }
    }

    fn extents(&mut self, words: &[tree::Word<'_>], span: Span) -> Checked<Vec<i64>> {
        if words.len() > MAX_RANK {
            let kind = ModuleErrorKind::TooManyDimensions(MAX_RANK);
            return Err(self.record(kind.at(span)));
        }
        let mut extents = Vec::with_capacity(words.len());
        for word in words {
            // Of a dimension with at most so many positions all can be there.
            let bound = word.text.strip_prefix("<=").unwrap_or(word.text);
            let extent = bound.parse::<i64>().ok().filter(|it| *it >= 0);
            extents.push(extent.ok_or_else(|| {
                let kind = ModuleErrorKind::NotAnExtent(word.text.to_owned());
                self.record(kind.at(word.span))
            })?);
        }
        if is_countable(&extents) {
            return Ok(extents);
        }
        Err(self.record(ModuleErrorKind::TooLarge.at(span)))
    }

    /// The order of the dimensions; `None` when nothing is said of it.
    fn layout(&mut self, layout: &tree::Layout<'_>, rank: usize) -> Checked<Option<Vec<usize>>> {
        let words = &layout.minor_to_major;
        if words.is_empty() && rank > 0 {
            return Ok(None);
        }
        let order: Vec<usize> = words.iter().filter_map(|it| it.text.parse().ok()).collect();
        let mut sorted = order.clone();
        sorted.sort_unstable();
        if words.len() == rank && sorted.into_iter().eq(0..rank) {
            return Ok(Some(order));
        }
        Err(self.record(ModuleErrorKind::NotALayout(rank).at(layout.span)))
    }
}

/// Whether 64 bits count the elements, those along empty dimensions as if there were one: what is
/// cut out of an array or put around it has some of its dimensions alone.
pub(super) fn is_countable(extents: &[i64]) -> bool {
    let counted = extents.iter().filter(|it| **it > 0);
    let count = counted.copied().try_fold(1_i64, i64::checked_mul);
    extents.len() <= MAX_RANK && count.is_some()
}
