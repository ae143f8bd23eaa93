//! The step `rematerialize`.

use crate::address::{self, Target, find_variable, single_bounds};
use crate::assume::assume;
use crate::copy::Copying;
use crate::in_range::conditions_in_range;
use crate::reason::checked_number;
use crate::scalars::{carried, declared_in, set_in, span_of};
use crate::script::Written;
use crate::script::call::{Call, FaultAt};
use crate::step::Transform;
use crate::tiling::{TileNames, points, tiles};
use crate::tree::{Replacing, new_iter};
use crate::{LoopPath, Reason};
use std::collections::BTreeSet;
use std::fmt;
use strew_affine::dependence::Target as Variable;
use strew_affine::verify::Verified;
use strew_affine::visit::{
    Loop, allocated_arrays, arrays_written_in, for_each_load_of, for_each_local,
    for_each_local_read, has_forall, scalars_set_in, walk,
};
use strew_affine::{
    AffineExpr, AffineFor, Block, Bound, Condition, Expr, Kernel, LocalId, Node, Overflow, Place,
};

/// Cuts the iterations of a loop into tiles, each of which begins by computing anew what the
/// iteration before it left in a scalar, so that tiles no longer meet in it.
///
/// ```text
/// affine.for i in 0..n {              affine.for i_t in 0..n step 32 {
///   y[i] = x[i] - last                  var last_t: f64 = last
///   last = x[i]                         affine.if (1 <= i_t) {
/// }                              →        last_t = x[i_t - 1]
///                                       }
///                                       affine.for i_p in i_t..min(n, i_t + 32) {
///                                         y[i_p] = x[i_p] - last_t
///                                         last_t = x[i_p]
///                                       }
///                                     }
/// ```
///
/// Legal when each iteration sets the scalar once, to what it computes of nothing that another
/// iteration writes. Who reads the scalar behind the loop finds what the last iteration leaves,
/// which is computed there. That what is read for it is in range the kernel assumes from then on,
/// where that is not known, and a call checks it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rematerialize {
    /// The scalar.
    pub variable: String,
    /// The loop, an `affine.for` with steps of one.
    pub target: LoopPath,
    /// How many iterations a tile has, at least 1.
    pub tile: u64,
}

impl Rematerialize {
    /// The word that the step begins with.
    pub const NAME: &'static str = "rematerialize";

    /// A request to compute `variable` anew at the beginning of each `tile` iterations of `target`.
    pub fn new(variable: impl Into<String>, target: impl Into<LoopPath>, tile: u64) -> Self {
        Self {
            variable: variable.into(),
            target: target.into(),
            tile,
        }
    }

    pub(crate) fn read(mut call: Call) -> Result<Self, FaultAt> {
        let (variable, target) = (call.word()?, call.path()?);
        let tile = call.named("tile")?;
        let tile = tile.ok_or_else(|| call.lacks("`tile = 4096`"))?.number()?;
        call.finish(&["tile"])?;
        Ok(Self::new(variable, target, tile))
    }
}

impl fmt::Display for Rematerialize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, variable) = (Self::NAME, Written(&self.variable));
        write!(
            f,
            "{name}({variable}, {}, tile = {})",
            self.target, self.tile
        )
    }
}

impl Transform for Rematerialize {
    fn apply(&self, kernel: &Verified) -> Result<Kernel, Reason> {
        Ok(plan(kernel, self)?.rewrite())
    }

    fn loops_mut(&mut self) -> Vec<&mut LoopPath> {
        vec![&mut self.target]
    }
}

fn plan(kernel: &Kernel, request: &Rematerialize) -> Result<Replacing, Reason> {
    let path = &request.target;
    let Target { it: target, around } = address::find_affine_for(kernel, path)?;
    address::check_no_lanes(target.lanes, path)?;
    let (lower, upper) = single_bounds(target, path)?;
    let tile = checked_number(
        "the size of a tile",
        request.tile,
        1..=i64::MAX.unsigned_abs(),
    )?;
    let variable = find_variable(kernel, &request.variable)?;
    let set = set_in(target).into_iter();
    let mut set = set.filter(|(it, _)| variable == Variable::Local(*it));
    let (Some((local, node)), others) = (set.next(), set.count()) else {
        return Err(Reason::NotWritten {
            path: path.clone(),
            array: request.variable.clone(),
        });
    };
    let refused = || carried(kernel, path, target, (local, span_of(node)));
    let left = Left::by(target, local).filter(|_| others == 0 && target.step == 1);
    let left = left.ok_or_else(refused)?;
    let mut prepared = kernel.clone();
    let needed = left.conditions(kernel, target, &around);
    assume(&mut prepared, needed.ok_or_else(refused)?)?;
    let tiles = tiled(&mut prepared, (target, lower), &left, (local, tile))?;
    let mut replacement = vec![Node::AffineFor(tiles)];
    if is_read_outside(kernel, target, local) {
        replacement.push(Node::AffineFor(last(
            &mut prepared,
            target,
            &left,
            (lower, upper),
        )?));
    }
    Ok(Replacing {
        kernel: prepared,
        target: target.iter,
        replacement,
    })
}

/// The loop over tiles of `tile` iterations of `target`, which begins at `lower`, each with a
/// scalar of its own in the place of `local`.
fn tiled(
    kernel: &mut Kernel,
    (target, lower): (&AffineFor, &AffineExpr),
    left: &Left,
    (local, tile): (LocalId, i64),
) -> Result<AffineFor, Overflow> {
    let names = TileNames::make(kernel, target);
    let whole = (target.lower.clone(), target.upper.clone());
    let mut tiles = tiles(target, &names, tile, whole)?;
    let mut own = Copying::default();
    let of_tile = own.new_local(kernel, local, "t");
    let before = Copying::shift(target.iter, names.tile, -1).anew(kernel, &left.nodes, 1);
    tiles.body = [
        Node::Declare {
            local: of_tile,
            value: Expr::Local(local),
        },
        Node::AffineIf {
            conditions: vec![Condition::at_most(lower.offset(1)?, names.tile)],
            then: own.block(&before.block(&left.nodes)?)?.into(),
            otherwise: Block::default(),
        },
        Node::AffineFor(AffineFor {
            body: own.block(&target.body)?.into(),
            ..points(target, &names, tile, None)?
        }),
    ]
    .into();
    Ok(tiles)
}

/// What leaves a scalar as an iteration does.
struct Left {
    /// Statements of the iteration, of which the last one sets it.
    nodes: Vec<Node>,
}

impl Left {
    /// What keeps all that it reads in range, wherever the loop runs at all.
    fn conditions(
        &self,
        kernel: &Kernel,
        target: &AffineFor,
        around: &[Loop<'_>],
    ) -> Option<Vec<Condition>> {
        let mut all = Some(Vec::new());
        walk(&self.nodes, &mut |node, inside| {
            let loops = [around, &[Loop::Affine(target)], inside].concat();
            for_each_load_of(node, &mut |access| {
                let both = all.take().zip(conditions_in_range(kernel, &loops, access));
                all = both.map(|(all, it)| [all, it].concat());
            });
        });
        all
    }

    /// `None` where the last iterations before may have something to do with it, too.
    fn by(target: &AffineFor, local: LocalId) -> Option<Self> {
        let sets = |node: &Node| match node {
            Node::Assign { place, .. } => *place == Place::Local(local),
            _ => false,
        };
        let position = target.body.iter().position(sets)?;
        let (before, behind) = target.body.split_at(position);
        let (set, _) = behind.split_first()?;
        let mut needed = BTreeSet::new();
        for_each_local_read(set, &mut |it| needed.extend([it]));
        let mut nodes = vec![set.clone()];
        for node in before.iter().rev() {
            if results(node).iter().any(|it| needed.contains(it)) {
                needed.extend(results(node));
                walk(std::slice::from_ref(node), &mut |node, _| {
                    for_each_local_read(node, &mut |it| needed.extend([it]));
                });
                nodes.push(node.clone());
            }
        }
        nodes.reverse();
        let own: Vec<LocalId> = declared_in(&nodes);
        let set = scalars_set_in(&target.body);
        let stays = |it: &LocalId| own.contains(it) || !set.contains(it);
        let is_alone = needed.iter().all(|it| *it != local && stays(it));
        let written = arrays_written_in(&target.body);
        let made = allocated_arrays(&target.body);
        let mut reads = Vec::new();
        walk(&nodes, &mut |node, _| {
            for_each_load_of(node, &mut |it| reads.push(it.array))
        });
        let is_read_only = reads
            .iter()
            .all(|it| !written.contains(it) && !made.contains(it));
        let does_nothing_else = arrays_written_in(&nodes).is_empty()
            && allocated_arrays(&nodes).is_empty()
            && !has_forall(&nodes);
        (is_alone && is_read_only && does_nothing_else).then_some(Self { nodes })
    }
}

/// The scalars that `node` declares or sets, for statements behind it.
fn results(node: &Node) -> Vec<LocalId> {
    match node {
        Node::Declare { local, .. } => vec![*local],
        _ => scalars_set_in(std::slice::from_ref(node)),
    }
}

/// Whether anything but the body of `target` reads `local`.
fn is_read_outside(kernel: &Kernel, target: &AffineFor, local: LocalId) -> bool {
    let count = |nodes: &[Node]| {
        let mut reads = 0;
        walk(nodes, &mut |node, _| {
            for_each_local_read(node, &mut |it| reads += usize::from(it == local));
        });
        reads
    };
    let mut is_result = false;
    if let Some(result) = &kernel.result {
        for_each_local(result, &mut |it| is_result |= it == local);
    }
    is_result || count(&kernel.body) > count(&target.body)
}

/// A loop over the last iteration alone, which leaves the scalar as `target` did.
fn last(
    kernel: &mut Kernel,
    target: &AffineFor,
    left: &Left,
    (lower, upper): (&AffineExpr, &AffineExpr),
) -> Result<AffineFor, Reason> {
    let iter = new_iter(kernel, target.iter, "l");
    let copying = Copying::shift(target.iter, iter, 0).anew(kernel, &left.nodes, 2);
    Ok(AffineFor {
        iter,
        lower: Bound(vec![lower.clone(), upper.offset(-1)?]),
        upper: upper.clone().into(),
        step: 1,
        lanes: 1,
        body: copying.block(&left.nodes)?.into(),
    })
}

#[cfg(test)]
mod tests {
    use crate::Verdict::{Illegal, Misaddressed, Unproven};
    use crate::test_support::{accepts, apply, assert_same_where_assumed, kernel, refuses};

    fn in_loop(bounds: &str, body: &str) -> String {
        format!(
            "kernel @k(n: i64, x: i64[n], y: i64[n]) {{
               var last: i64 = 7
               var sum: i64 = 0
               affine.for i in {bounds} {{ {body} }}
               y[0] reduce(add) last + sum
             }}"
        )
    }

    #[test]
    fn scheme() {
        accepts(
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var last: f64 = 0.0
  affine.for i in 0..n {
    y[i] = x[i] - last
    last = x[i]
  }
}",
            "rematerialize(last, i, tile = 32)",
            "kernel @k(n: i64, x: f64[n], y: f64[n]) {
  var last: f64 = 0.0
  affine.for i_t in 0..n step 32 {
    var last_t: f64 = last
    affine.if (1 <= i_t) {
      last_t = x[i_t - 1]
    }
    affine.for i_p in i_t..min(n, i_t + 32) {
      y[i_p] = x[i_p] - last_t
      last_t = x[i_p]
    }
  }
}",
        );
    }

    #[test]
    fn tiles_begin_with_what_was_left() {
        for bounds in ["0..n", "2..n - 1", "n - 7..n"] {
            for body in [
                "y[i] = x[i] - last last = x[i]",
                "last = x[i] * 2 y[i] = last",
                "let a: i64 = x[i] var b: i64 = a scf.if a < 3 { b = a * 5 } y[i] = b + last last = b + 1",
                "var c: i64 = 1 affine.for j in 0..3 { c reduce(mul) x[i] + j } y[i] = last - c last = c",
            ] {
                let before = kernel(&in_loop(bounds, body));
                let after = apply(&before, "rematerialize(last, i, tile = 3)");
                assert_same_where_assumed(&before, &after);
                apply(&after, "parallelize(i_t)");
            }
        }
    }

    #[test]
    fn refusals() {
        for body in [
            "y[i] = last last = last + x[i]",
            "y[i] = last last = y[i] + 1",
            "y[i] = last scf.if 0 < x[i] { last = x[i] }",
            "y[i] = last last = x[i] last = 3",
            "sum reduce(add) x[i] y[i] = last last = sum",
        ] {
            refuses(
                &in_loop("0..n", body),
                "rematerialize(last, i, tile = 4)",
                Illegal,
                "CarriedScalar",
            );
        }
        let body = "y[i] = last last = x[i]";
        let source = in_loop("0..n", body);
        let nothing = in_loop("0..n", "y[i] = last");
        refuses(
            &nothing,
            "rematerialize(last, i, tile = 4)",
            Misaddressed,
            "NotWritten",
        );
        refuses(
            &source,
            "rematerialize(lost, i, tile = 4)",
            Misaddressed,
            "NoSuchVariable",
        );
        refuses(
            &source,
            "rematerialize(last, i, tile = 0)",
            Misaddressed,
            "BadNumber",
        );
        let several = in_loop("max(0, n - 4)..n", body);
        refuses(
            &several,
            "rematerialize(last, i, tile = 4)",
            Unproven,
            "SeveralBounds",
        );
    }
}
