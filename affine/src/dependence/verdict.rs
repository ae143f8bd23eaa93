//! What the dependences of a kernel allow each of its loops.

use super::analyzed::{Analyzed, Dependence, DependenceKind};
use super::private::Privacy;
use super::site::{Level, Target};
use crate::marks::Marks;
use crate::tickets::Tickets;
use crate::visit::Loop;
use crate::{ArrayId, Expr, IterId, Node};
use std::collections::HashMap;

/// Whether the iterations of a loop may run in any order and at once.
#[derive(Clone, Debug, PartialEq)]
pub enum Parallelism {
    /// They may.
    Yes,
    /// They may: where they meet, which is in these arrays, they [mark](crate::marks) elements.
    Marks(Vec<ArrayId>),
    /// They may where this holds, which is computed before the loop: elements that they mark are
    /// not what they look for then.
    MarksIf(Box<Expr>),
    /// They may in parts, once it is counted how often each part moves these: all that they meet in
    /// is [counters that hand out tickets](crate::tickets) and what these say.
    Tickets(Vec<Target>),
    /// They may if updates of these may be regrouped.
    Reduction(Vec<Target>),
    /// They may if none of these row pointers ever falls.
    IfMonotone(Vec<ArrayId>),
    /// They may not, or nobody knows: the dependence at this position says why.
    No(usize),
}

/// What is known of a loop.
#[derive(Clone, Debug)]
pub struct LoopVerdict<'k> {
    /// The loop.
    pub level: Level<'k>,
    /// How many loops are around it.
    pub depth: usize,
    /// Whether its iterations may run at once.
    pub parallelism: Parallelism,
}

impl<'k> Analyzed<'k> {
    /// For each loop of the kernel, in the order of the text, what the `dependences` allow, which
    /// are those that [`Analyzed::dependences`] gave. Scalars and local arrays that each iteration
    /// sets before it reads them do not count where nothing behind the loop reads them.
    pub fn verdicts(&self, dependences: &[Dependence]) -> Vec<LoopVerdict<'k>> {
        let mut levels = Vec::new();
        collect(&self.kernel().body, 0, &mut levels);
        let verdicts = levels.into_iter().map(|(level, depth)| LoopVerdict {
            level,
            depth,
            parallelism: self.parallelism(level, depth, dependences),
        });
        verdicts.collect()
    }

    fn parallelism(
        &self,
        level: Level<'k>,
        depth: usize,
        dependences: &[Dependence],
    ) -> Parallelism {
        let tying = self.tying(level, depth, dependences);
        if let Some(counters) = self.counters(level, &tying) {
            return Parallelism::Tickets(counters);
        }
        let (mut targets, mut pointers, mut because) = (Vec::new(), Vec::new(), None);
        let of_loop = level.marks();
        let marked = of_loop.as_ref().map(Marks::marked).unwrap_or_default();
        let (marked_if, condition) = of_loop.and_then(|it| it.where_apart()).unzip();
        let marked_if = marked_if.unwrap_or_default();
        let (mut marks, mut is_asked) = (Vec::new(), false);
        for (position, dependence) in tying {
            let array = self.target(dependence).and_then(Target::array);
            if let Some(array) = array.filter(|it| marked.contains(it)) {
                marks.push(array);
            } else if array.is_some_and(|it| marked_if.contains(&it)) {
                is_asked = true;
            } else if dependence.is_reduction {
                targets.extend(self.target(dependence));
            } else if !dependence.unless_monotone.is_empty() {
                pointers.extend(&dependence.unless_monotone);
            } else {
                let is_better = |other: usize| {
                    dependences
                        .get(other)
                        .is_some_and(|it| weight(it) < weight(dependence))
                };
                if because.is_none_or(is_better) {
                    because = Some(position);
                }
            }
        }
        targets.sort();
        targets.dedup();
        let (pointers, marks) = (each_once(pointers), each_once(marks));
        let condition = condition.filter(|_| is_asked);
        match because {
            Some(position) => Parallelism::No(position),
            None if let Some(condition) = condition => Parallelism::MarksIf(Box::new(condition)),
            None if !pointers.is_empty() => Parallelism::IfMonotone(pointers),
            None if !targets.is_empty() => Parallelism::Reduction(targets),
            None if !marks.is_empty() => Parallelism::Marks(marks),
            None => Parallelism::Yes,
        }
    }

    /// The counters of whose tickets alone `tying` speaks, if it speaks of some.
    fn counters(&self, level: Level<'k>, tying: &[(usize, &Dependence)]) -> Option<Vec<Target>> {
        let Level::Loop(Loop::Affine(it)) = level else {
            return None;
        };
        let (first, others) = tying.split_first()?;
        let tickets = Tickets::of(self.kernel(), &it.body)?;
        let taken = tickets.taken();
        let mut all = [first].into_iter().chain(others);
        let is_taken = |it: Target| taken.contains(&it);
        all.all(|(_, it)| self.target(it).is_some_and(is_taken))
            .then(|| tickets.dispensers().iter().map(|it| it.target).collect())
    }

    /// The row pointers that must never fall for the iterations of the loop over `iter` to be
    /// apart; `None` where they may meet whatever these do, and where they never do. What each
    /// iteration can have of its own does not count.
    pub fn apart_where_rising(&self, iter: IterId) -> Option<Vec<ArrayId>> {
        let mut levels = Vec::new();
        collect(&self.kernel().body, 0, &mut levels);
        let is_over = |level: &Level<'k>| level.iter() == Some(iter);
        let (level, depth) = levels.into_iter().find(|(it, _)| is_over(it))?;
        let dependences =
            self.dependences_inside(iter, |one, other| one.writes() || other.writes());
        let tying = self.tying(level, depth, &dependences).into_iter();
        let pointers =
            tying.map(|(_, it)| (!it.unless_monotone.is_empty()).then_some(&it.unless_monotone));
        let pointers: Option<Vec<_>> = pointers.collect();
        let pointers = each_once(pointers?.into_iter().flatten().copied().collect());
        (!pointers.is_empty()).then_some(pointers)
    }

    /// The dependences that iterations of the loop carry, but for those on what each of them can
    /// have of its own, with their positions.
    fn tying<'d>(
        &self,
        level: Level<'k>,
        depth: usize,
        dependences: &'d [Dependence],
    ) -> Vec<(usize, &'d Dependence)> {
        let mut known = HashMap::new();
        let mut is_private = |target: Target| {
            let known = known.entry(target);
            *known.or_insert_with(|| self.privacy(level, depth, target) == Privacy::Private)
        };
        let carried = dependences
            .iter()
            .enumerate()
            .filter(|(_, it)| self.is_around(level, depth, it) && it.may_be_carried_at(depth));
        let tying = carried.filter(|(_, it)| !self.target(it).is_some_and(&mut is_private));
        tying.collect()
    }

    fn target(&self, dependence: &Dependence) -> Option<Target> {
        self.sites.get(dependence.source).map(|it| it.target)
    }

    fn is_around(&self, level: Level<'k>, depth: usize, dependence: &Dependence) -> bool {
        let site = self.sites.get(dependence.source);
        let found = site.and_then(|it| it.levels().nth(depth));
        depth < dependence.vector.len() && found.is_some_and(|it| it.is_same(level))
    }
}

/// Which dependence says most: one that surely exists, and of those one along which values flow.
fn weight(dependence: &Dependence) -> (bool, bool) {
    (
        dependence.is_must(),
        dependence.kind == DependenceKind::Flow,
    )
}

fn each_once(mut pointers: Vec<ArrayId>) -> Vec<ArrayId> {
    pointers.sort_by_key(|it| it.into_raw());
    pointers.dedup();
    pointers
}

fn collect<'k>(block: &'k [Node], depth: usize, levels: &mut Vec<(Level<'k>, usize)>) {
    for node in block {
        let level = match node {
            Node::ScfWhile { .. } => Some(Level::While(node)),
            _ => Loop::of(node).map(Level::Loop),
        };
        levels.extend(level.map(|it| (it, depth)));
        let inside = depth + usize::from(level.is_some());
        for block in node.blocks() {
            collect(block, inside, levels);
        }
    }
}
