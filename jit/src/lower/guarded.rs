//! Conditions that say that a number lies in an array, as in `if (k >= 0 && k < m) out[k]++`: one comparison says so, and nothing behind it
//! checks it again.

use super::function::FunctionLowering;
use super::known::Mark;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, InstBuilder, Value};
use strew_affine::bounded::{Bounded, bounded, parts};
use strew_affine::interpret::Oob;
use strew_affine::{AffineExpr, Expr, Subscript};

impl FunctionLowering<'_, '_, '_> {
    /// [`jump_on`](Self::jump_on) for a condition with such a part, all of whose parts are quick; `None` for others.
    pub(super) fn jump_in_range(
        &mut self,
        condition: &Expr,
        [yes, no]: [Block; 2],
    ) -> Option<Mark> {
        if self.program.oob != Oob::Error {
            return None;
        }
        let parts = parts(condition);
        let ranges = bounded(self.program.kernel, &parts);
        if ranges.is_empty() || !parts.iter().all(|it| self.is_quick(it)) {
            return None;
        }
        let mut known = Vec::new();
        let mut holds = None;
        for (position, part) in parts.iter().enumerate() {
            if ranges.iter().any(|it| it.lower == Some(position)) {
                continue;
            }
            let here = match ranges.iter().find(|it| it.upper == position) {
                Some(range) => self.lies_in(range, &mut known),
                None => self.expr(part),
            };
            holds = Some(match holds {
                Some(before) => self.builder.ins().band(before, here),
                None => here,
            });
        }
        self.builder.ins().brif(holds?, yes, &[], no, &[]);
        let mark = self.mark();
        for (value, extent) in known {
            self.keep_in_range(value, &extent);
        }
        Some(mark)
    }

    /// Whether the number lies in the dimension, as one comparison of numbers without a sign, since no extent is negative.
    fn lies_in(&mut self, range: &Bounded<'_>, known: &mut Vec<(Value, AffineExpr)>) -> Value {
        let subscript = Subscript::Computed(range.number.clone());
        let value = self.known_index(&subscript).unwrap_or_else(|| {
            let value = self.extended(range.number);
            self.keep_index(&subscript, value);
            value
        });
        let extent = self.exact_affine(&range.extent);
        known.push((value, range.extent.clone()));
        let ins = self.builder.ins();
        ins.icmp(IntCC::UnsignedLessThan, value, extent)
    }
}
