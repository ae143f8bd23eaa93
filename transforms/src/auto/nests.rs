//! Nests that scatter nothing through data: which of their loops run at once, and what is done to
//! them before.

use super::arranged::{in_columns, in_tiles, outermost, permuted, points_of, summed};
use super::attempt::Attempt;
use super::locality;
use super::order::{self, Vectors};
use super::panels;
use super::pivot;
use super::profit::{is_shareable, may_be_long};
use super::scratch;
use super::trailing;
use super::wavefront;
use super::{Around, Choice, Scheduler};
use crate::private::privatizable;
use crate::rising::writes_rows;
use crate::{CountAhead, Parallelize, ScalarReplace};
use std::cell::OnceCell;
use std::collections::BTreeSet;
use strew_affine::dependence::{Analyzed, Component, Site, Target};
use strew_affine::marks::Marks;
use strew_affine::tickets::Tickets;
use strew_affine::visit::{Loop, has_computed_loops, has_loops};
use strew_affine::{AffineFor, ArrayId, Kernel, Node};

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

    /// Whether no dependence inside of `target`, which has `depth` loops around it, goes back in
    /// the first `count` loops of its perfect nest.
    pub(super) fn are_forward(&self, target: &'k AffineFor, depth: usize, count: usize) -> bool {
        self.nest(target, depth).vectors().are_forward_in(count)
    }

    /// Nests the loops of the perfect nest of `target`, which has `depth` loops around it, in the
    /// best order that keeps the order of updates, if that is another one.
    pub(super) fn reorder(
        &self,
        attempt: &mut Attempt,
        target: &'k AffineFor,
        depth: usize,
    ) -> Option<()> {
        let band = Band::of(self, target, depth);
        (!band.order.is_sorted()).then_some(())?;
        permuted(attempt, &band.loops, &band.order)
    }

    fn nest(&self, target: &'k AffineFor, depth: usize) -> Nest<'_, 'k> {
        Nest {
            analyzed: &self.analyzed,
            target,
            depth,
            own: privatizable(&self.analyzed, target),
            marked: Marks::of(target.iter, &target.body).rarely_written(),
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
    /// Arrays in which it does not matter that they meet.
    marked: BTreeSet<ArrayId>,
    /// Found when they are first asked for.
    vectors: OnceCell<Vectors>,
}

impl<'k> Nest<'_, 'k> {
    fn is_shared(&self, site: &Site<'k>) -> bool {
        let array = site.target.array();
        !array.is_some_and(|it| self.marked.contains(&it)) && !self.own.contains(&site.target)
    }

    /// Whether the iterations of `inner`, a loop of the band that begins with this nest, are apart
    /// wherever in the band it stands.
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
        let inside = self.target.iter;
        let dependences = self.analyzed.dependences_inside(inside, |one, other| {
            (one.writes() || other.writes()) && self.is_shared(one)
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

/// A band of loops, and the order in which they are best.
struct Band<'n, 'k> {
    kernel: &'k Kernel,
    nest: Nest<'n, 'k>,
    loops: Vec<&'k AffineFor>,
    /// Positions in `loops`.
    order: Vec<usize>,
    /// Whether there are no more loops in the innermost one.
    is_straight: bool,
}

impl<'n, 'k> Band<'n, 'k> {
    fn of(nests: &'n Nests<'k>, target: &'k AffineFor, depth: usize) -> Self {
        let loops = band(target);
        let nest = nests.nest(target, depth);
        Self {
            kernel: nests.kernel(),
            order: order::of(nests.kernel(), &loops, || nest.vectors()),
            is_straight: loops.last().is_some_and(|it| !has_loops(&it.body)),
            nest,
            loops,
        }
    }

    fn at(&self, position: usize) -> Option<&'k AffineFor> {
        self.loops.get(position).copied()
    }

    fn called(&self, position: usize) -> Option<String> {
        self.at(position).map(|it| name(self.kernel, it))
    }

    fn marked(&self) -> Vec<String> {
        let marked = self.nest.marked.iter();
        marked
            .map(|it| self.kernel.arrays[*it].name.clone())
            .collect()
    }

    fn first(&self) -> Option<&'k AffineFor> {
        self.order.first().and_then(|it| self.at(*it))
    }

    /// The loops, in order, that stand around what is worth to stay innermost; and that one.
    fn outer(&self) -> (&[usize], Option<usize>) {
        match self.order.split_last() {
            Some((innermost, outer)) if self.is_straight => (outer, Some(*innermost)),
            _ => (&self.order, None),
        }
    }

    fn is_apart(&self, position: usize) -> bool {
        let it = self.at(position);
        it.is_some_and(|it| is_shareable(it) && self.nest.are_apart(it))
    }

    /// Why the loops are in this order, if there are several.
    fn ordered(&self) -> Option<Choice> {
        (self.loops.len() > 1).then(|| order_choice(self.kernel, &self.loops, &self.order))
    }

    /// The order in which the loop at `outer` is the outermost one.
    fn with_outermost(&self, outer: usize) -> Vec<usize> {
        let others = self.order.iter().copied().filter(|it| *it != outer);
        [outer].into_iter().chain(others).collect()
    }

    /// Whether a sum pays: one that begins anew over and over does only if there is more to it than
    /// its own loop; where data say how long loops are, they say where the updates go, too.
    fn is_sum(&self) -> bool {
        let is_whole = self.nest.depth == 0 || !self.outer().0.is_empty();
        let is_long = is_whole && !has_computed_loops(&self.nest.target.body);
        let first = self.first();
        first.is_some_and(|it| is_long && self.nest.are_updates(it))
    }
}

impl Scheduler<'_> {
    /// Lets a loop of the band that begins with `target` run at once, if one can for all iterations
    /// of those inside and outside of it.
    pub(super) fn nest<'k>(
        &mut self,
        nests: &Nests<'k>,
        target: &'k AffineFor,
        (depth, around): (usize, &[Loop<'k>]),
    ) -> bool {
        if !may_be_long(target, around) {
            let path = name(nests.kernel(), target);
            self.tell(Choice::Little { path });
            return false;
        }
        let band = Band::of(nests, target, depth);
        let (outer, innermost) = band.outer();
        if let Some(outer) = outer.iter().copied().find(|it| band.is_apart(*it)) {
            return self.at_once(&band, outer);
        }
        let innermost = innermost.filter(|it| band.is_apart(*it));
        match innermost {
            // Copies of what is summed up would be made and merged in each iteration of the loops
            // around.
            Some(innermost) if outer.is_empty() || depth > 0 => self.columns(&band, innermost),
            Some(innermost) => self.sums(&band) || self.columns(&band, innermost),
            None => self.sums(&band) || self.dependent(nests, &band, around),
        }
    }

    /// Runs the loop at `outer` at once, in tiles where they pay.
    fn at_once(&mut self, band: &Band<'_, '_>, outer: usize) -> bool {
        let before = band.order.iter().copied().take_while(|it| *it != outer);
        let at_once = Choice::AtOnce {
            path: band.called(outer).unwrap_or_default(),
            outer: before.filter_map(|it| band.called(it)).collect(),
            marked: band.marked(),
        };
        let why = || band.ordered().into_iter().chain([at_once.clone()]);
        let order = band.with_outermost(outer);
        let loops: Vec<_> = order.iter().filter_map(|it| band.at(*it)).collect();
        let sizes = locality::sizes(band.kernel, &loops);
        let sizes = sizes.filter(|_| band.is_straight && band.nest.vectors().are_forward());
        let is_tiled = sizes.is_some_and(|tiling| {
            let names = order.iter().filter_map(|it| band.called(*it));
            let names: Vec<_> = names.collect();
            let mut ways = tiling.group.iter().map(Some).chain([None]);
            ways.any(|group| {
                let tiles = tiling.choice(band.kernel, &names, group);
                self.attempt_for(why().chain([tiles]), |attempt| {
                    in_tiles(attempt, &band.loops, &order, (&tiling.sizes, group))
                })
            })
        });
        is_tiled || self.attempt_for(why(), |attempt| outermost(attempt, &band.loops, &order))
    }

    /// Runs groups of iterations of the innermost loop at once.
    fn columns(&mut self, band: &Band<'_, '_>, innermost: usize) -> bool {
        let columns = Choice::Columns {
            path: band.called(innermost).unwrap_or_default(),
            points: points_of(band.kernel, &band.loops),
        };
        let why = band.ordered().into_iter().chain([columns]);
        self.attempt_for(why, |attempt| in_columns(attempt, &band.loops, &band.order))
    }

    /// Runs the first loop at once on private copies, if it only updates what its iterations share.
    fn sums(&mut self, band: &Band<'_, '_>) -> bool {
        let sums = Choice::Sums {
            path: band
                .order
                .first()
                .and_then(|it| band.called(*it))
                .unwrap_or_default(),
        };
        let why = band.ordered().into_iter().chain([sums]);
        band.is_sum() && self.attempt_for(why, |attempt| summed(attempt, &band.loops, &band.order))
    }

    /// Finds parts of the band that can run at once where none of its loops can.
    fn dependent<'k>(
        &mut self,
        nests: &Nests<'k>,
        band: &Band<'_, 'k>,
        around: &[Loop<'k>],
    ) -> bool {
        let target = band.nest.target;
        if self.rows(band) || self.tickets(band) {
            return true;
        }
        let pivot = pivot::of(band.kernel, around, target);
        let is_done = pivot.is_some_and(|it| {
            let why = Choice::Pivot {
                path: name(band.kernel, target),
                at: band.kernel.iters[it].name.clone(),
            };
            self.attempt_for([why], |attempt| pivot::around(attempt, target, it))
        }) || self.scratch(band)
            || match band.is_straight {
                true => self.wavefront(nests, &band.nest, &band.loops),
                false => panels::is_meant(target) && (self.panels(band) || self.trailing(band)),
            };
        if !is_done {
            let loops = (0..band.loops.len()).filter_map(|it| band.called(it));
            let loops = loops.collect();
            self.tell(Choice::InOrder { loops });
        }
        is_done
    }

    /// Runs a loop over rows at once where row pointers never fall.
    fn rows(&mut self, band: &Band<'_, '_>) -> bool {
        let target = band.nest.target;
        let is_meant = is_shareable(target) && writes_rows(&target.body, |_| true);
        let pointers = is_meant.then(|| band.nest.analyzed.apart_where_rising(target.iter));
        let Some(pointers) = pointers.flatten() else {
            return false;
        };
        let pointers = pointers.into_iter();
        let why = Choice::Rows {
            path: name(band.kernel, target),
            pointers: pointers
                .map(|it| band.kernel.arrays[it].name.clone())
                .collect(),
        };
        self.attempt_for([why], |attempt| {
            attempt.step(Parallelize::new(attempt.path(target.iter)))
        })
    }

    /// Runs parts of a loop at once where counters that hand out tickets are all that keeps it in
    /// order.
    fn tickets(&mut self, band: &Band<'_, '_>) -> bool {
        let target = band.nest.target;
        let tickets = Tickets::of(band.kernel, &target.body).filter(|_| is_shareable(target));
        let Some(tickets) = tickets else {
            return false;
        };
        let counters = tickets.dispensers().iter();
        let counters: Vec<_> = counters.map(|it| it.target.name(band.kernel)).collect();
        let why = Choice::Tickets {
            path: name(band.kernel, target),
            counters: counters.iter().map(|it| (*it).to_owned()).collect(),
        };
        self.attempt_for([why], |attempt| {
            for (counter, of) in counters.iter().zip(tickets.dispensers()) {
                if of.is_one && of.target.array().is_some() {
                    // Where it may not be there, nothing but the loop itself reads it.
                    let _ = attempt.step(ScalarReplace::new(*counter));
                }
            }
            attempt.step(CountAhead::new(attempt.path(target.iter)))
        })
    }

    /// Gives all iterations but the last one room of their own, where that of the caller is all
    /// they meet in.
    fn scratch(&mut self, band: &Band<'_, '_>) -> bool {
        let mut loops = band.loops.iter().filter(|it| is_shareable(it));
        loops.any(|target| {
            let arrays = scratch::arrays(band.kernel, target);
            let why = Choice::Scratch {
                path: name(band.kernel, target),
                arrays: arrays
                    .iter()
                    .map(|it| band.kernel.arrays[*it].name.clone())
                    .collect(),
            };
            !arrays.is_empty()
                && self.attempt_for([why], |attempt| {
                    scratch::all_but_last(attempt, target, &arrays)
                })
        })
    }

    /// Lets the rows of a nest that is not perfect use groups of rows before them at once.
    fn panels(&mut self, band: &Band<'_, '_>) -> bool {
        let [target] = *band.loops else { return false };
        band.nest.depth == 0
            && self.attempt_for([settled(band)], |attempt| {
                panels::at_once(attempt, target.iter)
            })
    }

    /// The same where what they use them for is a product; each part is then a nest by itself.
    fn trailing(&mut self, band: &Band<'_, '_>) -> bool {
        let iter = band.nest.target.iter;
        let mut groups = None;
        let is_done = band.nest.depth == 0
            && self.attempt_for([settled(band)], |attempt| {
                groups = Some(trailing::updated(attempt, iter)?);
                Some(())
            });
        if let Some(groups) = groups.filter(|_| is_done) {
            let kernel = self.found.kernel.clone();
            let mut outermost = kernel.body.iter();
            let node = outermost.find(|it| Loop::of(it).is_some_and(|it| it.iter() == groups));
            let nests = Nests::of(&kernel);
            if let Some(node) = node {
                let around = Around::default().and(node);
                node.blocks()
                    .for_each(|block| self.tile(&nests, block, &around));
            }
            self.attempt(|attempt| panels::settle_conditions(attempt, groups));
        }
        is_done
    }

    /// The same for tiles on the diagonals of the two innermost loops, where none of them can run
    /// at once by itself.
    fn wavefront<'k>(
        &mut self,
        nests: &Nests<'k>,
        nest: &Nest<'_, 'k>,
        band: &[&'k AffineFor],
    ) -> bool {
        let [outer, inner] = *band else {
            return self.diagonals_of_tiles(nests.kernel(), nest.depth, band);
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
                points: wavefront::points(skew),
            };
            self.attempt_for([why], |attempt| {
                wavefront::tiles(attempt, [outer, inner], skew)
            })
        })
    }

    /// The same for tiles that the source has.
    fn diagonals_of_tiles(&mut self, kernel: &Kernel, depth: usize, band: &[&AffineFor]) -> bool {
        let [outer, inner, ..] = *band else {
            return false;
        };
        let why = Choice::DiagonalsOfTiles {
            loops: [outer, inner].map(|it| name(kernel, it)),
        };
        wavefront::has_tiles(band)
            && self.attempt_for([why], |attempt| {
                wavefront::of_tiles(attempt, [outer, inner], depth)
            })
    }
}

/// That groups of iterations of the first loop settle what all others use.
fn settled(band: &Band<'_, '_>) -> Choice {
    Choice::Panels {
        path: name(band.kernel, band.nest.target),
        points: panels::SETTLED,
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
