//! The step `unroll`.

mod hoist;

use crate::address::{self, Target};
use crate::copy::Copying;
use crate::tiling::trip_count;
use crate::tree::replace_loop;
use crate::{LoopPath, Reason};
use hoist::Hoisting;
use std::fmt;
use strew_affine::visit;
use strew_affine::{AffineExpr, AffineFor, Bound, Iter, IterId, Kernel, Node, Overflow};

/// Runs several iterations of a loop in one turn, and what is left over in a loop of its own.
///
/// ```text
/// affine.for i in 0..n {                      affine.for i in 0..n - 1 step 2 {
///   out[seg[i]] reduce(add) f64(x[i])           let seg_0: i32 = seg[i]
/// }                                             let seg_1: i32 = seg[i + 1]
///                                        →      out[seg_0] reduce(add) f64(x[i])
///                                               out[seg_1] reduce(add) f64(x[i + 1])
///                                             }
///                                             affine.for i_r in max(0, 2 * (n floordiv 2))..n {
///                                               out[seg[i_r]] reduce(add) f64(x[i_r])
///                                             }
/// ```
///
/// Always legal: updates keep their order. What moves are loads that only subscripts need, and of these only loads that
/// cannot fault and whose array the loop does not write, so the first fault in serial order stays the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Unroll {
    /// The loop, an `affine.for`.
    pub target: LoopPath,
    /// How many iterations a turn, from 2 to [`Unroll::MOST`].
    pub factor: u64,
}

impl Unroll {
    /// The word that the step begins with.
    pub const NAME: &'static str = "unroll";
    /// The greatest factor.
    pub const MOST: u64 = 64;
    /// How many nodes the copies of a body can be together.
    pub const MOST_NODES: u64 = 16_384;

    /// A request to unroll `target` by `factor`.
    pub fn new(target: impl Into<LoopPath>, factor: u64) -> Self {
        Self {
            target: target.into(),
            factor,
        }
    }
}

impl fmt::Display for Unroll {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}, {})", Self::NAME, self.target, self.factor)
    }
}

/// The kernel with the step done. `kernel` must be a verified one.
///
/// # Errors
/// Why the step is declined.
pub fn unroll(kernel: &Kernel, request: &Unroll) -> Result<Kernel, Reason> {
    Ok(rewrite(plan(kernel, request)?))
}

/// What the rewriting needs: all that could fail is in it already.
struct Plan {
    /// The kernel, with all new names made.
    kernel: Kernel,
    target: IterId,
    /// The loop over whole turns, then the one over what is left, if anything can be.
    loops: Vec<AffineFor>,
}

fn plan(kernel: &Kernel, request: &Unroll) -> Result<Plan, Reason> {
    let Target { it: target, around } = address::find_affine_for(kernel, &request.target)?;
    let factor = checked_factor(request, target)?;
    let (Some(lower), Some(upper)) = (target.lower.as_single(), target.upper.as_single()) else {
        let path = request.target.clone();
        return Err(Reason::SeveralBounds { path });
    };
    let hoisting = Hoisting::of(kernel, target, &around);
    let mut prepared = kernel.clone();
    let copies = Copies {
        target,
        factor,
        hoisting,
    };
    let turn = copies.turn(&mut prepared, lower, upper)?;
    let left_over = copies.left_over(&mut prepared, lower, upper)?;
    Ok(Plan {
        kernel: prepared,
        target: target.iter,
        loops: std::iter::once(turn).chain(left_over).collect(),
    })
}

fn checked_factor(request: &Unroll, target: &AffineFor) -> Result<i64, Reason> {
    let out_of_bounds = |what, given, least, most| Reason::OutOfBounds {
        what,
        given,
        least,
        most,
    };
    let given = request.factor;
    if !(2..=Unroll::MOST).contains(&given) {
        return Err(out_of_bounds("the factor", given, 2, Unroll::MOST));
    }
    let mut nodes: u64 = 0;
    visit::walk(&target.body, &mut |_, _| nodes += 1);
    let copied = nodes.saturating_mul(given);
    if copied > Unroll::MOST_NODES {
        let what = "the number of statements in all copies of the body";
        return Err(out_of_bounds(what, copied, 0, Unroll::MOST_NODES));
    }
    i64::try_from(given).map_err(|_| Reason::Overflow)
}

/// The making of the two loops.
struct Copies<'k> {
    target: &'k AffineFor,
    factor: i64,
    hoisting: Hoisting<'k>,
}

impl Copies<'_> {
    /// `affine.for i in lower..upper - (factor - 1) * step step factor * step`: turns that are whole.
    fn turn(
        &self,
        kernel: &mut Kernel,
        lower: &AffineExpr,
        upper: &AffineExpr,
    ) -> Result<AffineFor, Overflow> {
        let AffineFor {
            iter, step, body, ..
        } = self.target;
        let mut hoisted = Vec::new();
        let mut statements = Vec::new();
        for copy in 0..self.factor {
            let offset = step.checked_mul(copy).ok_or(Overflow)?;
            let suffix = usize::try_from(copy).unwrap_or_default();
            let copying = Copying::shift(*iter, *iter, offset).anew(kernel, body, suffix);
            let mut block = copying.block(body)?;
            hoisted.extend(self.hoisting.hoist(kernel, &copying, &mut block, suffix)?);
            statements.append(&mut block);
        }
        hoisted.append(&mut statements);
        let last = step.checked_mul(self.factor - 1).ok_or(Overflow)?;
        Ok(AffineFor {
            iter: *iter,
            lower: lower.clone().into(),
            upper: upper.minus(&last.into())?.into(),
            step: step.checked_mul(self.factor).ok_or(Overflow)?,
            body: hoisted,
        })
    }

    /// The iterations after the last whole turn; `None` when it is known that there are none.
    fn left_over(
        &self,
        kernel: &mut Kernel,
        lower: &AffineExpr,
        upper: &AffineExpr,
    ) -> Result<Option<AffineFor>, Overflow> {
        let AffineFor {
            iter, step, body, ..
        } = self.target;
        let trips = trip_count(lower, upper, *step)?;
        if trips
            .as_constant()
            .is_some_and(|trips| trips <= 0 || trips % self.factor == 0)
        {
            return Ok(None);
        }
        let turns = trips.floordiv(&self.factor.into())?;
        let turn = step.checked_mul(self.factor).ok_or(Overflow)?;
        let begin = lower.plus(&turns.scaled(turn)?)?;
        // A loop that is empty from the start has a negative number of turns: nothing before `lower` may run.
        let begin = match trips.as_constant() {
            Some(_) => begin.into(),
            None => Bound(vec![lower.clone(), begin]),
        };
        let Iter { name, span } = kernel.iters[*iter].clone();
        let name = kernel.fresh_name(&format!("{name}_r"));
        let rest = kernel.iters.alloc(Iter { name, span });
        Ok(Some(AffineFor {
            iter: rest,
            lower: begin,
            upper: upper.clone().into(),
            step: *step,
            body: Copying::shift(*iter, rest, 0).block(body)?,
        }))
    }
}

fn rewrite(
    Plan {
        mut kernel,
        target,
        loops,
    }: Plan,
) -> Kernel {
    let mut loops = loops.into_iter().map(Node::AffineFor).collect();
    replace_loop(&mut kernel.body, target, &mut loops);
    kernel
}
