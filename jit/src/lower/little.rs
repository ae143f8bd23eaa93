//! Whether a forall has enough to do to be shared among threads.

use super::function::FunctionLowering;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, FuncRef, InstBuilder, Value, types};
use strew_affine::lanes::turns_at_once;
use strew_affine::visit::Loop;
use strew_affine::{AffineExpr, AffineFor, Expr, Forall, Node, Variable};

/// A forall that runs fewer statements than this, of which the fastest take a third of a nanosecond, ends before a thread has woken up.
const LITTLE: i64 = 1 << 14;

/// A loop has at most so many turns here, and there are at most so many in all: no product leaves 64 bits.
const MOST_TURNS: i64 = 1 << 30;

/// So many turns has a loop whose bounds are found as it is reached.
const COMPUTED_TURNS: i64 = 64;

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// Calls the body at once, for all of its iterations, where there is little to do; else does what `share` does, which
    /// is told how many statements there are about. Both give a status.
    pub(super) fn by_work(
        &mut self,
        forall: &'k Forall,
        (body, frame): (FuncRef, Value),
        share: impl FnOnce(&mut Self, Value) -> Result<Value, CompileError>,
    ) -> Result<Value, CompileError> {
        let count = self.exact_affine(&forall.count);
        let work = self.work(forall, count);
        let is_little = self
            .builder
            .ins()
            .icmp_imm_s(IntCC::SignedLessThan, work, LITTLE);
        let [at_once, shared, done] = [(); 3].map(|()| self.builder.create_block());
        let status = self.builder.append_block_param(done, types::I32);
        self.builder
            .ins()
            .brif(is_little, at_once, &[], shared, &[]);
        self.go_on_in(at_once);
        let zero = self.builder.ins().iconst(types::I64, 0);
        let arguments = [self.call, frame, zero, zero, count];
        let call = self.builder.ins().call(body, &arguments);
        let ran = self.builder.inst_results(call)[0];
        self.builder.ins().jump(done, &[BlockArg::Value(ran)]);
        self.go_on_in(shared);
        let ran = share(self, work)?;
        self.builder.ins().jump(done, &[BlockArg::Value(ran)]);
        self.go_on_in(done);
        Ok(status)
    }

    /// About how many statements all iterations run, and at least one where there are iterations.
    fn work(&mut self, forall: &'k Forall, count: Value) -> Value {
        let middle = forall.count.floordiv(&2.into()).ok();
        let each = self.statements(&forall.body, &|variable| {
            (variable == Variable::Iter(forall.iter))
                .then(|| middle.clone())
                .flatten()
        });
        let count = self.bounded(count);
        let all = self.builder.ins().imul(count, each);
        self.bounded(all)
    }

    /// Between none and [`MOST_TURNS`].
    fn bounded(&mut self, turns: Value) -> Value {
        let [least, most] = [0, MOST_TURNS].map(|it| self.builder.ins().iconst(types::I64, it));
        let turns = self.builder.ins().smax(turns, least);
        self.builder.ins().smin(turns, most)
    }

    /// About how many statements `nodes` run, iterators around having the values that `middle` gives.
    fn statements(
        &mut self,
        nodes: &'k [Node],
        middle: &dyn Fn(Variable) -> Option<AffineExpr>,
    ) -> Value {
        let mut all = self.builder.ins().iconst(types::I64, 1);
        // What only hands on the value of a scalar takes no time.
        let is_work = |node: &&Node| {
            !matches!(
                node,
                Node::Assign {
                    value: Expr::Local(_),
                    ..
                }
            )
        };
        for node in nodes.iter().filter(is_work) {
            let each = match node {
                Node::AffineFor(it) => self.turns_of(it, middle),
                Node::ScfWhile { .. } => self.builder.ins().iconst(types::I64, COMPUTED_TURNS),
                _ if Loop::of(node).is_some() => {
                    self.builder.ins().iconst(types::I64, COMPUTED_TURNS)
                }
                _ => self.builder.ins().iconst(types::I64, 1),
            };
            let inside = node.blocks();
            let mut inner = self.builder.ins().iconst(types::I64, 1);
            let here = |variable| match node {
                Node::AffineFor(it) if variable == Variable::Iter(it.iter) => middle_of(it, middle),
                _ => middle(variable),
            };
            for block in inside {
                let statements = self.statements(block, &here);
                inner = self.builder.ins().iadd(inner, statements);
            }
            let statements = self.builder.ins().imul(each, inner);
            let statements = self.bounded(statements);
            all = self.builder.ins().iadd(all, statements);
        }
        self.bounded(all)
    }

    /// About how many turns `target` has each time: the least distance between alternatives of its bounds that parameters tell.
    fn turns_of(
        &mut self,
        target: &AffineFor,
        middle: &dyn Fn(Variable) -> Option<AffineExpr>,
    ) -> Value {
        let mut least: Option<Value> = None;
        for lower in &target.lower.0 {
            for upper in &target.upper.0 {
                let distance = upper.minus(lower).and_then(|it| it.substitute(&middle));
                let known = distance.ok().filter(AffineExpr::is_over_parameters);
                if let Some(distance) = known {
                    let distance = self.exact_affine(&distance);
                    least = Some(match least {
                        Some(least) => self.builder.ins().smin(least, distance),
                        None => distance,
                    });
                }
            }
        }
        let Some(distance) = least else {
            return self.builder.ins().iconst(types::I64, COMPUTED_TURNS);
        };
        let lanes = turns_at_once(self.program.kernel, target);
        let together = target.step.saturating_mul(i64::from(lanes)).max(1);
        let turns = match together {
            1 => distance,
            // One that is not whole counts, too: where tiles are longer than loops, it is all there is.
            _ => {
                let begun = self.builder.ins().iadd_imm_s(distance, together - 1);
                let together = self.builder.ins().iconst(types::I64, together);
                self.builder.ins().sdiv(begun, together)
            }
        };
        self.bounded(turns)
    }
}

/// An iteration in the middle of `target`, whose bounds have the values that `middle` gives to iterators around.
fn middle_of(
    target: &AffineFor,
    middle: &dyn Fn(Variable) -> Option<AffineExpr>,
) -> Option<AffineExpr> {
    let both = target
        .lower
        .as_single()?
        .plus(target.upper.as_single()?)
        .ok()?;
    let both = both.substitute(&middle).ok()?;
    both.floordiv(&2.into()).ok()
}
