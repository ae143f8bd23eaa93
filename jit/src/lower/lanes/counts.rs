//! How many updates lanes make on a side of a condition, for the report.

use super::value::InLanes;
use super::vectors::{Side, Vectors};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use strew_affine::Node;

impl Vectors<'_, '_, '_, '_> {
    /// Counts the updates among `nodes`, which the lanes make in which `condition` holds, or those
    /// in which it does not.
    pub(super) fn count_side(&mut self, condition: &InLanes, side: Side, nodes: &[Node]) {
        let facts = self.function.program.facts;
        if !nodes.iter().any(|it| facts.counts(it)) {
            return;
        }
        let holding = self.holding(condition);
        let lanes = match side {
            Side::Then => holding,
            Side::Otherwise => {
                let ins = &mut self.function.builder;
                let all = ins.ins().iconst(types::I64, i64::from(self.group.count));
                ins.ins().isub(all, holding)
            }
        };
        self.function.count_updates(nodes, Some(lanes));
    }

    /// In how many lanes `condition` holds.
    fn holding(&mut self, condition: &InLanes) -> Value {
        let ins = &mut self.function.builder;
        let zero = ins.ins().iconst(types::I64, 0);
        match condition {
            InLanes::Same(value) => {
                let all = ins.ins().iconst(types::I64, i64::from(self.group.count));
                ins.ins().select(*value, all, zero)
            }
            InLanes::Each(vectors) | InLanes::Mask(vectors) => {
                vectors.iter().fold(zero, |sum, vector| {
                    let bits = ins.ins().vhigh_bits(types::I64, *vector);
                    let holding = ins.ins().popcnt(bits);
                    ins.ins().iadd(sum, holding)
                })
            }
        }
    }
}
