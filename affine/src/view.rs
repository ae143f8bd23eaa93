//! Views: other names for the elements of arrays.
//!
//! A view holds nothing. An access of a view stands in the kernel as one of its array, with the
//! subscripts that [`delinearize_index`](AffineExpr::delinearize_index) makes of a collapsed one;
//! every later stage knows arrays alone. What a [`View`] is kept for is the text, which shows an
//! access by the view again as long as its subscripts have the form that the view gave them.

use crate::{
    Access, AffineExpr, AffineValues, ArrayId, BinaryOp, Expr, Kernel, Span, Subscript, Type,
};

/// `view c = collapse(a, [[0, 1], [2]])`: an array parameter of which neighbouring dimensions are
/// one.
#[derive(Clone, Debug, PartialEq)]
pub struct View {
    /// Its name.
    pub name: String,
    /// The array parameter.
    pub array: ArrayId,
    /// How many dimensions of the array each one of the view is made of, outermost first; none of
    /// them zero.
    pub dimensions: Vec<usize>,
    /// Where it is declared.
    pub span: Span,
}

impl View {
    /// The access of the view, as its name and subscripts, that stands in the kernel as `access`;
    /// `None` where none does.
    pub fn shown(&self, kernel: &Kernel, access: &Access) -> Option<Vec<Subscript>> {
        let collapses = self.dimensions.iter().any(|it| *it > 1);
        if access.array != self.array || !collapses {
            return None;
        }
        let groups = groups(&self.dimensions, &access.subscripts)?;
        let sizes = groups_of_sizes(&self.dimensions, kernel, self.array)?;
        let groups = groups.into_iter().zip(sizes);
        groups
            .map(|(subscripts, sizes)| linear(kernel, subscripts, sizes))
            .collect()
    }
}

fn groups_of_sizes<'k>(
    dimensions: &[usize],
    kernel: &'k Kernel,
    array: ArrayId,
) -> Option<Vec<&'k [AffineExpr]>> {
    groups(dimensions, &kernel.arrays[array].extents)
}

/// `all` in groups of these lengths; `None` if they are more or fewer.
pub(crate) fn groups<'t, T>(lengths: &[usize], all: &'t [T]) -> Option<Vec<&'t [T]>> {
    let mut rest = all;
    let mut groups = Vec::with_capacity(lengths.len());
    for length in lengths {
        let (group, behind) = rest.split_at_checked(*length)?;
        groups.push(group);
        rest = behind;
    }
    rest.is_empty().then_some(groups)
}

/// The subscripts in dimensions of the sizes `sizes` of the element that `subscript` names where
/// they are one. `None` where a size but the outermost is a constant and not positive, or a number
/// leaves 64 bits.
///
/// A subscript that is out of range is so here too: in the outermost dimension, or, if it is
/// computed and negative, in an inner one.
pub(crate) fn delinearized(
    kernel: &Kernel,
    subscript: &Subscript,
    sizes: &[AffineExpr],
    span: Span,
) -> Option<Vec<Subscript>> {
    match subscript {
        Subscript::Affine(expr) => {
            let indices = expr.delinearize_index(sizes)?;
            Some(indices.into_iter().map(Subscript::Affine).collect())
        }
        Subscript::Computed(expr) => Some(computed(kernel, expr, sizes, span)),
    }
}

/// The same in 64-bit arithmetic, which rounds towards zero.
fn computed(kernel: &Kernel, expr: &Expr, sizes: &[AffineExpr], span: Span) -> Vec<Subscript> {
    let inner = sizes.get(1..).unwrap_or_default();
    if inner.iter().all(is_one) {
        let zeros = inner.iter().map(|_| Subscript::Affine(0.into()));
        let outermost = Subscript::Computed(expr.clone());
        return [outermost].into_iter().chain(zeros).collect();
    }
    let values = AffineValues {
        kernel,
        counter: None,
    };
    let mut rest = expr.clone().cast_to(Type::I64, kernel);
    let mut subscripts = Vec::with_capacity(sizes.len());
    for size in inner.iter().rev() {
        if is_one(size) {
            subscripts.push(Subscript::Affine(0.into()));
            continue;
        }
        let by = |op| Expr::binary(op, rest.clone(), values.value(size), span);
        subscripts.push(Subscript::Computed(by(BinaryOp::Rem)));
        rest = by(BinaryOp::Div);
    }
    subscripts.push(Subscript::Computed(rest));
    subscripts.reverse();
    subscripts
}

pub(crate) fn is_one(size: &AffineExpr) -> bool {
    size.as_constant() == Some(1)
}

/// The one subscript that [`delinearized`] makes these of.
pub(crate) fn linear(
    kernel: &Kernel,
    subscripts: &[Subscript],
    sizes: &[AffineExpr],
) -> Option<Subscript> {
    let (outermost, _) = subscripts.split_first()?;
    let inner = subscripts.iter().zip(sizes).skip(1).rev();
    let innermost = inner.filter(|(_, size)| !is_one(size)).map(|(it, _)| it);
    let candidates = match innermost.clone().next() {
        None => vec![outermost.clone()],
        Some(remainder) => dividends(kernel, remainder),
    };
    candidates.into_iter().find(|candidate| {
        let again = delinearized(kernel, candidate, sizes, Span::default());
        again.is_some_and(|again| {
            again.len() == subscripts.len()
                && again
                    .iter()
                    .zip(subscripts)
                    .all(|(one, other)| one.is_same(other))
        })
    })
}

/// What a remainder may be one of.
fn dividends(kernel: &Kernel, remainder: &Subscript) -> Vec<Subscript> {
    match remainder {
        Subscript::Affine(expr) => {
            let dividend = expr.as_remainder().map(|(dividend, _)| dividend.clone());
            dividend.map(Subscript::Affine).into_iter().collect()
        }
        Subscript::Computed(Expr::Binary(BinaryOp::Rem, dividend, ..)) => {
            let converted = match &**dividend {
                Expr::Cast(Type::I64, inner) if inner.ty(kernel) != Type::I64 => Some(inner),
                _ => None,
            };
            let candidates = converted.into_iter().chain([dividend]);
            candidates
                .map(|it| Subscript::Computed((**it).clone()))
                .collect()
        }
        Subscript::Computed(_) => Vec::new(),
    }
}

/// The subscript of an array that `subscript` names in a slice of it:
/// `offset + subscript * stride`, in 64 bits if it is computed. `None` where a number leaves 64
/// bits.
pub(crate) fn sliced(
    kernel: &Kernel,
    subscript: &Subscript,
    offset: &AffineExpr,
    stride: &AffineExpr,
    span: Span,
) -> Option<Subscript> {
    let is_whole = offset.as_constant() == Some(0) && is_one(stride);
    match subscript {
        _ if is_whole => Some(subscript.clone()),
        Subscript::Affine(expr) => {
            let scaled = expr.times_written(stride).ok()?;
            scaled.plus(offset).ok().map(Subscript::Affine)
        }
        Subscript::Computed(expr) => {
            let values = AffineValues {
                kernel,
                counter: None,
            };
            let mut value = expr.clone().cast_to(Type::I64, kernel);
            if !is_one(stride) {
                value = Expr::binary(BinaryOp::Mul, value, values.value(stride), span);
            }
            if offset.as_constant() != Some(0) {
                value = Expr::binary(BinaryOp::Add, value, values.value(offset), span);
            }
            Some(Subscript::Computed(value))
        }
    }
}
