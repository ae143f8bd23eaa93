//! What is affine about a machine integer.
//!
//! Arithmetic on `w` bits is arithmetic modulo `2^w`: the map from the integers to the machine
//! integers is a homomorphism of rings. So a sum of products computed in a type is congruent to the
//! same sum of products over the integers whatever wraps on the way, and it is *equal* to it as
//! soon as that value fits the type. Only what does not respect congruence (a division, a shift to
//! the right, a comparison, a conversion to a wider type) needs its operands to be equal to their
//! affine form; that need becomes a [`Proviso`], judged where the value is used.

use super::interval::Interval;
use strew_affine::{AffineExpr, Overflow, Type};

/// An affine expression has to lie in an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Proviso {
    pub(crate) expr: AffineExpr,
    pub(crate) within: Interval,
}

/// The affine form of a machine integer.
#[derive(Clone, Debug)]
pub(crate) struct Affine {
    pub(crate) expr: AffineExpr,
    /// Whether the value is that of `expr`, provided that; else it is congruent to it modulo two to
    /// the width of its type.
    is_exact: bool,
    pub(crate) provided: Vec<Proviso>,
}

/// A value that needs more than this is not worth the checks.
const MOST_PROVISOS: usize = 8;

impl Affine {
    /// Whether both are one value, whatever else holds.
    pub(crate) fn is_surely(&self, other: &Self) -> bool {
        let has_no_provisos = self.provided.is_empty() && other.provided.is_empty();
        self.is_exact && other.is_exact && has_no_provisos && self.expr == other.expr
    }

    pub(crate) fn exact(expr: AffineExpr) -> Self {
        Self {
            expr,
            is_exact: true,
            provided: Vec::new(),
        }
    }

    /// Of a value that may have wrapped.
    pub(crate) fn congruent(expr: AffineExpr) -> Self {
        Self {
            is_exact: false,
            ..Self::exact(expr)
        }
    }

    /// The affine form, if the value has it wherever it is computed.
    pub(crate) fn proved(&self) -> Option<&AffineExpr> {
        (self.is_exact && self.provided.is_empty()).then_some(&self.expr)
    }

    /// The result of an operation that respects congruence; `keeps` says that the machine operation
    /// itself does not wrap.
    pub(crate) fn combined(
        operands: &[&Self],
        expr: Result<AffineExpr, Overflow>,
        keeps: bool,
    ) -> Option<Self> {
        let mut provided = Vec::new();
        for proviso in operands.iter().flat_map(|it| &it.provided) {
            if !provided.contains(proviso) {
                provided.push(proviso.clone());
            }
        }
        let combined = Self {
            expr: expr.ok()?,
            is_exact: keeps && operands.iter().all(|it| it.is_exact),
            provided,
        };
        combined.if_cheap()
    }

    fn if_cheap(self) -> Option<Self> {
        (self.provided.len() <= MOST_PROVISOS).then_some(self)
    }

    /// The same form of a value of type `ty`, provided that the form is its value.
    pub(crate) fn equal(mut self, ty: Type) -> Option<Self> {
        if !self.is_exact {
            let within = Interval::of(ty)?;
            let expr = self.expr.clone();
            self = self.provided_that(expr, within)?;
            self.is_exact = true;
        }
        Some(self)
    }

    pub(crate) fn provided_that(mut self, expr: AffineExpr, within: Interval) -> Option<Self> {
        let proviso = Proviso { expr, within };
        if !self.provided.contains(&proviso) {
            self.provided.push(proviso);
        }
        self.if_cheap()
    }

    /// For an operation whose result is the same for all congruent operands.
    pub(crate) fn taken_modulo(mut self) -> Self {
        self.is_exact = true;
        self
    }

    /// Conversion from one integer type to another; `keeps` says that every value stays what it is.
    pub(crate) fn converted(self, from: Type, to: Type, keeps: bool) -> Option<Self> {
        Interval::of(to).filter(|_| to != Type::Bool)?;
        let mut converted = if to.bits() > from.bits() {
            self.equal(from)?
        } else {
            self
        };
        converted.is_exact &= keeps;
        Some(converted)
    }
}
