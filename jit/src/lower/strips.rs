//! Long loops look at the stop token, not in every turn but between strips of turns.
//!
//! Which loops look, and how often, is so that little is done between two looks, and that they cost
//! next to nothing: the outermost long loop of a function does, and every loop around a long one.
//! What lies between is about as many turns of the innermost loops as [`TURNS_BETWEEN_LOOKS`], or
//! one run of an innermost loop inside of another if that is more.

use super::frame::InFrame;
use super::function::FunctionLowering;
use super::loops::{Counted, Limit, Tail};
use super::trips::fixed;
use crate::CompileError;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{Block, BlockArg, InstBuilder, Value, types};
use strew_affine::visit::{Loop, walk};
use strew_affine::{AffineExpr, AffineFor, Factor, Node};

/// A loop without loops inside looks after so many turns.
const TURNS_BETWEEN_LOOKS: i64 = 1 << 20;

/// A loop around loops looks after so many turns at most.
const OUTER_TURNS_BETWEEN_LOOKS: i64 = 1 << 6;

/// A loop over a shorter distance does not look at all.
const SHORT: i64 = 1 << 6;

/// After how many of its turns a loop looks at the stop token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pace {
    /// After so many.
    Turns(i64),
    /// After one where that is much work, and else after [`OUTER_TURNS_BETWEEN_LOOKS`].
    ByWorkInside,
}

/// A loop in strips while it is made.
pub(super) struct Strips {
    /// Where a strip begins.
    begin: Block,
    /// Where its turns end.
    edge: Block,
    /// The value behind those.
    next: Value,
    /// Where in the frame the end of all strips is.
    upper: InFrame,
    /// How many turns count as work then, if they do.
    worked: Option<Value>,
}

impl<'k> FunctionLowering<'_, 'k, '_> {
    /// How often the loop is to look at the stop token, if it is. Loops over computed bounds do,
    /// since those can be anything.
    pub(super) fn pace(&self, counted: &Counted<'k>) -> Option<Pace> {
        let pace = Pace::of(counted.body);
        let looks = match counted.around {
            Loop::Scf(_) => true,
            Loop::Affine(node) => {
                !is_short(node) && (self.is_outermost_long() || pace.is_around_long_loops())
            }
            // The runtime looks between its calls of the body.
            Loop::Forall(_) => false,
        };
        let fits = counted.step.checked_mul(pace.most_turns()).is_some();
        (looks && fits).then_some(pace)
    }

    /// Whether no loop around in this function looks.
    fn is_outermost_long(&self) -> bool {
        let inside = self.loops.iter().rev();
        let mut inside = inside.take_while(|it| !matches!(it, Loop::Forall(_)));
        inside.all(|it| matches!(it, Loop::Affine(around) if is_short(around)))
    }

    /// The turns in strips between the first and the last value, with a look at the stop token
    /// between two strips. It is one loop all the same: the end of the strip is carried along, and
    /// moved where a strip is over.
    pub(super) fn strips(
        &mut self,
        counted: &Counted<'k>,
        pace: Pace,
        done: Block,
    ) -> Result<(), CompileError> {
        let (strips, tail) = self.begin_strips(counted, pace);
        self.turn(counted, &tail)?;
        self.end_strips(counted, &strips, done);
        Ok(())
    }

    /// What comes before the first turn, and behind each.
    pub(super) fn begin_strips(&mut self, counted: &Counted<'k>, pace: Pace) -> (Strips, Tail) {
        let [begin, turn, edge] = [(); 3].map(|()| self.builder.create_block());
        // In a register it would be in the way of what the turns need.
        let upper = self.place_in_frame();
        self.keep_in_frame(counted.upper, upper);
        let turns = self.turns_of_strip(counted, pace);
        let strip = self.builder.ins().imul_imm_s(turns, counted.step);
        // Beside the values of loops inside it would be computed in each turn again, or take a
        // register from them.
        let kept = pace.is_around_loops().then(|| self.place_in_frame());
        let worked = self.begin_work(counted);
        let first = [BlockArg::Value(counted.lower)];
        self.builder.ins().jump(begin, &first);
        self.builder.switch_to_block(begin);
        let first = self.builder.append_block_param(begin, types::I64);
        let end = self.end_of_strip(counted, (first, upper), strip);
        let (carried, end_of_turns) = match kept {
            Some(at) => {
                self.keep_in_frame(end, at);
                (Vec::new(), Limit::Kept(at))
            }
            None => {
                let carried = self.builder.append_block_param(turn, types::I64);
                (vec![carried], Limit::Value(carried))
            }
        };
        let first = carried.iter().map(|_| end).chain([first]);
        let first: Vec<_> = first.map(BlockArg::Value).collect();
        self.builder.ins().jump(turn, &first);
        let next = self.builder.append_block_param(edge, types::I64);
        let tail = Tail {
            turn,
            carried,
            limit: end_of_turns,
            next_fits: true,
            exit: edge,
        };
        let strips = Strips {
            begin,
            edge,
            next,
            upper,
            worked: worked.then_some(turns),
        };
        (strips, tail)
    }

    /// What comes behind the last turn of a strip; behind that of the last one `done` does.
    pub(super) fn end_strips(&mut self, counted: &Counted<'k>, strips: &Strips, done: Block) {
        let look = self.builder.create_block();
        self.builder.switch_to_block(strips.edge);
        let upper = self.kept(strips.upper);
        let more = self.is_turn(counted.step, strips.next, upper);
        self.builder.ins().brif(more, look, &[], done, &[]);
        self.builder.set_cold_block(look);
        self.builder.switch_to_block(look);
        if let Some(turns) = strips.worked {
            self.add_work(counted, turns);
        }
        self.poll_stop();
        let again = [BlockArg::Value(strips.next)];
        self.builder.ins().jump(strips.begin, &again);
    }

    /// Whether there is a turn at `next`, so much behind another one, which may have wrapped
    /// around. What is left to `upper` is, as a number without sign, zero or at most `step` below
    /// 2^64 where there is none. To ask for the turn before it would keep that in a register.
    fn is_turn(&mut self, step: i64, next: Value, upper: Value) -> Value {
        let ins = &mut self.builder;
        let left = ins.ins().isub(upper, next);
        let behind = ins.ins().iadd_imm_s(left, -1);
        let most = ins.ins().iconst(types::I64, -1 - step);
        ins.ins().icmp(IntCC::UnsignedLessThan, behind, most)
    }

    fn turns_of_strip(&mut self, counted: &Counted<'k>, pace: Pace) -> Value {
        let turns = pace.most_turns();
        let turns = self.builder.ins().iconst(types::I64, turns);
        match pace {
            Pace::Turns(_) => turns,
            Pace::ByWorkInside => {
                let inside = self.turns_inside(counted.body);
                let much = TURNS_BETWEEN_LOOKS / OUTER_TURNS_BETWEEN_LOOKS;
                let beyond = IntCC::UnsignedGreaterThan;
                let is_much = self.builder.ins().icmp_imm_u(beyond, inside, much);
                let one = self.builder.ins().iconst(types::I64, 1);
                self.builder.ins().select(is_much, one, turns)
            }
        }
    }

    /// What next values are compared with in the strip that begins at `first`, which is below the
    /// upper bound that is kept at `upper`.
    fn end_of_strip(
        &mut self,
        counted: &Counted<'k>,
        (first, upper): (Value, InFrame),
        strip: Value,
    ) -> Value {
        let upper = self.kept_apart(upper);
        let left = self.builder.ins().isub(upper, first);
        let beyond = IntCC::UnsignedGreaterThan;
        let is_far = self.builder.ins().icmp(beyond, left, strip);
        let near = self.builder.ins().iadd(first, strip);
        let end = self.builder.ins().select(is_far, near, upper);
        match counted.meets_end() {
            true => end,
            false => self.where_next_fits(counted.step, first, end),
        }
    }

    /// `end`, or so much less that the values behind those before it fit: a strip whose first turn
    /// has no next value is that turn alone.
    fn where_next_fits(&mut self, step: i64, first: Value, end: Value) -> Value {
        let ins = &mut self.builder;
        let last = ins.ins().iconst(types::I64, i64::MAX - step);
        let least = ins.ins().iconst(types::I64, i64::MIN);
        let end = ins.ins().smin(end, last);
        let fits = IntCC::SignedLessThanOrEqual;
        let fits = ins.ins().icmp(fits, first, last);
        ins.ins().select(fits, end, least)
    }
}

impl Pace {
    /// That of a loop with this body, by the loops in it.
    fn of(body: &[Node]) -> Self {
        let (mut has_loops, mut has_long, mut are_fixed) = (false, false, true);
        walk(body, &mut |node, _| {
            has_loops |= Loop::of(node).is_some();
            if let Node::AffineFor(inner) = node
                && !is_short(inner)
            {
                has_long = true;
                are_fixed &= fixed(&inner.lower).is_some() && fixed(&inner.upper).is_some();
            }
        });
        match (has_loops, has_long, are_fixed) {
            (false, ..) => Self::Turns(TURNS_BETWEEN_LOOKS),
            (true, false, _) => Self::Turns(OUTER_TURNS_BETWEEN_LOOKS),
            (true, true, true) => Self::ByWorkInside,
            (true, true, false) => Self::Turns(1),
        }
    }

    fn is_around_loops(self) -> bool {
        self != Self::Turns(TURNS_BETWEEN_LOOKS)
    }

    fn is_around_long_loops(self) -> bool {
        matches!(self, Self::ByWorkInside | Self::Turns(1))
    }

    fn most_turns(self) -> i64 {
        match self {
            Self::Turns(turns) => turns,
            Self::ByWorkInside => OUTER_TURNS_BETWEEN_LOOKS,
        }
    }
}

/// Whether some upper bound is never further than [`SHORT`] from some lower one.
pub(super) fn is_short(node: &AffineFor) -> bool {
    let distances = node.upper.0.iter().flat_map(|upper| {
        let lower = node.lower.0.iter();
        lower.filter_map(|lower| greatest(&upper.minus(lower).ok()?))
    });
    distances.into_iter().any(|distance| distance <= SHORT)
}

/// A bound on `expr`: a constant is one, and `a - (a floordiv d) * d`, what a loop in steps of `d`
/// leaves over, is at most `d - 1`.
fn greatest(expr: &AffineExpr) -> Option<i64> {
    expr.as_constant().or_else(|| {
        expr.terms().iter().find_map(|term| {
            let [Factor::FloorDiv(dividend, divisor)] = term.factors.as_slice() else {
                return None;
            };
            let divisor = divisor.as_constant()?;
            if divisor.checked_neg() != Some(term.coefficient) {
                return None;
            }
            let whole = dividend.floordiv(&divisor.into()).ok()?;
            let remainder = dividend.minus(&whole.scaled(divisor).ok()?).ok()?;
            let rest = expr.minus(&remainder).ok()?.as_constant()?;
            rest.checked_add(divisor - 1)
        })
    })
}
