//! Elements that a condition keeps, stored without a jump.
//!
//! `if (x[i] > t) out[m++] = x[i]` keeps elements as it comes: nobody foretells the jump, and each
//! one that is foretold wrongly takes as long as some twenty instructions. So what the condition
//! does not keep is stored too, in a place of the frame that nobody reads, and the counter moves by
//! nothing. Of 16 million random floats 25 to 71 ms became 16 where a tenth to nine tenths are
//! kept; where one in a hundred is, 11 did.

use super::choice::Cost;
use super::function::FunctionLowering;
use crate::CompileError;
use cranelift_codegen::ir::{InstBuilder, Value};
use strew_affine::interpret::Oob;
use strew_affine::tickets::step_of;
use strew_affine::visit::for_each_load;
use strew_affine::{Access, Expr, Node, Place, Subscript};

/// More elements take longer than the jump.
const MOST_ELEMENTS: usize = 3;

/// So many operations on both sides together.
const MOST_OPERATIONS: usize = 12;

/// What conditions do that keep elements.
#[derive(Default)]
struct Kept<'k> {
    /// How often they move a counter.
    counters: usize,
    elements: usize,
    cost: Cost<'k>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Lowers a condition that keeps elements without a jump, if it may be: whether it did.
    pub(super) fn keep(
        &mut self,
        condition: &Expr,
        sides: [&'k [Node]; 2],
    ) -> Result<bool, CompileError> {
        if !self.asks_data(condition) || !self.only_keep(sides) {
            return Ok(false);
        }
        let holds = self.expr(condition);
        self.keep_where(holds, sides[0])?;
        if !sides[1].is_empty() {
            let fails = self.builder.ins().bxor_imm_u(holds, 1);
            self.keep_where(fails, sides[1])?;
        }
        Ok(true)
    }

    /// Whether `condition` compares what is read along the loop, and nothing in it can fail.
    fn asks_data(&self, condition: &Expr) -> bool {
        let mut reads = false;
        for_each_load(condition, &mut |_| reads = true);
        self.is_plain() && reads && self.is_at_hand(condition)
    }

    /// Whether statements do what they say and no more: bodies that only check write nothing,
    /// others may skip some.
    pub(super) fn is_plain(&self) -> bool {
        self.program.oob == Oob::Error
            && self.disjoint.is_empty()
            && self.checked.is_empty()
            && self.deciding.is_none()
    }

    /// Whether `sides` do nothing but to keep elements and to move counters.
    fn only_keep(&self, sides: [&'k [Node]; 2]) -> bool {
        let mut kept = Kept::default();
        let mut nodes = sides.into_iter().flatten();
        nodes.all(|node| self.add_kept(node, &mut kept).is_some())
            && kept.counters > 0
            && (1..=MOST_ELEMENTS).contains(&kept.elements)
            && kept.cost.operations <= MOST_OPERATIONS
    }

    fn add_kept(&self, node: &Node, kept: &mut Kept<'_>) -> Option<()> {
        match node {
            Node::Declare { local, value } => {
                let cost = &mut kept.cost;
                self.is_cheap_let(*local, value, cost).then_some(())
            }
            Node::Assign {
                place: Place::Element(access),
                value,
                ..
            } => {
                kept.elements += 1;
                let is_plain = self.promoted_element(access).is_none();
                let is_known = self.are_cheap(access, &mut kept.cost);
                (is_plain && is_known && self.is_at_hand(value)).then_some(())
            }
            _ => {
                kept.counters += 1;
                self.cheap_target(node, &mut kept.cost).map(drop)
            }
        }
    }

    fn are_cheap(&self, access: &Access, cost: &mut Cost<'_>) -> bool {
        access.subscripts.iter().all(|it| match it {
            Subscript::Affine(_) => true,
            Subscript::Computed(expr) => self.is_cheap(expr, cost),
        })
    }

    /// Does what `side` does where it `holds`.
    fn keep_where(&mut self, holds: Value, side: &'k [Node]) -> Result<(), CompileError> {
        self.count_updates_where(holds, side);
        self.scoped(|function| {
            side.iter().try_for_each(|node| match node {
                Node::Assign {
                    place: Place::Element(access),
                    value,
                    ..
                } => {
                    function.store_where(holds, access, value);
                    Ok(())
                }
                Node::Declare { .. } => function.statement(node),
                _ => function.move_where(holds, node),
            })
        })
    }

    /// Moves a counter as `node` does where it `holds`, and else by nothing.
    fn move_where(&mut self, holds: Value, node: &'k Node) -> Result<(), CompileError> {
        let Some(counter) = self.cheap_target(node, &mut Cost::default()) else {
            return self.statement(node);
        };
        let before = self.builder.use_var(counter);
        let after = match step_of(node) {
            Some(step) => {
                let ty = self.builder.func.dfg.value_type(before);
                let ins = &mut self.builder;
                let once = ins.ins().uextend(ty, holds);
                let by = match step {
                    1 => once,
                    _ => ins.ins().imul_imm_s(once, step),
                };
                ins.ins().iadd(before, by)
            }
            None => {
                self.statement(node)?;
                let moved = self.builder.use_var(counter);
                self.builder.ins().select(holds, moved, before)
            }
        };
        self.builder.def_var(counter, after);
        node.places()
            .iter()
            .filter_map(Place::local)
            .for_each(|it| self.forget_local(it));
        Ok(())
    }

    fn store_where(&mut self, holds: Value, access: &'k Access, value: &'k Expr) {
        let value = self.expr(value);
        let nowhere = self.stack(size_of::<u64>());
        if let Some(element) = self.element_where(access, holds) {
            let ins = &mut self.builder;
            let place = ins.ins().select(holds, element.address, nowhere);
            ins.ins()
                .store(element.flags, value, place, element.displacement);
        }
    }
}
