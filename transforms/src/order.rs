//! Whether accesses keep their order when the iterations of a loop happen at other times.

use crate::reason::Reason;
use crate::tree::{arrays_in, uses};
use crate::witness;
use std::collections::HashMap;
use strew_affine::dependence::{Analyzed, DependenceKind, Instance, Reversal, Site};
use strew_affine::sets::{Row, Unknown};
use strew_affine::visit::{self, AccessKind, Loop};
use strew_affine::{AffineExpr, AffineFor, IterId, Kernel, Node};

/// The question for one loop nest.
pub(crate) struct Reordering<'k> {
    analyzed: Analyzed<'k>,
    /// Only what stands in this loop, or in one of these, changes its place.
    inside: Vec<IterId>,
    /// The position of each loop among all nodes.
    numbers: HashMap<IterId, i64>,
    /// Updates by one combiner keep their order, too.
    is_strict: bool,
}

/// What makes up the time of an access from the outside in: places in the text, and values.
#[derive(Clone, Debug)]
pub(crate) enum Tick {
    /// A constant: the number of a part.
    Part(i64),
    /// A value that moves with the iterations.
    Value(AffineExpr),
}

impl<'k> Reordering<'k> {
    /// About what stands in `loops`.
    pub(crate) fn of(kernel: &'k Kernel, loops: &[&AffineFor]) -> Self {
        let inside: Vec<_> = loops.iter().map(|it| it.iter).collect();
        let mut numbers = HashMap::new();
        let mut number = 0;
        visit::walk(visit::span_of(&kernel.body, &inside), &mut |node, _| {
            number += 1;
            numbers.extend(Loop::of(node).map(|it| (it.iter(), number)));
        });
        Self {
            analyzed: Analyzed::around(kernel, &inside),
            inside,
            numbers,
            is_strict: false,
        }
    }

    /// The same, but that updates by one combiner do not change places.
    pub(crate) fn strictly(kernel: &'k Kernel, loops: &[&AffineFor]) -> Self {
        Self {
            is_strict: true,
            ..Self::of(kernel, loops)
        }
    }

    /// That all accesses in the loops keep their order when they happen at `ticks` instead of when
    /// the iterators of these loops say, and within one of these times as before. Updates by one
    /// combiner that can be regrouped may change places.
    pub(crate) fn check(&self, ticks: impl Fn(&Site<'k>) -> Vec<Tick>) -> Result<(), Reason> {
        let is_wanted = |one: &Site<'k>, other: &Site<'k>| self.may_reverse(one, other);
        let reversal = self.analyzed.order(is_wanted, |instance| {
            let ticks = ticks(instance.site());
            self.time(instance, ticks)
        });
        reversal.map_or(Ok(()), |it| Err(self.reverses(&it)))
    }

    /// Each pair of accesses, of those that are `wanted`, that [`check`](Self::check) would
    /// decline. A pair is looked at when it is asked for, so what is `wanted` may depend on what
    /// was found.
    pub(crate) fn reversals<'s>(
        &'s self,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool + 's,
        ticks: impl Fn(&Site<'k>) -> Vec<Tick> + 's,
    ) -> impl Iterator<Item = Reversal> {
        let is_wanted = move |one: &Site<'k>, other: &Site<'k>| {
            self.may_reverse(one, other) && wanted(one, other)
        };
        self.analyzed.reversals(is_wanted, move |instance| {
            let ticks = ticks(instance.site());
            self.time(instance, ticks)
        })
    }

    /// The two accesses of `reversal`.
    pub(crate) fn ends(&self, reversal: &Reversal) -> Option<[&Site<'k>; 2]> {
        let sites = self.analyzed.sites();
        Some([sites.get(reversal.source)?, sites.get(reversal.sink)?])
    }

    fn may_reverse(&self, one: &Site<'k>, other: &Site<'k>) -> bool {
        self.moves(one) && self.moves(other) && !self.regroups(one, other)
    }

    fn moves(&self, site: &Site<'k>) -> bool {
        let mut iters = site.levels().filter_map(|it| it.iter());
        iters.any(|it| self.inside.contains(&it))
    }

    /// Outer loops, then `ticks`, then the loops inside, each with its place in the text, so that
    /// those side by side do not mix.
    fn time(
        &self,
        instance: &mut Instance<'_, '_, 'k>,
        ticks: Vec<Tick>,
    ) -> Result<Vec<Row>, Unknown> {
        let levels: Vec<_> = instance.site().levels().collect();
        let mut ticks = Some(ticks);
        let mut rows = Vec::new();
        for level in levels {
            let iter = level.iter().ok_or(Unknown::Budget)?;
            if self.inside.contains(&iter) {
                for tick in ticks.take().into_iter().flatten() {
                    rows.push(match tick {
                        Tick::Part(number) => constant(number),
                        Tick::Value(value) => instance.affine(&value)?,
                    });
                }
                continue;
            }
            if ticks.is_none() {
                rows.push(constant(self.numbers.get(&iter).copied().unwrap_or(0)));
            }
            rows.push(instance.iterator(iter).ok_or(Unknown::Budget)?);
        }
        Ok(rows)
    }

    /// Whether both update by one combiner, whose updates may be exchanged.
    fn regroups(&self, one: &Site<'k>, other: &Site<'k>) -> bool {
        let (Some(left), Some(right)) = (one.update, other.update) else {
            return false;
        };
        let kernel = self.analyzed.kernel();
        let places = one.node.map_or(&[][..], Node::places);
        let types: Vec<_> = places.iter().map(|place| place.ty(kernel)).collect();
        if places.len() > 1 || self.is_strict {
            // What happens to one of the places follows from what is in another.
            return false;
        }
        left.combiner == right.combiner
            && left.part == right.part
            && left.combiner.is_commutative(&types)
    }

    /// Why a step is declined that does this.
    pub(crate) fn reverses(&self, reversal: &Reversal) -> Reason {
        let kernel = self.analyzed.kernel();
        let sites = self.analyzed.sites();
        let [source, sink] = [reversal.source, reversal.sink].map(|it| sites.get(it));
        let found = reversal.witness.as_deref();
        let kind = |site: Option<&Site<'k>>| site.map_or(AccessKind::Write, |it| it.kind);
        let span = |site: Option<&Site<'k>>| site.map(|it| it.span).unwrap_or_default();
        let array = source.map_or("", |it| it.target.name(kernel)).to_owned();
        let witness = found.and_then(|it| witness::confirmed(kernel, it));
        Reason::Reverses {
            kind: DependenceKind::of(kind(source), kind(sink)),
            earlier: span(source),
            later: span(sink),
            ordered: site_pair_combiner(source, sink),
            witness: witness.map(Box::new),
            array,
        }
    }
}

/// The statements of a loop, and all nodes in each.
pub(crate) struct Children {
    of_nodes: HashMap<*const Node, usize>,
}

impl Children {
    pub(crate) fn of(target: &AffineFor) -> Self {
        let mut of_nodes = HashMap::new();
        for (position, child) in target.body.iter().enumerate() {
            visit::walk(std::slice::from_ref(child), &mut |node, _| {
                of_nodes.insert(std::ptr::from_ref(node), position);
            });
        }
        Self { of_nodes }
    }

    /// The one that an access belongs to.
    pub(crate) fn of_site(&self, site: &Site<'_>) -> Option<usize> {
        self.of_nodes.get(&std::ptr::from_ref(site.node?)).copied()
    }

    /// Whether a statement behind `border` uses what one before it declares.
    pub(crate) fn share_across(&self, target: &AffineFor, border: usize) -> bool {
        let (above, below) = target.body.split_at(border.min(target.body.len()));
        above.iter().any(|node| is_used(node, below))
    }

    /// Whether the statement at `position` declares what others use, or the other way round.
    pub(crate) fn shares(&self, target: &AffineFor, position: usize) -> bool {
        let children = target.body.iter().enumerate();
        let (own, others): (Vec<_>, Vec<_>) = children.partition(|(at, _)| *at == position);
        own.iter().any(|(_, own)| {
            others.iter().any(|(_, other)| {
                is_used(own, std::slice::from_ref(*other))
                    || is_used(other, std::slice::from_ref(*own))
            })
        })
    }
}

/// Whether `node` declares what `others` use.
fn is_used(node: &Node, others: &[Node]) -> bool {
    match node {
        Node::Declare { local, .. } => uses(others, *local),
        Node::Alloc { array } => arrays_in(others).any(|it| it == *array),
        _ => false,
    }
}

/// The combiner by which both update, if it is one.
fn site_pair_combiner(source: Option<&Site<'_>>, sink: Option<&Site<'_>>) -> Option<String> {
    let (source, sink) = (source?.update?, sink?.update?);
    (source.combiner == sink.combiner).then(|| source.combiner.to_string())
}

fn constant(number: i64) -> Row {
    Row::new([], number.into())
}
