use crate::{AffineExpr, ArrayId, Expr, Span};

/// A reference to one element of an array: one subscript for each of the array's dimensions.
#[derive(Clone, Debug, PartialEq)]
pub struct Access {
    /// The array.
    pub array: ArrayId,
    /// Outermost dimension first; as many as the array has extents.
    pub subscripts: Vec<Subscript>,
    /// Where the access stands in the source; what an out-of-range fault points at.
    pub span: Span,
}

/// One position in an access.
///
/// A subscript is *affine*, *indirect* (read from another array, directly or through a `let`,
/// perhaps with an affine offset) or *opaque* (anything else). The last two are both
/// [`Subscript::Computed`]: which of them it is, and why it is not affine, follows from the
/// expression and is asked of [`crate::classify::classify`].
#[derive(Clone, Debug, PartialEq)]
pub enum Subscript {
    /// A quasi-affine function of iterators and parameters.
    Affine(AffineExpr),
    /// An integer expression of any integer type, taken at its mathematical value.
    Computed(Expr),
}
