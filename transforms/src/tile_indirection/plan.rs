//! Legality of `tile_indirection_using_forall`: every refusal is born here.

use super::cover::fills_array;
use super::disjoint::{Disjoint, is_disjoint};
use super::speculate::{can_be_dropped, may_be_apart};
use super::{CHECKED, Reduction, TRUSTED, TileIndirection};
use crate::address::{self, Target, check_combiner, check_strategy, find_array};
use crate::carried::Iterations;
use crate::private;
use crate::reason::{Reason, checked_number};
use crate::scalars;
use crate::tiling::{self, Part};
use crate::tree::{new_iter, reads_local};
use crate::witness::{self, Ends};
use std::collections::BTreeSet;
use strew_affine::visit::{self, AccessKind, AccessSite, Loop};
use strew_affine::{
    AffineFor, ArrayId, Combine, Combiner, IterId, Kernel, Last, LocalId, Node, Span, Subscript,
    Value,
};

/// What the rewriting needs and what makes it unable to fail.
pub(crate) struct Plan {
    /// The kernel, with the chunk iterator made.
    pub(super) kernel: Kernel,
    pub(super) target: AffineFor,
    pub(super) chunk: IterId,
    pub(super) chunks: i64,
    pub(super) part: Part,
    pub(super) privates: Vec<Privatized>,
    pub(super) disjoint: Vec<Disjoint>,
    pub(super) strategy: String,
}

/// An array that becomes private, or several that are combined together.
pub(super) struct Privatized {
    pub(super) arrays: Vec<ArrayId>,
    pub(super) combiner: Combiner,
    /// What to fill the array with before the loop, when the loop assigns all of it.
    pub(super) fill: Option<Value>,
    /// Whether the loop reads elements too, so that it takes a look at the data to tell whether
    /// they can be private.
    pub(super) is_read: bool,
}

pub(crate) fn plan(kernel: &Kernel, request: &TileIndirection) -> Result<Plan, Reason> {
    let Target { it: target, .. } = address::find_affine_for(kernel, &request.target)?;
    let with_own = private::with_own(kernel, target)?;
    plan_shared(with_own.as_ref().unwrap_or(kernel), request)
}

/// The same, where iterations have all of their own that they can.
fn plan_shared(kernel: &Kernel, request: &TileIndirection) -> Result<Plan, Reason> {
    let loop_and_around = address::find_affine_for(kernel, &request.target)?;
    let most = TileIndirection::MOST_CHUNKS;
    let chunks = checked_number("the number of chunks", request.chunks, 1..=most)?;
    check_strategy(&request.strategy)?;
    for clause in &request.reductions {
        check_combiner(kernel, &clause.combiner, &[CHECKED, TRUSTED])?;
    }
    let body = Body::of(kernel, request, loop_and_around)?;
    let privates = body.privatized()?;
    let disjoint = body.disjoint()?;
    body.check_speculation(&privates)?;
    body.check_kept_apart(&privates)?;
    scalars::check_none_set(kernel, &request.target, body.target)?;
    let mut prepared = kernel.clone();
    let chunk = new_iter(&mut prepared, body.target.iter, "c");
    let part = tiling::nth_part(body.target, &request.target, &chunk.into(), chunks)?;
    Ok(Plan {
        target: body.target.clone(),
        kernel: prepared,
        chunk,
        chunks,
        part,
        privates,
        disjoint,
        strategy: request.strategy.clone(),
    })
}

/// The body of the loop to tile, with the accesses in it.
pub(super) struct Body<'k> {
    pub(super) kernel: &'k Kernel,
    pub(super) request: &'k TileIndirection,
    target: &'k AffineFor,
    iterations: Iterations<'k>,
    /// The accesses in the body, but for those of arrays that every iteration has of its own.
    sites: Vec<AccessSite<'k>>,
}

impl<'k> Body<'k> {
    fn of(
        kernel: &'k Kernel,
        request: &'k TileIndirection,
        Target { it: target, around }: Target<'k>,
    ) -> Result<Self, Reason> {
        let in_forall = around.iter().any(|it| matches!(it, Loop::Forall(_)));
        if in_forall || visit::has_forall(&target.body) {
            let path = request.target.clone();
            return Err(Reason::NestedForall { path });
        }
        let is_inside =
            |site: &AccessSite<'_>| site.loops.iter().any(|it| it.iter() == target.iter);
        let mut sites = visit::accesses(kernel);
        let own = visit::allocated_arrays(&target.body);
        sites.retain(|site| is_inside(site) && !own.contains(&site.access.array));
        Ok(Self {
            kernel,
            request,
            target,
            iterations: Iterations::of(kernel, &request.target, target.iter),
            sites,
        })
    }

    pub(super) fn sites_of(&self, array: ArrayId) -> Vec<&AccessSite<'k>> {
        let sites = self.sites.iter();
        sites.filter(|site| site.access.array == array).collect()
    }

    pub(super) fn written(&self) -> BTreeSet<ArrayId> {
        let writes = self
            .sites
            .iter()
            .filter(|site| site.kind != AccessKind::Read);
        writes.map(|site| site.access.array).collect()
    }

    pub(super) fn name(&self, array: ArrayId) -> String {
        self.kernel.arrays[array].name.clone()
    }

    fn privatized(&self) -> Result<Vec<Privatized>, Reason> {
        let mut named = BTreeSet::new();
        let mut privates: Vec<Privatized> = Vec::new();
        for clause in &self.request.reductions {
            let array = self.array_of(clause)?;
            if !named.insert(array) {
                let array = clause.array.clone();
                return Err(Reason::NamedTwice { array });
            }
            if visit::allocated_arrays(&self.target.body).contains(&array) {
                return Err(Reason::PrivateAnyway {
                    array: self.name(array),
                    path: self.request.target.clone(),
                });
            }
            if is_disjoint(clause) {
                self.check_disjoint(array, clause)?;
                continue;
            }
            let private = self.privatize(array, Some(clause))?;
            if !contains(&privates, array) {
                privates.push(private);
            }
        }
        if self.request.reductions.iter().all(is_disjoint) {
            return self.implied();
        }
        Ok(privates)
    }

    /// The array that a clause names.
    fn array_of(&self, clause: &Reduction) -> Result<ArrayId, Reason> {
        let found = find_array(self.kernel, &clause.array);
        found.map_err(|none| match self.reduced_scalar(Some(&clause.array)) {
            Some(other) => other,
            None => none,
        })
    }

    /// That the loop combines into a scalar and does not read it, which is called `name` if that is
    /// given.
    fn reduced_scalar(&self, name: Option<&str>) -> Option<Reason> {
        let mut set = scalars::set_in(self.target).into_iter();
        let name_of = |local: LocalId| self.kernel.locals[local].name.as_str();
        let (local, _) = set.find(|(local, node)| {
            matches!(node, Node::Reduce { .. })
                && !reads_local(&self.target.body, *local)
                && name.is_none_or(|it| it == name_of(*local))
        })?;
        Some(Reason::OtherReduction {
            path: self.request.target.clone(),
            name: name_of(local).to_owned(),
            is_scalar: true,
        })
    }

    /// Without clauses that name a combiner: what the loop reduces and what is not kept apart
    /// anyway, in the order of the text.
    fn implied(&self) -> Result<Vec<Privatized>, Reason> {
        let mut reduced: Vec<ArrayId> = Vec::new();
        for site in &self.sites {
            let array = site.access.array;
            let is_updated = site.kind == AccessKind::Reduce || self.is_overwritten(array);
            if is_updated && !reduced.contains(&array) {
                reduced.push(array);
            }
        }
        let disjoint = self.disjoint()?;
        if reduced.is_empty() && disjoint.is_empty() {
            let path = self.request.target.clone();
            let other = self.reduced_scalar(None);
            return Err(other.unwrap_or(Reason::NothingReduced { path }));
        }
        reduced.retain(|array| {
            let is_disjoint = disjoint.iter().any(|it| it.array == *array);
            !is_disjoint && !self.iterations.are_apart_in(*array)
        });
        let mut privates = Vec::new();
        for array in reduced {
            if !contains(&privates, array) {
                privates.push(self.privatize(array, None)?);
            }
        }
        Ok(privates)
    }

    fn privatize(&self, array: ArrayId, clause: Option<&Reduction>) -> Result<Privatized, Reason> {
        let sites = self.sites_of(array);
        if !self.written().contains(&array) {
            return Err(Reason::NotWritten {
                array: self.name(array),
                path: self.request.target.clone(),
            });
        }
        let is_last = clause.is_none_or(|it| it.combiner == Last.name());
        if clause.is_some()
            && is_last
            && let Some(read) = sites.iter().find(|it| it.kind == AccessKind::Read)
        {
            return Err(self.reads_partial_sum(array, read));
        }
        match clause {
            _ if is_last && self.is_overwritten(array) => self.privatize_overwritten(array),
            Some(clause) if fills_array(self.kernel, self.target, &sites) => {
                self.privatize_filled(array, clause, &sites)
            }
            _ => self.privatize_reduced(array, clause, &sites),
        }
    }

    fn identity(&self, array: ArrayId, combiner: &Combiner) -> Result<Value, Reason> {
        let element = self.kernel.arrays[array].element;
        combiner
            .identity(&[element])
            .and_then(|it| it.first().copied())
            .ok_or_else(|| Reason::UndefinedCombiner {
                array: self.name(array),
                combiner: combiner.to_string(),
                element,
            })
    }

    /// The array is assigned in every cell: the clause alone says by what the copies are merged.
    fn privatize_filled(
        &self,
        array: ArrayId,
        clause: &Reduction,
        sites: &[&AccessSite<'k>],
    ) -> Result<Privatized, Reason> {
        let name = &clause.combiner;
        let combiner = Combiner::from_name(name).ok_or_else(|| Reason::NoSuchCombiner {
            name: name.clone(),
            combiners: Combiner::known_names(),
        })?;
        let identity = self.identity(array, &combiner)?;
        let element = self.kernel.arrays[array].element;
        if !combiner.has_two_sided_identity(&[element]) {
            return Err(Reason::LosesAssigned {
                array: self.name(array),
                combiner: name.clone(),
                span: sites
                    .first()
                    .map_or_else(Span::default, |site| site.access.span),
            });
        }
        Ok(Privatized {
            arrays: vec![array],
            fill: Some(identity),
            combiner,
            is_read: false,
        })
    }

    /// Whether a clause makes an array private, other than `arrays`, of which the loop assigns
    /// every cell.
    fn fills_another(&self, arrays: &[ArrayId]) -> bool {
        self.request.reductions.iter().any(|clause| {
            find_array(self.kernel, &clause.array).is_ok_and(|other| {
                !arrays.contains(&other)
                    && fills_array(self.kernel, self.target, &self.sites_of(other))
            })
        })
    }

    /// Whether all that the loop does with the array is to assign elements that it finds by
    /// computing, so that the last one counts.
    fn is_overwritten(&self, array: ArrayId) -> bool {
        let sites = self.sites_of(array);
        let is_assigned = |site: &&AccessSite<'_>| {
            let is_computed = |it: &Subscript| matches!(it, Subscript::Computed(_));
            site.kind == AccessKind::Write
                && matches!(site.node, Some(Node::Assign { .. }))
                && site.access.subscripts.iter().any(is_computed)
        };
        !sites.is_empty() && sites.iter().all(is_assigned)
    }

    /// The last assignment counts, in the order of the loop.
    fn privatize_overwritten(&self, array: ArrayId) -> Result<Privatized, Reason> {
        if let Some(site) = self.sites_of(array).first()
            && self.fills_another(&[array])
        {
            return Err(Reason::NoIdentity {
                array: self.name(array),
                combiner: Last.name().to_owned(),
                span: site.access.span,
            });
        }
        Ok(Privatized {
            arrays: vec![array],
            combiner: Combiner::new(Last),
            fill: None,
            is_read: false,
        })
    }

    /// The array is updated by reductions: all of them by one combiner, which is the clause's if
    /// there is a clause.
    fn privatize_reduced(
        &self,
        array: ArrayId,
        clause: Option<&Reduction>,
        sites: &[&AccessSite<'k>],
    ) -> Result<Privatized, Reason> {
        let mut used: Vec<(&Combiner, Span)> = Vec::new();
        self.check_read(array, sites)?;
        for site in sites.iter().filter(|it| it.kind != AccessKind::Read) {
            match (site.kind, site.node) {
                (AccessKind::Reduce, Some(Node::Reduce { combiner, span, .. })) => {
                    if used.iter().all(|(known, _)| *known != combiner) {
                        used.push((combiner, *span));
                    }
                }
                _ => return Err(self.overwrites(array, site)),
            }
        }
        match (used.as_slice(), clause) {
            ([(first, _), (second, span), ..], _) => Err(self.mixes(array, first, second, *span)),
            (
                [(found, span)],
                Some(Reduction {
                    combiner: given, ..
                }),
            ) if found.to_string() != *given => Err(Reason::WrongCombiner {
                array: self.name(array),
                given: given.clone(),
                found: found.to_string(),
                span: *span,
            }),
            ([(combiner, _)], _) => self.privatize_together(array, combiner, sites),
            ([], _) => Err(Reason::NotWritten {
                array: self.name(array),
                path: self.request.target.clone(),
            }),
        }
    }

    /// The array with all that the combiner combines it together with: cell by cell, and nowhere
    /// otherwise.
    fn privatize_together(
        &self,
        array: ArrayId,
        combiner: &Combiner,
        sites: &[&AccessSite<'k>],
    ) -> Result<Privatized, Reason> {
        let mut updates = sites.iter().filter(|it| it.kind != AccessKind::Read);
        let first = updates.next().and_then(|site| site.node);
        let arrays = first.map_or_else(Vec::new, written_arrays);
        let mut is_read = false;
        for other in &arrays {
            let sites = self.sites_of(*other);
            self.check_read(*other, &sites)?;
            for site in &sites {
                match site.kind {
                    AccessKind::Read => is_read = true,
                    _ => self.check_together(*other, &arrays, combiner, site)?,
                }
            }
        }
        let types: Vec<_> = arrays
            .iter()
            .map(|array| self.kernel.arrays[*array].element)
            .collect();
        // Copies that are merged in the order of the loop need none, if updates are all that
        // happens to them.
        let is_filled = self.fills_another(&arrays);
        if combiner.identity(&types).is_none() && is_filled {
            return Err(Reason::NoIdentity {
                array: self.name(array),
                combiner: combiner.to_string(),
                span: sites
                    .first()
                    .map_or_else(Span::default, |site| site.access.span),
            });
        }
        Ok(Privatized {
            arrays,
            combiner: combiner.clone(),
            fill: None,
            is_read,
        })
    }

    /// That what is read of the array may be other elements than those that are updated, as far as
    /// one knows before the data are there.
    fn check_read(&self, array: ArrayId, sites: &[&AccessSite<'k>]) -> Result<(), Reason> {
        let read = sites.iter().find(|it| it.kind == AccessKind::Read);
        match read.filter(|_| !may_be_apart(sites)) {
            Some(read) => Err(self.reads_partial_sum(array, read)),
            None => Ok(()),
        }
    }

    /// That the loop can begin anew, if it turns out that they are the same.
    fn check_speculation(&self, privates: &[Privatized]) -> Result<(), Reason> {
        let Some(private) = privates.iter().find(|it| it.is_read) else {
            return Ok(());
        };
        if can_be_dropped(self.kernel, self.target, privates) {
            return Ok(());
        }
        let read = private.arrays.iter().find_map(|array| {
            let sites = self.sites_of(*array).into_iter();
            let mut reads = sites.filter(|it| it.kind == AccessKind::Read);
            Some((*array, reads.next()?))
        });
        match read {
            Some((array, site)) => Err(self.reads_partial_sum(array, site)),
            None => Ok(()),
        }
    }

    /// Whether `site`, an access of `array`, belongs to a reduction of one cell of each of
    /// `arrays`, all at one place.
    fn check_together(
        &self,
        array: ArrayId,
        arrays: &[ArrayId],
        combiner: &Combiner,
        site: &AccessSite<'k>,
    ) -> Result<(), Reason> {
        let (node, found) = match (site.kind, site.node) {
            (AccessKind::Reduce, Some(node @ Node::Reduce { combiner, .. })) => (node, combiner),
            _ => return Err(self.overwrites(array, site)),
        };
        if found != combiner {
            return Err(self.mixes(array, combiner, found, site.access.span));
        }
        let extents = |array: &ArrayId| &self.kernel.arrays[*array].extents;
        let is_alike = |other: &ArrayId| {
            let (ours, theirs) = (extents(&array), extents(other));
            let mut pairs = ours.iter().zip(theirs);
            ours.len() == theirs.len()
                && pairs.all(|(left, right)| self.kernel.assumes_equal(left, right))
        };
        let mut others = node.written_elements();
        let own = visit::allocated_arrays(&self.target.body);
        let is_together = arrays.iter().all(|array| !own.contains(array))
            && written_arrays(node) == arrays
            && arrays.len() == combiner.parts()
            && arrays.iter().all(is_alike)
            && others.all(|other| other.is_at_same_place(site.access));
        if is_together {
            return Ok(());
        }
        Err(Reason::NotTogether {
            array: self.name(array),
            combiner: combiner.to_string(),
            span: site.access.span,
        })
    }

    pub(super) fn reads_partial_sum(&self, array: ArrayId, site: &AccessSite<'_>) -> Reason {
        let ends = |ends: Ends<'_>| {
            ends.source.kind != ends.sink.kind && ends.either(|end| end.kind == AccessKind::Read)
        };
        let witness = witness::find(self.kernel, self.target.iter, array, ends);
        Reason::ReadsPartialSum {
            array: self.name(array),
            span: site.access.span,
            witness: witness.map(Box::new),
        }
    }

    fn overwrites(&self, array: ArrayId, site: &AccessSite<'_>) -> Reason {
        let is_write = |ends: Ends<'_>| {
            ends.either(|end| end.kind == AccessKind::Write)
                && ends.both(|end| end.kind != AccessKind::Read)
        };
        let meets = witness::find(self.kernel, self.target.iter, array, |ends| {
            is_write(ends) && !ends.are_same()
        });
        if let Some(witness) = meets {
            return Reason::OverwritesPrivate {
                array: self.name(array),
                span: site.access.span,
                witness: Some(Box::new(witness)),
            };
        }
        let partly = witness::find_uncovered(self.kernel, self.target.iter, array);
        Reason::KeepsOldContents {
            array: self.name(array),
            span: site.access.span,
            witness: partly.map(Box::new),
        }
    }

    fn mixes(&self, array: ArrayId, first: &Combiner, second: &Combiner, span: Span) -> Reason {
        let by_both = |ends: Ends<'_>| ends.source.combiner != ends.sink.combiner;
        let witness = witness::find(self.kernel, self.target.iter, array, by_both);
        Reason::MixesCombiners {
            array: self.name(array),
            combiners: [first.to_string(), second.to_string()],
            span,
            witness: witness.map(Box::new),
        }
    }

    fn check_kept_apart(&self, privates: &[Privatized]) -> Result<(), Reason> {
        let mut others = self.written();
        let disjoint = self.disjoint()?;
        others.retain(|array| {
            !contains(privates, *array) && !disjoint.iter().any(|it| it.array == *array)
        });
        others.into_iter().try_for_each(|array| {
            let refused = self.iterations.check_kept_apart(|it| it == array);
            refused.map_err(|reason| self.with_combiner(array, reason))
        })
    }

    /// What is carried in an array that is touched by reductions with a single combiner alone could
    /// be reduced.
    fn with_combiner(&self, array: ArrayId, mut reason: Reason) -> Reason {
        if let Reason::Carried { combiner, .. } = &mut reason {
            *combiner = self.only_combiner(array);
        }
        reason
    }

    /// The combiner, when the array is touched by reductions with a single one alone.
    fn only_combiner(&self, array: ArrayId) -> Option<String> {
        let private = self
            .privatize_reduced(array, None, &self.sites_of(array))
            .ok()?;
        Some(private.combiner.to_string())
    }
}

fn contains(privates: &[Privatized], array: ArrayId) -> bool {
    privates.iter().any(|it| it.arrays.contains(&array))
}

fn written_arrays(node: &Node) -> Vec<ArrayId> {
    node.written_elements().map(|it| it.array).collect()
}
