use super::frame::Frame;
use super::pair::{Leaf, leaves};
use super::site::{Level, Site, Sites, Target};
use super::vector::{Component, Direction, leading, merged};
use super::witness::Witness;
use crate::sets::Budget;
use crate::visit::AccessKind;
use crate::{ArrayId, IterId, Kernel, Node, Place};
use std::collections::BTreeMap;
use std::fmt;

/// How the two ends of a dependence touch their cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DependenceKind {
    /// Written or updated, then read; or written, then updated.
    Flow,
    /// Read, then written or updated.
    Anti,
    /// Written or updated, then written; or updated twice.
    Output,
    /// Read twice. It orders nothing, and matters to locality alone.
    Input,
}

impl DependenceKind {
    /// That of a source and a sink which do this to their cell.
    pub fn of(source: AccessKind, sink: AccessKind) -> Self {
        match (source, sink) {
            (AccessKind::Read, AccessKind::Read) => Self::Input,
            (AccessKind::Read, _) => Self::Anti,
            (_, AccessKind::Read) | (AccessKind::Write, AccessKind::Reduce) => Self::Flow,
            (AccessKind::Write | AccessKind::Reduce, AccessKind::Write)
            | (AccessKind::Reduce, AccessKind::Reduce) => Self::Output,
        }
    }
}

impl fmt::Display for DependenceKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Flow => "flow",
            Self::Anti => "anti",
            Self::Output => "output",
            Self::Input => "input",
        })
    }
}

/// Two accesses that touch one cell, the source first.
#[derive(Clone, Debug)]
pub struct Dependence {
    /// The position of the earlier access among [`Analyzed::sites`].
    pub source: usize,
    /// That of the later one.
    pub sink: usize,
    /// How they touch it.
    pub kind: DependenceKind,
    /// For each common loop, outermost first, how the iterations lie to each other.
    pub vector: Vec<Component>,
    /// Both ends update by the same combiner: whoever may regroup updates may ignore it.
    pub is_reduction: bool,
    /// The vector and its existence are all that there is to know: every pair of accesses that it
    /// speaks of meets for some parameters.
    pub is_exact: bool,
    /// Where they meet. Without one the dependence *may* exist, with one it *must*.
    pub witness: Option<Witness>,
    /// It does not exist if none of these arrays ever falls: they are row pointers of which the
    /// accesses read neighbouring rows.
    pub unless_monotone: Vec<ArrayId>,
}

impl Dependence {
    /// The depth of the loop whose iterations it orders: the first whose direction is not `=`.
    /// `None` when both ends are in one iteration of all common loops.
    pub fn carried_level(&self) -> Option<usize> {
        let mut vector = self.vector.iter();
        vector.position(|it| it.direction != Direction::Equal)
    }

    /// Whether the loop at `depth` may carry it: the loops around that one may be in one iteration,
    /// and it in two.
    pub fn may_be_carried_at(&self, depth: usize) -> bool {
        let outside = self.vector.iter().take(depth);
        let here = self.vector.get(depth);
        outside.into_iter().all(|it| it.direction.may_be_equal())
            && here.is_some_and(|it| it.direction != Direction::Equal)
    }

    /// Whether there is a witness.
    pub fn is_must(&self) -> bool {
        self.witness.is_some()
    }

    /// The vector as it is written: `(1, <, *)`.
    pub fn vector_text(&self) -> String {
        let each: Vec<String> = self.vector.iter().map(Component::to_string).collect();
        format!("({})", each.join(", "))
    }
}

/// How much work the dependences of one pair of accesses may take, in rows.
const ROWS_A_PAIR: u64 = 20_000;
/// Those of a whole kernel.
const ROWS_A_KERNEL: u64 = 2_000_000;

/// A kernel and what follows from it.
pub struct Analyzed<'k> {
    pub(super) sites: Vec<Site<'k>>,
    pub(super) frame: Frame<'k>,
}

impl<'k> Analyzed<'k> {
    /// Collects the accesses of `kernel`, which is taken to be a verified one. Everything else is
    /// found when it is asked for.
    pub fn new(kernel: &'k Kernel) -> Self {
        Self::of(kernel, Sites::of(kernel))
    }

    /// The same of what may happen while one of these `loops` runs or between two of them: of the
    /// outermost statements in which they stand and those between. That is all there is to know
    /// about accesses inside of the loops, and costs what these take however much else the kernel
    /// does; which accesses there are before and behind it does not say.
    pub fn around(kernel: &'k Kernel, loops: &[IterId]) -> Self {
        Self::of(kernel, Sites::around(kernel, loops))
    }

    /// The same of no accesses: what extents and assumptions say of the parameters, for
    /// [`is_never_negative`](Self::is_never_negative).
    pub fn of_parameters(kernel: &'k Kernel) -> Self {
        Self::around(kernel, &[])
    }

    fn of(kernel: &'k Kernel, Sites { sites, homes }: Sites<'k>) -> Self {
        let frame = Frame::new(kernel, &sites, homes);
        Self { sites, frame }
    }

    /// The kernel that this is about.
    pub fn kernel(&self) -> &'k Kernel {
        self.frame.kernel
    }

    /// All accesses to arrays and scalars, in the order of the text and within a statement in order
    /// of evaluation.
    pub fn sites(&self) -> &[Site<'k>] {
        &self.sites
    }

    /// The common loops of a dependence, outermost first.
    pub fn common_levels(&self, dependence: &Dependence) -> Vec<Level<'k>> {
        let site = self.sites.get(dependence.source);
        let levels = site.into_iter().flat_map(Site::levels);
        levels.take(dependence.vector.len()).collect()
    }

    /// How many loops are around the place where a target is made: in each of their iterations it
    /// is another one.
    pub fn home_depth(&self, target: Target) -> usize {
        self.frame.homes.get(&target).copied().unwrap_or(0)
    }

    /// The dependences between all accesses of which one writes, sources in the order of the text.
    pub fn dependences(&self) -> Vec<Dependence> {
        self.dependences_where(|source, sink| source.writes() || sink.writes())
    }

    /// Pairs of reads of one cell.
    pub fn input_dependences(&self) -> Vec<Dependence> {
        self.dependences_where(|source, sink| !source.writes() && !sink.writes())
    }

    /// The dependences between those pairs of accesses that are wanted; each pair is asked for
    /// once, the one first in the text first.
    pub fn dependences_where(
        &self,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> Vec<Dependence> {
        self.dependences_of(self.pairs(), wanted)
    }

    /// Those between accesses inside of the loop over `iter`.
    pub fn dependences_inside(
        &self,
        iter: IterId,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> Vec<Dependence> {
        self.dependences_of(self.pairs_of(|it| it.depth_of(iter).is_some()), wanted)
    }

    fn dependences_of<'s>(
        &'s self,
        pairs: impl Iterator<Item = (&'s Site<'k>, &'s Site<'k>)>,
        wanted: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> Vec<Dependence> {
        let mut left = ROWS_A_KERNEL;
        let mut found = Vec::new();
        for (first, second) in pairs {
            if !wanted(first, second) {
                continue;
            }
            let rows = left.min(ROWS_A_PAIR);
            let mut budget = Budget::new(rows);
            let leaves = leaves(&self.frame, first, second, &mut budget);
            left = left.saturating_sub(rows - budget.left());
            self.collect(first, second, leaves, &mut found);
        }
        found.sort_by_key(|it| (it.source, it.sink));
        found
    }

    /// Pairs of accesses to one target, the first not behind the second in the text.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (&Site<'k>, &Site<'k>)> {
        self.pairs_of(|_| true)
    }

    /// Those of accesses that are both `wanted`: of a loop among many there are few.
    pub(super) fn pairs_of(
        &self,
        wanted: impl Fn(&Site<'k>) -> bool,
    ) -> impl Iterator<Item = (&Site<'k>, &Site<'k>)> {
        let mut groups: BTreeMap<Target, Vec<&Site<'k>>> = BTreeMap::new();
        for site in self.sites.iter().filter(|it| wanted(it)) {
            groups.entry(site.target).or_default().push(site);
        }
        groups.into_values().flat_map(|group| {
            let count = group.len();
            let pairs = (0..count).flat_map(move |first| (first..count).map(move |it| (first, it)));
            let pairs: Vec<_> = pairs
                .filter_map(|(first, second)| Some((*group.get(first)?, *group.get(second)?)))
                .collect();
            pairs
        })
    }

    fn collect(
        &self,
        first: &Site<'k>,
        second: &Site<'k>,
        leaves: Vec<Leaf>,
        found: &mut Vec<Dependence>,
    ) {
        let mut forward = Vec::new();
        let mut backward = Vec::new();
        for leaf in leaves {
            match leading(&leaf.vector) {
                Direction::Less => forward.push(leaf),
                Direction::Equal if first.order < second.order => forward.push(leaf),
                Direction::Equal => {}
                Direction::Greater => backward.push(flipped(leaf)),
                Direction::Any => {
                    if first.order != second.order {
                        backward.push(flipped(leaf.clone()));
                    }
                    forward.push(leaf);
                }
            }
        }
        self.add(first, second, forward, found);
        self.add(second, first, backward, found);
    }

    fn add(
        &self,
        source: &Site<'k>,
        sink: &Site<'k>,
        leaves: Vec<Leaf>,
        found: &mut Vec<Dependence>,
    ) {
        let dependence = |leaf: Leaf| Dependence {
            source: source.order,
            sink: sink.order,
            kind: DependenceKind::of(source.kind, sink.kind),
            vector: leaf.vector,
            is_reduction: is_reduction(source, sink),
            is_exact: leaf.is_exact,
            witness: leaf.witness,
            unless_monotone: leaf.unless_monotone,
        };
        let (known, open): (Vec<_>, Vec<_>) = together(leaves)
            .into_iter()
            .partition(|it| it.is_exact || it.witness.is_some());
        let mut added: Vec<Dependence> = known.into_iter().map(dependence).collect();
        let mut by_assumption: BTreeMap<Vec<_>, (Vec<ArrayId>, Vec<Vec<Component>>)> =
            BTreeMap::new();
        for leaf in open {
            let key = leaf
                .unless_monotone
                .iter()
                .map(|it| it.into_raw())
                .collect();
            let group = by_assumption.entry(key);
            let (_, vectors) = group.or_insert((leaf.unless_monotone, Vec::new()));
            vectors.push(leaf.vector);
        }
        for (unless_monotone, vectors) in by_assumption.into_values() {
            added.extend(merged(vectors).into_iter().map(|vector| {
                dependence(Leaf {
                    vector,
                    is_exact: false,
                    witness: None,
                    unless_monotone: unless_monotone.clone(),
                })
            }));
        }
        added.sort_by(|left, right| left.vector.cmp(&right.vector));
        found.append(&mut added);
    }
}

fn flipped(leaf: Leaf) -> Leaf {
    Leaf {
        vector: leaf.vector.into_iter().map(Component::flipped).collect(),
        witness: leaf.witness.map(Witness::flipped),
        ..leaf
    }
}

fn is_reduction(source: &Site<'_>, sink: &Site<'_>) -> bool {
    match (&source.update, &sink.update) {
        (Some(left), Some(right)) => {
            left.combiner == right.combiner
                && left.part == right.part
                && [source, sink].into_iter().all(goes_together)
        }
        _ => false,
    }
}

/// Whether an update of several places is one of elements at the same place of several arrays: only
/// then the combiner combines what it has combined before.
fn goes_together(site: &Site<'_>) -> bool {
    let Some(Node::Reduce { places, .. }) = site.node else {
        return true;
    };
    match places.as_slice() {
        [Place::Element(first), others @ ..] => others.iter().all(|place| match place {
            Place::Element(other) => other.is_at_same_place(first),
            Place::Local(_) => false,
        }),
        [Place::Local(_), others @ ..] => {
            others.iter().all(|place| matches!(place, Place::Local(_)))
        }
        [] => true,
    }
}

/// One leaf for each direction vector: cases of one domain may have the same.
fn together(leaves: Vec<Leaf>) -> Vec<Leaf> {
    let mut found: BTreeMap<Vec<Direction>, Leaf> = BTreeMap::new();
    for leaf in leaves {
        let signs = leaf.vector.iter().map(|it| it.direction).collect();
        match found.entry(signs) {
            std::collections::btree_map::Entry::Vacant(entry) => {
                entry.insert(leaf);
            }
            std::collections::btree_map::Entry::Occupied(mut entry) => {
                let known = entry.get_mut();
                for (known, other) in known.vector.iter_mut().zip(&leaf.vector) {
                    if known.distance != other.distance {
                        known.distance = None;
                    }
                }
                known.is_exact &= leaf.is_exact;
                known.witness = known.witness.take().or(leaf.witness);
                // Each speaks of all of its arrays together.
                if known.unless_monotone.is_empty() || leaf.unless_monotone.is_empty() {
                    known.unless_monotone.clear();
                } else {
                    known.unless_monotone.extend(&leaf.unless_monotone);
                    known.unless_monotone.sort_by_key(|it| it.into_raw());
                    known.unless_monotone.dedup();
                }
            }
        }
    }
    found.into_values().collect()
}
