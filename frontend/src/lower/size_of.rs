//! `sizeof` of arrays whose lengths are not constant.

use super::Lowering;
use super::value::Typed;
use crate::ast::Expr;
use crate::problem::DeclarationProblem;
use crate::raise::computed;
use strew_affine::{AffineExpr, Span, Type};

impl Lowering<'_> {
    /// A product of lengths, each of which is what it was when the array was declared.
    pub(super) fn size_of(&mut self, operand: &Expr, span: Span) -> Option<Typed> {
        // The operand does nothing but name an array or a row.
        let reference = self.reference(operand, &mut Vec::new())?;
        let element = reference.target.bytes(&self.kernel);
        let size = AffineExpr::from(i64::from(element.unwrap_or_default()));
        let mut extents = self.extents(&reference).into_iter();
        let size = extents.try_fold(size, |all, it| all.times(&it));
        match size {
            Ok(size) => Some(Typed::any(computed(&size), Type::I64).convert(Type::U64)),
            Err(_) => self.report(DeclarationProblem::SizeUnknown, span),
        }
    }
}
