//! Bodies that evaluate updates and check where they go, and do nothing with them.

use super::function::FunctionLowering;
use cranelift_codegen::ir::{InstBuilder, types};
use strew_affine::{Expr, Forall, Place};

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Makes the buffers of `forall` known, which have no memory.
    pub(super) fn bind_checked(&mut self, forall: &Forall) {
        let none = self.builder.ins().iconst(types::I64, 0);
        for (buffer, _) in forall.buffers() {
            self.bind_array(buffer, none);
            self.checked.insert(buffer);
        }
    }

    pub(super) fn is_only_checked(&self, places: &[Place]) -> bool {
        match places.first() {
            Some(Place::Element(access)) => self.checked.contains(&access.array),
            Some(Place::Local(_)) | None => false,
        }
    }

    /// What of it cannot fail is of no use, and the code generator leaves it out.
    pub(super) fn check_update(&mut self, places: &'k [Place], values: &'k [Expr]) {
        for value in values {
            self.expr(value);
        }
        self.key(places);
    }
}
