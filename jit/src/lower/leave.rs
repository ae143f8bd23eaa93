//! Turns that are the last ones of a `while` loop: where a turn sets the flag that its loop goes on
//! by, and all that follows in the turn asks for that, too, it leaves the loop there and then.
//! That is what `break` was in the source.

use super::function::FunctionLowering;
use crate::CompileError;
use cranelift_codegen::ir::{Block, InstBuilder, types};
use strew_affine::interpret::Oob;
use strew_affine::visit::walk;
use strew_affine::{Expr, LocalId, Node, Place, Type, Value};

/// How a turn leaves its loop.
#[derive(Clone, Copy)]
pub(super) struct Leave {
    /// The loop goes on while this holds.
    flag: LocalId,
    /// Where all goes on behind the loop.
    done: Block,
}

impl Leave {
    /// Whether `node` does nothing where the flag does not hold.
    fn guards(self, node: &Node) -> bool {
        match node {
            Node::ScfIf {
                condition,
                otherwise,
                ..
            } => otherwise.is_empty() && flag(condition) == Some(self.flag),
            _ => false,
        }
    }

    /// Whether `node` ends the turns.
    fn is_taken_by(self, node: &Node) -> bool {
        is_no_more(node, self.flag)
    }
}

/// Whether `flag` does not hold behind `node`, which says so.
pub(super) fn is_no_more(node: &Node, flag: LocalId) -> bool {
    match node {
        Node::Assign {
            place: Place::Local(local),
            value: Expr::Constant(value),
            ..
        } => *local == flag && *value == Value::bool(false),
        _ => false,
    }
}

/// The scalar that `condition` asks for before all else: where it does not hold, nothing else of
/// the condition is computed, which could fail.
pub(super) fn flag(condition: &Expr) -> Option<LocalId> {
    match condition {
        Expr::Local(local) => Some(*local),
        Expr::And(left, _) => flag(left),
        _ => None,
    }
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How turns of a loop that goes on while `condition` holds leave it for `done`.
    pub(super) fn leaving(&self, condition: &Expr, done: Block) -> Option<Leave> {
        let kernel = self.program.kernel;
        // Where a statement is skipped, what comes behind it is skipped one by one.
        let may_leave = self.program.oob == Oob::Error;
        let flag = flag(condition).filter(|it| may_leave && kernel.locals[*it].ty == Type::Bool)?;
        Some(Leave { flag, done })
    }

    /// There is a turn only where the flag holds, which nobody has to ask in it before it is set.
    pub(super) fn enter_turn(&mut self, leave: Leave) {
        let holds = self.builder.ins().iconst(types::I8, 1);
        self.set_local(leave.flag, holds);
    }

    /// Lowers `nodes` one after the other. Those behind which there is nothing but what the flag
    /// guards may leave the loop.
    pub(super) fn nodes_that_leave(&mut self, nodes: &'k [Node]) -> Result<(), CompileError> {
        let around = self.leave;
        let mut siblings = self.siblings(nodes);
        for (position, node) in nodes.iter().enumerate() {
            let behind = nodes.get(position + 1..).unwrap_or_default();
            self.leave = around.filter(|it| behind.iter().all(|node| it.guards(node)));
            self.make_for_siblings(&mut siblings, node);
            self.statement(node)?;
            if self.leave.is_some_and(|it| it.is_taken_by(node)) {
                self.leave_now();
            }
        }
        self.leave = around;
        self.let_go_of_siblings(siblings);
        Ok(())
    }

    /// Whether one of `sides` may leave the loop: that it does is seldom, so that it is no choice
    /// between values.
    pub(super) fn leave_in(&self, sides: [&[Node]; 2]) -> bool {
        let mut leave = false;
        for side in sides {
            walk(side, &mut |node, _| {
                leave |= self.leave.is_some_and(|it| it.is_taken_by(node));
            });
        }
        leave
    }

    /// What is lowered behind is never reached.
    fn leave_now(&mut self) {
        if let Some(Leave { done, .. }) = self.leave {
            self.builder.ins().jump(done, &[]);
            let nowhere = self.builder.create_block();
            self.builder.switch_to_block(nowhere);
        }
    }
}
