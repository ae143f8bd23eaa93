//! Conditions that say that a number lies in an array, as in `if (k >= 0 && k < m) out[k]++`: one
//! comparison says so, and nothing behind it checks it again.

use super::function::FunctionLowering;
use super::known::Mark;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value, types};
use strew_affine::bounded::{Between, bounded};
use strew_affine::interpret::Oob;
use strew_affine::{Expr, Subscript};

impl FunctionLowering<'_, '_, '_> {
    /// [`jump_on`](Self::jump_on) for a condition with such parts, all of whose parts are quick;
    /// `None` for others.
    pub(super) fn jump_in_range(
        &mut self,
        condition: &Expr,
        [yes, no]: [Block; 2],
    ) -> Option<Mark> {
        if self.program.oob != Oob::Error {
            return None;
        }
        let parts = condition.conjuncts();
        let found = bounded(self.program.kernel, &parts);
        if found.is_empty() || !parts.iter().all(|it| self.is_quick(it)) {
            return None;
        }
        let mut holds = None;
        for (position, part) in parts.iter().enumerate() {
            let mut as_one = found.iter().filter(|it| it.is_one_comparison);
            if as_one.clone().any(|it| it.lower == Some(position)) {
                continue;
            }
            let here = match as_one.find(|it| it.upper == position) {
                Some(range) => self.lies_in(&range.between),
                None => self.expr(part),
            };
            holds = Some(match holds {
                Some(before) => self.builder.ins().band(before, here),
                None => here,
            });
        }
        self.builder.ins().brif(holds?, yes, &[], no, &[]);
        let mark = self.mark();
        for range in found {
            self.keep_between(range.between);
        }
        Some(mark)
    }

    /// Whether the number lies below an extent, or below 0 where that is negative, as one
    /// comparison of numbers without a sign.
    fn lies_in(&mut self, between: &Between) -> Value {
        let subscript = Subscript::Computed(between.number.clone());
        let value = self.known_index(&subscript).unwrap_or_else(|| {
            let value = self.extended(&between.number);
            self.keep_index(&subscript, value);
            value
        });
        let extent = self.extent(&between.below);
        // The same in all turns, so it leaves the loop.
        let none = self.builder.ins().iconst(types::I64, 0);
        let extent = self.builder.ins().smax(extent, none);
        let ins = self.builder.ins();
        ins.icmp(IntCC::UnsignedLessThan, value, extent)
    }
}
