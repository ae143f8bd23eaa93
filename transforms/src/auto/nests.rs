//! Nests that scatter nothing through data: which of their loops run at once, and what is done to them before.

use super::Scheduler;
use super::attempt::Attempt;
use super::order::{self, Vectors};
use super::profit::{is_shareable, may_be_long};
use super::wavefront;
use crate::{Parallelize, Permute, StripMine};
use std::cell::OnceCell;
use strew_affine::dependence::{Analyzed, Dependence, Level};
use strew_affine::visit::Loop;
use strew_affine::{AffineFor, Kernel, Node};

/// So many iterations of an innermost loop are one of the loop that runs at once: what the latter costs is then little beside them, and
/// the vectors of the former are long.
const POINTS: i64 = 512;

/// What is known of the nests of a kernel, found when it is first asked for.
pub(super) struct Nests<'k> {
    analyzed: Analyzed<'k>,
    dependences: OnceCell<Vec<Dependence>>,
}

impl<'k> Nests<'k> {
    pub(super) fn of(kernel: &'k Kernel) -> Self {
        Self {
            analyzed: Analyzed::new(kernel),
            dependences: OnceCell::new(),
        }
    }

    pub(super) fn kernel(&self) -> &'k Kernel {
        self.analyzed.kernel()
    }

    /// What orders the iterations of the loops of the band that begins with `target`, which has `depth` loops around it.
    fn vectors(&self, target: &'k AffineFor, depth: usize) -> Vectors {
        let dependences = self.dependences.get_or_init(|| self.analyzed.dependences());
        let level = Level::Loop(Loop::Affine(target));
        let within = self.analyzed.within(level, depth, dependences);
        let within = within.into_iter().filter(|(_, it)| {
            let mut around = it.vector.iter().take(depth);
            around.all(|it| it.direction.may_be_equal())
        });
        let vectors = within.map(|(_, it)| it.vector.iter().skip(depth).copied().collect());
        Vectors::new(vectors)
    }
}

/// Each loop that is all that the one before does, from `target` inwards.
fn band(target: &AffineFor) -> Vec<&AffineFor> {
    let mut band = vec![target];
    while let Some([Node::AffineFor(next)]) = band.last().map(|it| it.body.as_slice()) {
        band.push(next);
    }
    band
}

fn has_loops(nodes: &[Node]) -> bool {
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
        depth: usize,
    ) -> bool {
        if !may_be_long(target) {
            return false;
        }
        let band = band(target);
        let vectors = nests.vectors(target, depth);
        let order = order::of(nests.kernel(), &band, &vectors);
        let parallel: Vec<usize> = order
            .iter()
            .copied()
            .filter(|it| {
                vectors.are_equal_at(*it) && band.get(*it).is_some_and(|it| is_shareable(it))
            })
            .collect();
        let is_straight = band.last().is_some_and(|it| !has_loops(&it.body));
        let innermost = order.last().copied().filter(|_| is_straight);
        let outer = parallel.iter().copied().find(|it| Some(*it) != innermost);
        match (outer, innermost.filter(|it| parallel.contains(it))) {
            (Some(outer), _) => {
                let mut order = order;
                order.retain(|it| *it != outer);
                order.insert(0, outer);
                self.attempt(|attempt| outermost(attempt, &band, &order))
            }
            (None, Some(_)) => self.attempt(|attempt| in_columns(attempt, &band, &order)),
            (None, None) => is_straight && self.wavefront(nests, &band, depth),
        }
    }

    /// The same for tiles on the diagonals of the two innermost loops, where none of them can run at once by itself.
    fn wavefront<'k>(&mut self, nests: &Nests<'k>, band: &[&'k AffineFor], depth: usize) -> bool {
        let [outer, inner] = *band else {
            return false;
        };
        let alone = nests.vectors(inner, depth + 1);
        let factor = wavefront::skew(&nests.vectors(outer, depth));
        let factor = factor.filter(|_| !alone.are_equal_at(0));
        factor.is_some_and(|factor| {
            self.attempt(|attempt| wavefront::tiles(attempt, [outer, inner], factor))
        })
    }
}

/// The loops of the band in `order`, of which the first one runs at once.
fn outermost(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permute(attempt, band, order)?;
    let first = band.get(*order.first()?)?;
    attempt.step(Parallelize::new(attempt.path(first.iter)))
}

/// The same, where only the innermost of these loops can run at once: its iterations in groups, around all of the others.
fn in_columns(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    permute(attempt, band, order)?;
    let innermost = band.get(*order.last()?)?;
    attempt.step(StripMine::new(attempt.path(innermost.iter), POINTS))?;
    let groups = *attempt.made().first()?;
    let others = order.iter().rev().skip(1).rev();
    let others = others.filter_map(|it| band.get(*it)).map(|it| it.iter);
    let nested: Vec<_> = [groups].into_iter().chain(others).collect();
    if nested.len() > 1 {
        attempt.step(Permute::new(nested.iter().map(|it| attempt.path(*it))))?;
    }
    attempt.step(Parallelize::new(attempt.path(groups)))
}

fn permute(attempt: &mut Attempt, band: &[&AffineFor], order: &[usize]) -> Option<()> {
    if order.is_sorted() {
        return Some(());
    }
    let paths = order.iter().filter_map(|it| band.get(*it));
    let paths: Vec<_> = paths.map(|it| attempt.path(it.iter)).collect();
    attempt.step(Permute::new(paths))
}
