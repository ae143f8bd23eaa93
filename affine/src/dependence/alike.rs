//! Accesses that differ in nothing but conditions, so that they are asked about once.

use super::analyzed::Analyzed;
use super::site::{Around, Site};
use crate::IterId;
use std::collections::HashMap;

/// The accesses inside of one loop, those that do the same to the same element together, and what
/// is known of pairs of them.
pub(super) struct Alike<'k> {
    /// One for each group, without the conditions around it, and how many there are in the group.
    groups: Vec<(Site<'k>, usize)>,
    /// The group of each access, by its place in the order of the text.
    of: HashMap<usize, usize>,
    /// Whether those of two groups, the first not behind the second, never meet.
    are_apart: HashMap<[usize; 2], bool>,
}

impl<'k> Alike<'k> {
    /// Those inside of the loop over `iter`.
    pub(super) fn inside(iter: IterId, analyzed: &Analyzed<'k>) -> Self {
        let mut alike = Self {
            groups: Vec::new(),
            of: HashMap::new(),
            are_apart: HashMap::new(),
        };
        for site in &analyzed.sites {
            // Subscripts that were recovered may lie in their range by what the conditions say.
            let is_recovered = analyzed.frame.recovered.contains_key(&site.order);
            if site.depth_of(iter).is_some() && (is_unconditional(site) || !is_recovered) {
                alike.add(site);
            }
        }
        alike
    }

    fn add(&mut self, site: &Site<'k>) {
        let known = self.groups.iter().position(|(it, _)| is_alike(it, site));
        let group = known.unwrap_or(self.groups.len());
        match self.groups.get_mut(group) {
            Some((_, count)) => *count += 1,
            None => {
                let mut site = site.clone();
                site.around.retain(is_level);
                self.groups.push((site, 1));
            }
        }
        self.of.insert(site.order, group);
    }

    /// Whether `are_apart` says that what `first` and `second` are but for conditions never meets:
    /// then they do not, either. It is not asked for two that are like no others.
    pub(super) fn are_apart(
        &mut self,
        first: &Site<'k>,
        second: &Site<'k>,
        are_apart: impl FnOnce(&Site<'k>, &Site<'k>) -> bool,
    ) -> bool {
        let groups = [first, second].map(|it| self.of.get(&it.order).copied());
        let [Some(one), Some(other)] = groups else {
            return false;
        };
        let pair = [one.min(other), one.max(other)];
        let [Some((one, ones)), Some((other, others))] = pair.map(|it| self.groups.get(it)) else {
            return false;
        };
        if (*ones, *others) == (1, 1) {
            // The pair is asked about as it is, and once in any case.
            return false;
        }
        let answer = self.are_apart.entry(pair);
        *answer.or_insert_with(|| are_apart(one, other))
    }
}

fn is_level(around: &Around<'_>) -> bool {
    matches!(around, Around::Level(_))
}

fn is_unconditional(site: &Site<'_>) -> bool {
    site.around.iter().all(is_level)
}

/// Whether `site` does what `known` does, wherever conditions let it.
fn is_alike(known: &Site<'_>, site: &Site<'_>) -> bool {
    let is_same_element = || match (known.access, site.access) {
        (Some(known), Some(site)) => known.is_same(site),
        (None, None) => true,
        _ => false,
    };
    let mut levels = known.levels().zip(site.levels());
    (known.target, known.kind) == (site.target, site.kind)
        && is_same_element()
        && known.levels().count() == site.levels().count()
        && levels.all(|(one, other)| one.is_same(other))
}
