//! Elements that the next turn of a `while` loop reads, loaded in this one.
//!
//! Where two sorted rows are merged, a comparison of two elements tells in which row to go on, and
//! the next comparison waits for a load, which waits for this one. What the next turn reads is the
//! element that is there already or the one behind it, though: both are there in time if the second
//! is loaded before it is known whether it is wanted, and the comparison picks a value instead of
//! an address. It is a speculative load of software pipelining (Rau: Iterative modulo scheduling,
//! 1994).

use super::function::{Binding, FunctionLowering};
use super::known::Width;
use super::sum::adds;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{InstBuilder, Value, types};
use cranelift_frontend::Variable;
use strew_affine::changed::Changed;
use strew_affine::interpret::Oob;
use strew_affine::visit::{for_each_load, has_loops, walk};
use strew_affine::{Access, CompareOp, Expr, LocalId, Node, Place, Subscript, Type};

/// A subscript goes on by so much at most, so that one of 32 bits that is in range turns negative
/// where it overflows.
const FURTHEST: i64 = 1 << 15;

/// Loops of no more statements, those in conditions among them, are lowered twice, once for where
/// nothing that they read needs a look.
const MOST_TWICE: usize = 16;

/// An element at a scalar that a turn moves at most once, where a condition holds.
#[derive(Debug)]
pub(super) struct EarlyRead<'k> {
    access: &'k Access,
    /// The scalar, as the subscript that it is.
    subscript: &'k Expr,
    at: Variable,
    /// By how much it moves.
    step: i64,
    /// The element, extended to 64 bits.
    held: Variable,
}

/// Whether turns may read elements that are not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// They may, so each looks.
    Checked,
    /// The condition of the loop ends it before, and before what is loaded early is not there.
    Within,
}

/// The same in a turn.
#[derive(Clone, Copy, Debug)]
pub(super) struct Early {
    at: Variable,
    held: Variable,
    /// The element that it moves to; the one that is held where there is none.
    next: Value,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// What turns of `body`, of a `while` loop, begin by reading.
    pub(super) fn early_reads(&mut self, body: &'k [Node]) -> Vec<EarlyRead<'k>> {
        if self.program.oob != Oob::Error {
            return Vec::new();
        }
        // Behind another statement, an index out of range would be found too soon.
        let firsts = body.iter().map_while(|node| match node {
            Node::Declare {
                local,
                value: Expr::Load(access),
            } => Some((*local, access)),
            _ => None,
        });
        let reads = firsts.map_while(|(local, access)| self.early_read(local, access, body));
        reads.collect()
    }

    fn early_read(
        &mut self,
        local: LocalId,
        access: &'k Access,
        body: &'k [Node],
    ) -> Option<EarlyRead<'k>> {
        let kernel = self.program.kernel;
        let [Subscript::Computed(subscript @ Expr::Local(at))] = access.subscripts.as_slice()
        else {
            return None;
        };
        let is_signed = kernel.locals[*at].ty.is_signed();
        let is_integer = kernel.arrays[access.array].element.is_integer();
        let is_read_only = self.program.facts.is_read_only(access.array);
        let may = is_signed && is_integer && is_read_only && !self.is_idle(local);
        let Some(Binding::Mutable(variable)) = self.locals.get(*at).copied().filter(|_| may) else {
            return None;
        };
        let step = self.only_step(*at, body)?;
        Some(EarlyRead {
            access,
            subscript,
            at: variable,
            step,
            held: self.builder.declare_var(types::I64),
        })
    }

    /// By how much a turn of `body` moves `local`, if it does so in one place, where a condition
    /// picks whether to.
    fn only_step(&self, local: LocalId, body: &'k [Node]) -> Option<i64> {
        let mut set = 0;
        walk(body, &mut |node, _| {
            let places = node.places().iter();
            set += places.filter(|it| **it == Place::Local(local)).count();
        });
        let ty = self.program.kernel.locals[local].ty;
        let step = body.iter().find_map(|node| match node {
            Node::ScfIf {
                condition,
                then,
                otherwise,
                ..
            } if self.choice(condition, [then, otherwise]).is_some() => {
                then.iter().find_map(|node| step_of(node, local, ty))
            }
            _ => None,
        });
        step.filter(|step| set == 1 && (-FURTHEST..=FURTHEST).contains(step))
    }

    /// Loads what the first turn reads.
    pub(super) fn load_early(&mut self, reads: &[EarlyRead<'k>]) {
        for read in reads {
            let held = self.load_extended(read.access);
            self.builder.def_var(read.held, held);
        }
    }

    /// Whether all `reads`, and those that would come after them, stay within their arrays as long
    /// as `condition` holds, since it keeps their subscripts, which only grow, below ends that
    /// `body` does not move. `None` where it does not, or where the loop is long.
    pub(super) fn are_within(
        &mut self,
        condition: &'k Expr,
        body: &'k [Node],
        reads: &[EarlyRead<'k>],
    ) -> Option<Value> {
        let mut statements = 0;
        walk(body, &mut |_, _| statements += 1);
        let is_short = statements <= MOST_TWICE && !has_loops(body);
        let ends = reads.iter().map(|read| {
            let grows = read.step > 0 && is_short;
            end_of(condition, read.subscript).filter(|it| grows && self.is_left_alone(it, body))
        });
        let ends: Vec<_> = ends.collect::<Option<_>>()?;
        let pairs = reads.iter().zip(ends);
        let within: Vec<_> = pairs
            .map(|(read, end)| self.ends_within(read, end))
            .collect::<Option<_>>()?;
        let both = |one, other| self.builder.ins().band(one, other);
        within.into_iter().reduce(both)
    }

    /// Whether a subscript below `end`, or a step further, is of an element that is there and has
    /// its type.
    fn ends_within(&mut self, read: &EarlyRead<'k>, end: &'k Expr) -> Option<Value> {
        let array = self.arrays.get(read.access.array)?;
        let extent = array.extents.first().copied()?;
        let bits = read.subscript.ty(self.program.kernel).bits();
        let most = i64::MAX >> (i64::BITS - bits);
        let end = self.extended(end);
        let ins = &mut self.builder;
        let most = ins.ins().iconst(types::I64, most);
        let extent = ins.ins().smin(extent, most);
        let last = ins.ins().iadd_imm_s(extent, -read.step);
        Some(ins.ins().icmp(IntCC::SignedLessThanOrEqual, end, last))
    }

    /// Whether `expr` has one value in all turns of `body`, and nobody else changes what it reads.
    fn is_left_alone(&self, expr: &Expr, body: &[Node]) -> bool {
        let mut is_read_only = true;
        for_each_load(expr, &mut |it| {
            is_read_only &= self.program.facts.is_read_only(it.array);
        });
        is_read_only && Changed::by(body).expr_stays(expr)
    }

    /// Begins a turn, of which `reads` were loaded in the one before.
    pub(super) fn begin_early(&mut self, reads: &[EarlyRead<'k>], reach: Reach) {
        for read in reads {
            if reach == Reach::Checked {
                self.check_access(read.access);
            }
            let held = self.builder.use_var(read.held);
            self.keep_element(read.access, held, Width::Extended);
            let next = self.next_element(read, reach);
            self.early.extend(next.map(|next| Early {
                at: read.at,
                held: read.held,
                next,
            }));
        }
    }

    fn next_element(&mut self, read: &EarlyRead<'k>, reach: Reach) -> Option<Value> {
        let array = self.arrays.get(read.access.array)?;
        let extent = array.extents.first().copied()?;
        let at = self.extended(read.subscript);
        let ins = &mut self.builder;
        let next = ins.ins().iadd_imm_s(at, read.step);
        if reach == Reach::Within {
            return Some(self.read_at(read.access, next));
        }
        let is_there = ins.ins().icmp(IntCC::UnsignedLessThan, next, extent);
        let there = ins.ins().select(is_there, next, at);
        Some(self.read_at(read.access, there))
    }

    /// Goes on to the next element wherever `condition` has picked the next subscript among
    /// `targets`.
    pub(super) fn pick_early(&mut self, condition: Value, targets: &[Variable]) {
        let moved = self.early.iter().filter(|it| targets.contains(&it.at));
        for Early { held, next, .. } in moved {
            let before = self.builder.use_var(*held);
            let picked = self.builder.ins().select(condition, *next, before);
            self.builder.def_var(*held, picked);
        }
    }
}

/// What `condition` keeps the scalar `at` below.
fn end_of<'k>(condition: &'k Expr, at: &Expr) -> Option<&'k Expr> {
    let is_it = |expr: &Expr| match expr {
        // The scalar is signed, so to widen it changes nothing.
        Expr::Cast(Type::I64, inner) => **inner == *at,
        _ => expr == at,
    };
    condition
        .conjuncts()
        .into_iter()
        .find_map(|part| match part {
            Expr::Compare(CompareOp::Lt, left, right) if is_it(left) => Some(&**right),
            Expr::Compare(CompareOp::Gt, left, right) if is_it(right) => Some(&**left),
            _ => None,
        })
}

/// By how much `node` moves `local`, if that is all it does.
fn step_of(node: &Node, local: LocalId, ty: Type) -> Option<i64> {
    let Node::Reduce {
        places,
        combiner,
        values,
        ..
    } = node
    else {
        return None;
    };
    let bodies = combiner.bodies(&[ty])?;
    let ([place], [Expr::Constant(step)], [body]) =
        (places.as_slice(), values.as_slice(), bodies.as_slice())
    else {
        return None;
    };
    let moves = *place == Place::Local(local) && adds(body);
    step.as_integer().filter(|_| moves)?.try_into().ok()
}
