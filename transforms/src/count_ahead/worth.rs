//! Whether counting ahead is worth it, as far as sizes tell.

use crate::build::both;
use crate::tiling::trip_count;
use strew_affine::tickets::step_of;
use strew_affine::visit::{for_each_load_of, walk};
use strew_affine::{
    AffineExpr, AffineFor, AffineValues, CompareOp, Expr, Kernel, Node, Overflow, Subscript,
    Variable,
};

/// So often a counter has to move for it to pay that sums over the parts are made for it: of a
/// million counters each takes the time of five.
const MOVES_PER_COUNTER: i64 = 8;

/// How far counters move.
pub(super) struct Moves {
    /// Altogether, at most, where the bounds of all loops tell.
    most: Option<AffineExpr>,
    /// About as far.
    about: AffineExpr,
}

impl Moves {
    /// Those of `counting`, what one iteration of `target` does to count.
    pub(super) fn of(
        kernel: &Kernel,
        target: &AffineFor,
        counting: &[Node],
    ) -> Result<Self, Overflow> {
        let trips = trips_of(target)?;
        let most = match each(&mut counting.iter())? {
            Some(each) => Some(trips.times(&each)?),
            None => None,
        };
        let about = most.clone().or_else(|| along(kernel, counting));
        Ok(Self {
            most,
            about: about.unwrap_or(trips),
        })
    }

    /// Whether sizes tell at most how far, so that where [`is_worth_it`](Self::is_worth_it) holds
    /// counts fit 32 bits.
    pub(super) fn are_bounded(&self) -> bool {
        self.most.is_some()
    }

    /// That there are threads, and that so many counters move often enough, and `least` times
    /// anyway.
    pub(super) fn is_worth_it(
        &self,
        kernel: &Kernel,
        counters: &AffineExpr,
        least: i64,
    ) -> Result<Expr, Overflow> {
        let values = AffineValues {
            kernel,
            counter: None,
        };
        let least = counters.scaled(MOVES_PER_COUNTER)?.offset(least)?;
        let [least, about] = [&least, &self.about].map(|it| values.value(it));
        let threads = Expr::compare(CompareOp::Gt, Expr::Threads, Expr::i64(1));
        let enough = Expr::compare(CompareOp::Le, least, about);
        let fits = self.most.as_ref().map(|most| {
            let most = values.value(most);
            Expr::compare(CompareOp::Le, most, Expr::i64(i32::MAX.into()))
        });
        let all = [enough].into_iter().chain(fits);
        Ok(all.fold(threads, both))
    }
}

fn trips_of(it: &AffineFor) -> Result<AffineExpr, Overflow> {
    let [lower, upper] = [&it.lower, &it.upper].map(|it| it.0.first().cloned().unwrap_or_default());
    trip_count(&lower, &upper, it.step)
}

/// How far `nodes` move counters at most; `None` where that is not known from parameters. A loop
/// over a number of iterations that only a call knows, and that may be less than none, must be all
/// there is: beside others it would take from what these do.
fn each(nodes: &mut dyn Iterator<Item = &Node>) -> Result<Option<AffineExpr>, Overflow> {
    let mut sum = AffineExpr::from(0);
    for node in nodes {
        let moves = match node {
            Node::AffineFor(inner) => {
                let trips = trips_of(inner)?;
                match each(&mut inner.body.iter())?.filter(|_| trips.is_over_parameters()) {
                    Some(each) => trips.times(&each)?,
                    None => return Ok(None),
                }
            }
            Node::ScfFor(_) | Node::ScfWhile { .. } | Node::Forall(_) => return Ok(None),
            Node::Reduce { .. } => step_of(node).map_or(0, i64::abs).into(),
            _ => match each(&mut node.blocks().flat_map(|it| it.iter()))? {
                Some(moves) => moves,
                None => return Ok(None),
            },
        };
        sum = match [sum.as_constant(), moves.as_constant()] {
            [Some(0), _] => moves,
            [_, Some(0)] => sum,
            [Some(one), Some(other)] if one > 0 && other > 0 => sum.plus(&moves)?,
            _ => return Ok(None),
        };
    }
    Ok(Some(sum))
}

/// The number of elements of an array that inner loops go along.
fn along(kernel: &Kernel, counting: &[Node]) -> Option<AffineExpr> {
    let mut found = None;
    walk(counting, &mut |node, loops| {
        for_each_load_of(node, &mut |it| {
            let mut iters = loops.iter().map(|it| Variable::Iter(it.iter()));
            let is_along = |iter| {
                let mut subscripts = it.subscripts.iter();
                subscripts.any(|it| matches!(it, Subscript::Affine(it) if it.mentions(iter)))
            };
            match kernel.arrays[it.array].extents.as_slice() {
                [extent] if iters.any(is_along) => found = Some(extent.clone()),
                _ => {}
            }
        });
    });
    found
}
