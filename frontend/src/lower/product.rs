//! Numbers of bytes, as numbers of elements.
//!
//! They are that by the way they are written, `n * sizeof *a`, `sizeof a` or `8 * n`, and by their
//! values as mathematical integers: there are no arrays of which the number of bytes wraps around.

use super::Lowering;
use super::value::{self, Typed};
use crate::ast::{BinaryOp as Operator, Expr, ExprKind, TypeName};
use crate::raise::computed;
use crate::types::{self, Position};
use strew_affine::{AffineExpr, BinaryOp, Node, Span, Type, Value};

/// A product.
pub(super) struct Product<'e> {
    constant: i64,
    factors: Vec<Factor<'e>>,
}

enum Factor<'e> {
    Written(&'e Expr),
    Extent(AffineExpr),
}

impl<'e> Product<'e> {
    /// The number of things of `size` bytes in the bytes that this counts.
    pub(super) fn divided(self, size: i64) -> Option<Self> {
        let rest = self.constant.checked_rem(size)?;
        let constant = self.constant.checked_div(size)?;
        (rest == 0).then_some(Self { constant, ..self })
    }

    /// The number of rows of `extent` elements in the elements that this counts.
    pub(super) fn divided_by(self, extent: &AffineExpr, lowering: &Lowering<'_>) -> Option<Self> {
        if let Some(extent) = extent.as_constant() {
            return self.divided(extent);
        }
        let is_it = |factor: &Factor<'_>| match factor {
            Factor::Written(expr) => lowering.extent(expr).as_ref() == Some(extent),
            Factor::Extent(found) => found == extent,
        };
        let at = self.factors.iter().position(is_it)?;
        let mut rows = self;
        rows.factors.remove(at);
        Some(rows)
    }

    /// The same as it would be written; none of what `sizeof` says of an array of variable length.
    pub(super) fn written(self, span: Span) -> Option<Expr> {
        let written = self.factors.into_iter().map(|it| match it {
            Factor::Written(expr) => Some(expr.clone()),
            Factor::Extent(_) => None,
        });
        let written: Vec<Expr> = written.collect::<Option<_>>()?;
        let constant = Expr {
            kind: ExprKind::Constant(Value::i64(self.constant)),
            span,
            depth: 1,
        };
        let constant = (self.constant != 1 || written.is_empty()).then_some(constant);
        let factors = constant.into_iter().chain(written);
        factors.reduce(|left, right| {
            let depth = left.depth.max(right.depth) + 1;
            let op = Operator::Arithmetic(BinaryOp::Mul);
            let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
            Expr { kind, span, depth }
        })
    }
}

impl Lowering<'_> {
    /// The product of all numbers in `written`.
    pub(super) fn product<'e>(&mut self, written: &'e [Expr]) -> Option<Product<'e>> {
        let mut product = Product {
            constant: 1,
            factors: Vec::new(),
        };
        for expr in written {
            self.multiply(&mut product, expr)?;
        }
        Some(product)
    }

    fn multiply<'e>(&mut self, product: &mut Product<'e>, expr: &'e Expr) -> Option<()> {
        match &expr.kind {
            ExprKind::Constant(value) => {
                let value = i64::try_from(value.as_integer()?).ok()?;
                product.constant = product.constant.checked_mul(value)?;
            }
            ExprKind::Cast(name, operand) if is_wide(name) && is_whole(operand) => {
                self.multiply(product, operand)?;
            }
            ExprKind::Binary(Operator::Arithmetic(BinaryOp::Mul), left, right) => {
                self.multiply(product, left)?;
                self.multiply(product, right)?;
            }
            ExprKind::SizeOf(operand) => {
                // The operand does nothing but name an array or a row.
                let array = self.reference(operand, &mut Vec::new())?;
                let size = i64::from(array.target.bytes(&self.kernel)?);
                product.constant = product.constant.checked_mul(size)?;
                for extent in self.extents(&array) {
                    match extent.as_constant() {
                        Some(extent) => product.constant = product.constant.checked_mul(extent)?,
                        None => product.factors.push(Factor::Extent(extent)),
                    }
                }
            }
            _ => product.factors.push(Factor::Written(expr)),
        }
        Some(())
    }

    /// The value of a product of integers.
    pub(super) fn number(
        &mut self,
        product: Product<'_>,
        span: Span,
        body: &mut Vec<Node>,
    ) -> Option<Typed> {
        let mut number = Typed::constant(Value::i64(product.constant));
        for factor in product.factors {
            let factor = match factor {
                Factor::Written(expr) => self.expression(expr, body)?,
                Factor::Extent(extent) => Typed::any(computed(&extent), Type::I64),
            };
            let factor = Some(factor).filter(|it| it.ty.is_integer())?;
            let factor = factor.convert(Type::I64);
            number = match number.as_constant() {
                Some(1) => factor,
                _ => value::arithmetic(BinaryOp::Mul, number, factor, span, &self.ranges),
            };
        }
        Some(number)
    }
}

/// Whether there is no number with a fraction in a product, which a conversion would cut off.
fn is_whole(expr: &Expr) -> bool {
    match &expr.kind {
        ExprKind::Constant(value) => value.as_integer().is_some(),
        _ => expr.kind.operands().into_iter().all(is_whole),
    }
}

/// Whether every number of elements fits the type.
fn is_wide(name: &TypeName) -> bool {
    let ty = types::named(name, Position::Cast).ok().and_then(|it| it.ty);
    name.pointers.is_empty() && ty.is_some_and(|it| it.is_integer() && it.bytes() == 8)
}
