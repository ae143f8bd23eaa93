//! Whether each iteration of a loop can have a scalar or an array of its own.

use super::analyzed::Analyzed;
use super::relation::{Checked, Relation};
use super::site::{Level, Site, Target};
use crate::sets::{Budget, Row, Set, Space};
use crate::visit::AccessKind;
use crate::{Node, Subscript};
use std::collections::BTreeSet;

/// What keeps the iterations of a loop from having a target of their own, if something does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privacy {
    /// They can: each surely writes what it reads before it reads it, and nobody, not even the
    /// caller, reads what the last one leaves before it is surely written again. A write is not
    /// sure where an index in its statement, or in a declaration that it reads, may be out of
    /// range, since that may be skipped.
    Private,
    /// They have, since it is made in each of them.
    Own,
    /// The access at this position may read what another iteration left, or what was there before.
    ReadsOlder(usize),
    /// The access at this position may read what the last iteration leaves.
    ReadBehind(usize),
    /// The caller sees what the last iteration leaves, or may do so: what the loop writes is
    /// written again behind it, but perhaps not all of it, or not surely.
    IsParameter {
        /// Something writes it behind the loop.
        is_written_behind: bool,
    },
}

/// How much work one read may take, in rows.
const ROWS_A_READ: u64 = 20_000;

impl<'k> Analyzed<'k> {
    /// Whether each iteration of the loop `level`, which has `depth` loops around it, can have a
    /// copy of its own of `target`, which it touches.
    pub fn privacy(&self, level: Level<'k>, depth: usize, target: Target) -> Privacy {
        if self.home_depth(target) > depth {
            return Privacy::Own;
        }
        let inside = |site: &Site<'k>| site.levels().nth(depth).is_some_and(|it| it.is_same(level));
        let of_target = self.sites.iter().filter(|it| it.target == target);
        let (within, outside): (Vec<_>, Vec<_>) = of_target.partition(|it| inside(it));
        let last = within.last().map_or(0, |it| it.order);
        if let Target::Array(array) = target
            && self.kernel().array_params().any(|it| it == array)
        {
            let behind = outside.iter().copied();
            let behind = behind.filter(|it| it.kind == AccessKind::Write && it.order > last);
            let behind: Vec<_> = behind.collect();
            if !self.is_overwritten(&within, &behind, depth) {
                let is_written_behind = !behind.is_empty();
                return Privacy::IsParameter { is_written_behind };
            }
        }
        let reads = |site: &&&Site<'k>| site.kind != AccessKind::Write;
        let is_set = |read: &&&Site<'k>| {
            within
                .iter()
                .any(|write| write.levels().count() > depth && self.is_surely_before(write, read))
                || self.is_covered(read, within.iter().copied(), depth + 1)
        };
        if let Some(read) = within.iter().filter(reads).find(|it| !is_set(it)) {
            return Privacy::ReadsOlder(read.order);
        }
        let survives = self.home_depth(target) < depth;
        let is_set_again = |read: &Site<'k>| {
            let mut writes = outside.iter();
            writes.any(|write| {
                is_never_after(&within, write, read) && self.is_surely_before(write, read)
            }) || {
                let writes = outside.iter().copied();
                let writes = writes.filter(|it| is_never_between(&within, it, read));
                self.is_covered(read, writes, depth)
            }
        };
        let mut read_outside = outside.iter().filter(reads);
        match read_outside.find(|it| (it.order > last || survives) && !is_set_again(it)) {
            Some(read) => Privacy::ReadBehind(read.order),
            None => Privacy::Private,
        }
    }

    /// Whether all elements that `read` reads are surely written before by `writes` in the same
    /// iteration of at least so many loops.
    fn is_covered<'s>(
        &'s self,
        read: &'s Site<'k>,
        writes: impl Iterator<Item = &'s Site<'k>>,
        least: usize,
    ) -> bool {
        let earlier = writes.filter(|it| it.kind == AccessKind::Write && it.order < read.order);
        let covered = self.is_met(read, earlier, least);
        covered.unwrap_or(false)
    }

    /// Whether all elements that `site` touches are surely touched by `others` in the same
    /// iteration of at least so many loops around.
    fn is_met<'s>(
        &'s self,
        site: &'s Site<'k>,
        others: impl Iterator<Item = &'s Site<'k>>,
        least: usize,
    ) -> Checked<bool> {
        let others = others.filter(|it| !it.is_merge() && self.is_never_skipped(it));
        let others: Vec<_> = others.collect();
        // What is merged into its target at once has no subscripts that would say where.
        if site.levels().count() < least || site.is_merge() || others.is_empty() {
            return Ok(false);
        }
        let mut budget = Budget::new(ROWS_A_READ);
        let Some((all, _)) = self.iterations_that_meet(site, site, least, &mut budget)? else {
            return Ok(true);
        };
        let mut met = Set::empty(all.space().clone());
        for other in others {
            if let Some((here, true)) =
                self.iterations_that_meet(other, site, least, &mut budget)?
            {
                met = met.union(&here);
            }
        }
        all.is_subset(&met, &mut budget)
    }

    /// Whether all elements that `within`, the sites of an array in a loop with `depth` loops
    /// around it, write are surely written by those `behind` it, in the same iteration of the loops
    /// around.
    fn is_overwritten(&self, within: &[&Site<'k>], behind: &[&Site<'k>], depth: usize) -> bool {
        let mut written = within.iter().filter(|it| it.writes());
        let is_met = |it: &Site<'k>| self.is_met(it, behind.iter().copied(), depth);
        !behind.is_empty() && written.all(|it| is_met(it).unwrap_or(false))
    }

    /// Whether `write` surely happens before `read` in the same iteration of all loops around it.
    fn is_surely_before(&self, write: &Site<'k>, read: &Site<'k>) -> bool {
        is_before_in_all(write, read) && self.is_never_skipped(write)
    }

    /// Whether no index can be out of range in the statement that `write` belongs to, or in the
    /// declarations of what it reads: nothing would be written where one is skipped.
    fn is_never_skipped(&self, write: &Site<'k>) -> bool {
        let mut asked = BTreeSet::new();
        let mut statements = vec![write.node];
        while let Some(statement) = statements.pop() {
            for site in self.sites.iter().filter(|it| is_same(it.node, statement)) {
                let is_array = matches!(site.target, Target::Array(_));
                if is_array && !self.stays_in_range(site) {
                    return false;
                }
                if !is_array && !site.writes() && asked.insert(site.target) {
                    statements.extend(self.declaration(site.target));
                }
            }
        }
        true
    }

    fn declaration(&self, local: Target) -> Option<Option<&'k Node>> {
        let nodes = self.sites.iter().filter(|it| it.target == local);
        let mut nodes = nodes.map(|it| it.node);
        nodes.find(
            |it| matches!(it, Some(Node::Declare { local: made, .. }) if Target::Local(*made) == local),
        )
    }

    /// The iterations of `read` that touch an element which `other` touches in the same iteration
    /// of all common loops, at least so many; and whether `other` surely touches it.
    fn iterations_that_meet(
        &self,
        other: &Site<'k>,
        read: &Site<'k>,
        least: usize,
        budget: &mut Budget,
    ) -> Checked<Option<(Set, bool)>> {
        let common = other.common_depth(read);
        let Some(mut relation) = Relation::of(&self.frame, other, read)? else {
            return Ok(None);
        };
        if common < least {
            return Ok(None);
        }
        let differences = (0..common).map(|it| relation.difference(it));
        let differences: Vec<Row> = differences.collect::<Checked<_>>()?;
        for case in &mut relation.cases {
            differences
                .iter()
                .for_each(|it| case.add_equality(it.clone()));
        }
        let parameters = self.frame.parameters.len();
        let of_other = other.levels().count();
        let names =
            |count: usize, letter: &str| (0..count).map(|it| format!("{letter}{it}")).collect();
        let space = Space::new(
            names(parameters, "p"),
            names(of_other + read.levels().count(), "i"),
        );
        let is_known = relation.opaques.is_empty();
        let met = Set::new(space, relation.cases).project_out(0..of_other, budget)?;
        // Whether the read happens decides nothing: it is covered in all iterations in which it
        // could.
        let other = Relation::of(&self.frame, other, other)?;
        let is_sure = is_known && other.is_none_or(|it| it.is_exact);
        Ok(Some((met, is_sure)))
    }
}

fn is_same(one: Option<&Node>, other: Option<&Node>) -> bool {
    one.zip(other)
        .is_some_and(|(one, other)| std::ptr::eq(one, other))
}

/// Whether nothing of `within`, a loop around neither, happens behind `write` and before `read` in
/// the same iteration of the loops around `write`, all of which are around `read`.
fn is_never_after(within: &[&Site<'_>], write: &Site<'_>, read: &Site<'_>) -> bool {
    let first = within.first();
    is_never_between(within, write, read)
        && first.is_none_or(|it| it.common_depth(read) <= write.levels().count())
}

/// Whether `within`, a loop around neither, does not stand between `write` and `read`.
fn is_never_between(within: &[&Site<'_>], write: &Site<'_>, read: &Site<'_>) -> bool {
    let ends = within.first().zip(within.last());
    ends.is_none_or(|(first, last)| write.order > first.order || last.order > read.order)
}

/// Whether `write` comes before `read` and all loops and conditions around it are around `read`,
/// too, so that it surely happens before in the same iteration; and both are to the same element.
fn is_before_in_all(write: &Site<'_>, read: &Site<'_>) -> bool {
    let pairs = read.around.iter().zip(&write.around);
    let common = pairs.take_while(|(left, right)| left.is_same(right));
    write.kind == AccessKind::Write
        && write.order < read.order
        && common.count() == write.around.len()
        && are_to_same_element(write, read)
}

fn are_to_same_element(write: &Site<'_>, read: &Site<'_>) -> bool {
    let (Some(write), Some(read)) = (write.access, read.access) else {
        return matches!(write.target, Target::Local(_));
    };
    let mut pairs = write.subscripts.iter().zip(&read.subscripts);
    pairs.all(|pair| match pair {
        (Subscript::Affine(write), Subscript::Affine(read)) => write == read,
        _ => false,
    })
}
