//! Nests that scatter nothing through data: which of their loops run at once, and what is done to them before.

use super::attempt::Attempt;
use super::order::{self, Vectors};
use super::pivot;
use super::profit::{is_shareable, may_be_long};
use super::wavefront;
use super::{Choice, Scheduler, has_computed_loops};
use super::{lanes, locality};
use crate::private::privatizable;
use crate::{Parallelize, Permute, StripMine, Tile, TileIndirection};
use std::cell::OnceCell;
use strew_affine::dependence::{Analyzed, Component, Site, Target};
use strew_affine::visit::Loop;
use strew_affine::{AffineFor, Kernel, Node};

/// So many iterations of an innermost loop are one of the loop that runs at once: what the latter costs is then little beside them.
const POINTS: i64 = 512;
/// The same where they run in lanes.
const POINTS_IN_LANES: i64 = 4096;

/// What is known of the nests of a kernel.
pub(super) struct Nests<'k> {
    analyzed: Analyzed<'k>,
}

impl<'k> Nests<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Self {
        Self {
            analyzed: Analyzed::new(kernel),
        }
    }

    pub(super) fn kernel(&self) -> &'k Kernel {
        self.analyzed.kernel()
    }

    fn nest(&self, target: &'k AffineFor, depth: usize) -> Nest<'_, 'k> {
        Nest {
            analyzed: &self.analyzed,
            target,
            depth,
            own: privatizable(self.kernel(), target),
            vectors: OnceCell::new(),
        }
    }
}

/// What is known of one nest.
struct Nest<'n, 'k> {
    analyzed: &'n Analyzed<'k>,
    target: &'k AffineFor,
    /// How many loops are around it.
    depth: usize,
    /// What its iterations can have of their own.
    own: Vec<Target>,
    /// Found when they are first asked for.
    vectors: OnceCell<Vectors>,
}

impl<'k> Nest<'_, 'k> {
    fn is_shared(&self, site: &Site<'k>) -> bool {
        !self.own.contains(&site.target)
    }

    /// Whether the iterations of `inner`, a loop of the band that begins with this nest, are apart wherever in the band it stands.
    fn are_apart(&self, inner: &AffineFor) -> bool {
        let shared = |one: &Site<'k>, _: &Site<'k>| self.is_shared(one);
        self.analyzed
            .are_apart_anywhere(inner.iter, self.depth, shared)
    }

    /// Whether they are but for updates that can be collected apart and combined.
    fn are_updates(&self, inner: &AffineFor) -> bool {
        let ordered =
            |one: &Site<'k>, other: &Site<'k>| self.is_shared(one) && !is_one_update(one, other);
        self.analyzed
            .are_apart_anywhere(inner.iter, self.depth, ordered)
    }

    /// What orders the iterations of the loops of the band.
    fn vectors(&self) -> &Vectors {
        self.vectors.get_or_init(|| self.find_vectors())
    }

    fn find_vectors(&self) -> Vectors {
        let is_inside = |site: &Site<'k>| {
            let mut levels = site.levels();
            levels.any(|it| it.iter() == Some(self.target.iter))
        };
        let dependences = self.analyzed.dependences_where(|one, other| {
            (one.writes() || other.writes())
                && self.is_shared(one)
                && is_inside(one)
                && is_inside(other)
        });
        let here = dependences.into_iter().filter(|it| {
            let mut around = it.vector.iter().take(self.depth);
            around.all(|it| it.direction.may_be_equal())
        });
        let vectors = here.map(|it| it.vector.into_iter().skip(self.depth).collect());
        Vectors::new(vectors)
    }
}

/// Whether both update an array by one combiner.
fn is_one_update(one: &Site<'_>, other: &Site<'_>) -> bool {
    let is_array = matches!(one.target, Target::Array(_));
    let both = one.update.zip(other.update);
    is_array
        && both.is_some_and(|(one, other)| one.combiner == other.combiner && one.part == other.part)
}

/// Each loop that is all that the one before does, from `target` inwards.
pub(super) fn band(target: &AffineFor) -> Vec<&AffineFor> {
    let mut band = vec![target];
    while let Some([Node::AffineFor(next)]) = band.last().map(|it| it.body.as_slice()) {
        band.push(next);
    }
    band
}

pub(super) fn has_loops(nodes: &[Node]) -> bool {
    let mut nodes = nodes.iter();
    nodes.any(|node| {
        matches!(node, Node::ScfWhile { .. })
            || Loop::of(node).is_some()
            || node.blocks().into_iter().any(has_loops)
    })
}

impl Scheduler<'_> {
    /// Lets a loop of the band that begins with `target` run at once, if one can for all iterations of those inside and outside of it.
    pub(super) fn nest<'k>(
        &mut self,
        nests: &Nests<'k>,
        target: &'k AffineFor,
        (depth, around): (usize, &[Loop<'k>]),
    ) -> bool {
        if !may_be_long(target) {
            let path = name(nests.kernel(), target);
            self.tell(Choice::Little { path });
            return false;
        }
        let band = band(target);
        let nest = nests.nest(target, depth);
        let order = order::of(nests.kernel(), &band, || nest.vectors());
        let called = |position: &usize| band.get(*position).map(|it| name(nests.kernel(), it));
        let ordered = || (band.len() > 1).then(|| order_choice(nests.kernel(), &band, &order));
        let is_straight = band.last().is_some_and(|it| !has_loops(&it.body));
        let is_apart = |position: &usize| {
            let it = band.get(*position);
            it.is_some_and(|it| is_shareable(it) && nest.are_apart(it))
        };
        let (outer, innermost) = match order.split_last() {
            Some((innermost, outer)) if is_straight => (outer, Some(innermost)),
            _ => (&order[..], None),
        };
        if let Some(outer) = outer.iter().copied().find(is_apart) {
            let before = order.iter().take_while(|it| **it != outer);
            let at_once = Choice::AtOnce {
                path: called(&outer).unwrap_or_default(),
                outer: before.filter_map(called).collect(),
            };
            let why = || ordered().into_iter().chain([at_once.clone()]);
            let mut order = order.clone();
            order.retain(|it| *it != outer);
            order.insert(0, outer);
            let loops: Vec<_> = order
                .iter()
                .filter_map(|it| band.get(*it).copied())
                .collect();
            let sizes = locality::sizes(nests.kernel(), &loops);
            let sizes = sizes.filter(|_| is_straight && nest.vectors().are_forward());
            let is_tiled = sizes.is_some_and(|tiling| {
                let names: Vec<_> = order.iter().filter_map(called).collect();
                let tiles = tiling.choice(nests.kernel(), &names);
                self.attempt_for(why().chain([tiles]), |attempt| {
                    in_tiles(attempt, &band, &order, &tiling.sizes)
                })
            });
            return is_tiled
                || self.attempt_for(why(), |attempt| outermost(attempt, &band, &order));
        }
        let is_inner_apart = innermost.is_some_and(is_apart);
        let columns = |scheduler: &mut Self| {
            let path = innermost.and_then(called).unwrap_or_default();
            let points = innermost
                .and_then(|it| band.get(*it))
                .map_or(POINTS, |it| points_of(&scheduler.found.kernel, it));
            let why = ordered()
                .into_iter()
                .chain([Choice::Columns { path, points }]);
            scheduler.attempt_for(why, |attempt| in_columns(attempt, &band, &order))
        };
        if is_inner_apart && outer.is_empty() {
            return columns(self);
        }
        // A sum that begins anew over and over pays only if there is more to it than its own loop; where data say how long loops are, they
        // say where the updates go, too.
        let is_long = (depth == 0 || !outer.is_empty()) && !has_computed_loops(&target.body);
        let first = order.first().and_then(|it| band.get(*it));
        let is_sum = first.is_some_and(|it| is_long && nest.are_updates(it));
        let sums = Choice::Sums {
            path: order.first().and_then(called).unwrap_or_default(),
        };
        let why = ordered().into_iter().chain([sums]);
        if is_sum && self.attempt_for(why, |attempt| summed(attempt, &band, &order)) {
            return true;
        }
        if is_inner_apart {
            return columns(self);
        }
        let pivot = pivot::of(nests.kernel(), around, target);
        let is_done = pivot.is_some_and(|it| {
            let why = Choice::Pivot {
                path: name(nests.kernel(), target),
                at: nests.kernel().iters[it].name.clone(),
            };
            self.attempt_for([why], |attempt| pivot::around(attempt, target, it))
        }) || is_straight && self.wavefront(nests, &nest, &band);
        if !is_done {
            let loops = (0..band.len()).filter_map(|it| called(&it)).collect();
            self.tell(Choice::InOrder { loops });
        }
        is_done
    }

    /// The same for tiles on the diagonals of the two innermost loops, where none of them can run at once by itself.
    fn wavefront<'k>(
        &mut self,
        nests: &Nests<'k>,
        nest: &Nest<'_, 'k>,
        band: &[&'k AffineFor],
    ) -> bool {
        let [outer, inner] = *band else {
            return false;
        };
        if nests.nest(inner, nest.depth + 1).are_apart(inner) {
            return false;
        }
        let factor = wavefront::skew(nest.vectors());
        factor.is_some_and(|skew| {
            let mut vectors: Vec<_> = nest.vectors().iter().map(text_of).collect();
            vectors.sort();
            vectors.dedup();
            let why = Choice::Diagonals {
                loops: [outer, inner].map(|it| name(nests.kernel(), it)),
                vectors,
                skew,
                points: wavefront::POINTS,
            };
            self.attempt_for([why], |attempt| {
                wavefront::tiles(attempt, [outer, inner], skew)
            })
        })
    }
}

/// The loops of the band in `order`, of which the first one only updates what its iterations share: in private copies.
fn summed(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permute(attempt, band, order)?;
    let first = band.get(*order.first()?)?;
    attempt.step(TileIndirection::new(attempt.path(first.iter)))
}

/// The loops of the band in `order`, of which the first one runs at once.
fn outermost(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permute(attempt, band, order)?;
    let first = band.get(*order.first()?)?;
    attempt.step(Parallelize::new(attempt.path(first.iter)))
}

/// The same, in tiles of these `sizes`.
fn in_tiles(
    attempt: &mut Attempt,
    band: &[&AffineFor],
    order: &[usize],
    sizes: &[i64],
) -> Option<()> {
    permute(attempt, band, order)?;
    let paths = order.iter().filter_map(|it| band.get(*it));
    let paths: Vec<_> = paths.map(|it| attempt.path(it.iter)).collect();
    attempt.step(Tile::new(paths.into_iter().zip(sizes.iter().copied())))?;
    let tiles = *attempt.made().first()?;
    attempt.step(Parallelize::new(attempt.path(tiles)))
}

/// The same, where only the innermost of these loops can run at once: its iterations in groups, around all of the others.
fn in_columns(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permute(attempt, band, order)?;
    let innermost = band.get(*order.last()?)?;
    let points = points_of(attempt.kernel(), innermost);
    attempt.step(StripMine::new(attempt.path(innermost.iter), points))?;
    let groups = *attempt.made().first()?;
    let others = order.iter().rev().skip(1).rev();
    let others = others.filter_map(|it| band.get(*it)).map(|it| it.iter);
    let nested: Vec<_> = [groups].into_iter().chain(others).collect();
    if nested.len() > 1 {
        attempt.step(Permute::new(nested.iter().map(|it| attempt.path(*it))))?;
    }
    attempt.step(Parallelize::new(attempt.path(groups)))
}

/// So many iterations of `innermost` make a group.
fn points_of(kernel: &Kernel, innermost: &AffineFor) -> i64 {
    match lanes::count(kernel, innermost) {
        Some(_) => POINTS_IN_LANES,
        None => POINTS,
    }
}

fn name(kernel: &Kernel, target: &AffineFor) -> String {
    kernel.iters[target.iter].name.clone()
}

fn order_choice(kernel: &Kernel, band: &[&AffineFor], order: &[usize]) -> Choice {
    let costs = order::costs(kernel, band);
    let lines = order.iter().filter_map(|it| {
        let (target, cost) = (band.get(*it)?, costs.get(*it)?);
        Some((name(kernel, target), *cost))
    });
    Choice::Order {
        lines: lines.collect(),
        is_written: order.is_sorted(),
        is_kept: order::best(&costs) != order,
    }
}

/// `(1, 0)`
fn text_of(vector: &[Component]) -> String {
    let each = vector.iter().map(|it| match it.distance {
        Some(distance) => distance.to_string(),
        None => it.direction.symbol().to_owned(),
    });
    format!("({})", each.collect::<Vec<_>>().join(", "))
}

fn permute(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    if order.is_sorted() {
        return Some(());
    }
    let paths = order.iter().filter_map(|it| band.get(*it));
    let paths: Vec<_> = paths.map(|it| attempt.path(it.iter)).collect();
    attempt.step(Permute::new(paths))
}
