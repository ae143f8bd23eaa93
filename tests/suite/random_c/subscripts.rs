//! Random subscripts.

use super::expression::{Binary, Expression, Place};
use super::function::{Array, Extent, Form, Role};
use super::generate::Generator;
use super::values::{binary, number};
use strew::ir::Type;

impl Generator<'_> {
    /// Some element of `array`.
    pub(super) fn element(&mut self, array: &Array, depth: usize) -> Place {
        let extents = array.extents.iter();
        Place {
            name: array.name.clone(),
            ty: array.ty,
            subscripts: extents.map(|it| self.subscript(*it, depth)).collect(),
            member: array.member(),
            within: match array.form {
                Form::Member(_, _, Some(length)) => {
                    vec![self.subscript(Extent::Constant(length), depth)]
                }
                _ => Vec::new(),
            },
        }
    }

    pub(super) fn subscript(&mut self, extent: Extent, depth: usize) -> Expression {
        let iterators = self.iterators().into_iter();
        let fitting: Vec<_> = iterators.filter(|it| it.below.contains(&extent)).collect();
        let keys: Vec<_> = self
            .arrays
            .iter()
            .filter(|it| it.role == Role::Keys(extent))
            .cloned()
            .collect();
        match self.random.below(100) {
            0..45 if !fitting.is_empty() => self.random.pick(&fitting).expression(),
            0..45 if extent == Extent::Both => {
                self.row_major().unwrap_or_else(|| self.cut(extent, depth))
            }
            45..55 if !fitting.is_empty() => {
                let iterator = self.random.pick(&fitting).expression();
                let last = binary(Binary::Subtract, self.length(extent), *number(1));
                binary(Binary::Subtract, last, iterator)
            }
            55..57 if !fitting.is_empty() => {
                let iterator = self.random.pick(&fitting).expression();
                binary(Binary::Add, iterator, *number(1))
            }
            57..60 if !fitting.is_empty() => {
                let iterator = self.random.pick(&fitting).expression();
                self.there_and_back(iterator)
            }
            60..85 if depth > 0 && !keys.is_empty() => {
                let keys = self.random.pick(&keys).clone();
                Expression::Element(self.element(&keys, depth - 1))
            }
            _ => self.cut(extent, depth),
        }
    }

    /// Any integer, cut to the extent.
    fn cut(&mut self, extent: Extent, depth: usize) -> Expression {
        Expression::Within(Box::new(self.integer(depth.min(1))), extent)
    }

    /// The subscript of an element of `n` rows of `m` elements.
    fn row_major(&mut self) -> Option<Expression> {
        let iterators = self.iterators();
        let find = |extent| iterators.iter().find(|it| it.below.contains(&extent));
        let (row, column) = (find(Extent::N)?, find(Extent::M)?);
        let row = binary(Binary::Multiply, row.expression(), self.length(Extent::M));
        Some(binary(Binary::Add, row, column.expression()))
    }

    pub(super) fn length(&self, extent: Extent) -> Expression {
        let ty = match extent {
            Extent::N => self.sizes[0],
            Extent::M => self.sizes[1],
            Extent::Constant(_) | Extent::Both => Type::I32,
        };
        Expression::Variable(extent.to_string(), ty)
    }

    /// `index + parameter - parameter`, which is `index` where nothing wraps.
    fn there_and_back(&mut self, index: Expression) -> Expression {
        let parameters = self.visible().into_iter();
        let parameters = parameters.filter(|it| it.name.starts_with('p') && !it.ty.is_float());
        let parameters: Vec<_> = parameters.collect();
        if parameters.is_empty() {
            return index;
        }
        let parameter = self.random.pick(&parameters).expression();
        let there = binary(Binary::Add, index, parameter.clone());
        binary(Binary::Subtract, there, parameter)
    }
}
