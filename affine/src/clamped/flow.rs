//! A kernel followed statement by statement: what scalars are set to, and what comes together
//! behind both sides of a condition.
//!
//! A subscript counts as kept for what it is computed from, not for the conditions that it stands
//! behind: what it is used for may be made elsewhere. Behind both sides, a scalar is what one of
//! them has left, and what a side leaves does follow from its condition. So sides are followed
//! twice if they set scalars: for their subscripts, and for what they leave.

use super::candidates::{Candidates, Verdict};
use crate::value_range::numbers::{Extent, Known, Numbers};
use crate::value_range::span::Span;
use crate::visit::{Loop, for_each_load, for_each_load_of, has_loops, scalars_set_in};
use crate::{Access, ArrayId, Combiner, Expr, Kernel, LocalId, Node, Place, Subscript, Type};
use std::collections::BTreeMap;

/// Conditions in so many others are followed for what they leave.
const MOST_CONDITIONS: usize = 4;

/// The kernel as it is followed.
pub(super) struct Flow<'f, 'k> {
    kernel: &'k Kernel,
    extent: &'f Extent,
    candidates: &'f mut Candidates<'k>,
    known: Known,
    /// What was known of the scalars that were set, oldest first.
    undo: Vec<(LocalId, Option<Span>)>,
    /// How many conditions around are followed for what they leave.
    conditions: usize,
    /// Whether calls that do much may run nothing of it.
    is_optional: bool,
    /// How many loops are around.
    loops: usize,
}

/// What a side of a condition leaves.
type Left = BTreeMap<LocalId, Option<Span>>;

impl<'f, 'k> Flow<'f, 'k> {
    pub(super) fn new(
        kernel: &'k Kernel,
        extent: &'f Extent,
        candidates: &'f mut Candidates<'k>,
    ) -> Self {
        Self {
            kernel,
            extent,
            candidates,
            known: Known::default(),
            undo: Vec::new(),
            conditions: 0,
            is_optional: false,
            loops: 0,
        }
    }

    /// Looks at all candidates.
    pub(super) fn follow(mut self) {
        self.nodes(&self.kernel.body);
        if let Some(result) = &self.kernel.result {
            for_each_load(result, &mut |it| self.look_at(it));
        }
    }

    fn block(&mut self, nodes: &'k [Node]) {
        self.nodes(nodes);
        for node in nodes {
            if let Node::Declare { local, .. } = node {
                self.put(*local, None);
            }
        }
    }

    fn nodes(&mut self, nodes: &'k [Node]) {
        for node in nodes {
            match node {
                Node::ScfIf { .. } | Node::AffineIf { .. } => self.choice(node, nodes),
                Node::AffineFor(_) | Node::Forall(_) | Node::ScfFor(_) | Node::ScfWhile { .. } => {
                    self.turns(node);
                }
                _ => self.statement(node),
            }
        }
    }

    fn statement(&mut self, node: &'k Node) {
        self.look_into(node);
        match node {
            Node::Declare { local, value }
            | Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } => self.set(*local, value),
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => self.update(places, combiner, values),
            _ => {}
        }
    }

    /// A turn begins with what the one before has left, and nobody knows which is the last.
    fn turns(&mut self, node: &'k Node) {
        let set = scalars_set_in(std::slice::from_ref(node));
        set.iter().for_each(|it| self.put(*it, None));
        if self.conditions > 0 {
            return;
        }
        if let Some(around) = Loop::of(node) {
            self.enter(around);
        }
        self.look_into(node);
        self.loops += 1;
        node.blocks().for_each(|it| self.block(it));
        self.loops -= 1;
        set.iter().for_each(|it| self.put(*it, None));
    }

    /// Finds what the iterator of a loop lies between.
    fn enter(&mut self, around: Loop<'k>) {
        let numbers = Numbers::new(self.kernel, self.extent, &self.known);
        let mut span = Type::I64.integer_range().map(Span::of).unwrap_or_default();
        match around {
            Loop::Affine(it) => {
                for lower in &it.lower.0 {
                    span = span.and(numbers.affine(lower).and_more());
                }
                for upper in &it.upper.0 {
                    span = span.and(numbers.affine(upper).offset(-1).and_less());
                }
            }
            Loop::Forall(it) => {
                span = span.and(Span::of((0, 0)).and_more());
                span = span.and(numbers.affine(&it.count).offset(-1).and_less());
            }
            Loop::Scf(_) => {}
        }
        let span = numbers.narrowed(span);
        self.known.iters.insert(around.iter(), span);
    }

    /// The condition `node`, which is one of `nodes`.
    fn choice(&mut self, node: &'k Node, nodes: &'k [Node]) {
        let condition = match node {
            Node::ScfIf { condition, .. } => Some(condition),
            _ => None,
        };
        if self.conditions == 0 {
            self.look_into(node);
            let around = self.is_optional;
            self.is_optional |= self.may_be_left_out(node, nodes);
            let sets = node.blocks().fold(false, |sets, block| {
                let before = self.undo.len();
                self.block(block);
                self.undo_since(before) || sets
            });
            self.is_optional = around;
            if !sets {
                return;
            }
        }
        if self.conditions == MOST_CONDITIONS {
            let set = scalars_set_in(std::slice::from_ref(node));
            return set.into_iter().for_each(|it| self.put(it, None));
        }
        self.conditions += 1;
        let sides = node.blocks().zip([true, false]);
        let left: Vec<_> = sides
            .map(|(block, holds)| self.left_by(condition.map(|it| (it, holds)), block))
            .collect();
        self.conditions -= 1;
        self.join(&left);
    }

    /// Whether sizes tell whether it runs, and other loops run without it.
    fn may_be_left_out(&self, node: &Node, nodes: &[Node]) -> bool {
        let is_known = match node {
            Node::ScfIf { condition, .. } => is_over_parameters(condition),
            Node::AffineIf { conditions, .. } => conditions
                .iter()
                .all(|it| it.left.is_over_parameters() && it.right.is_over_parameters()),
            _ => false,
        };
        let has_others = || {
            let mut beside = nodes.iter().filter(|it| !std::ptr::eq(*it, node));
            beside.any(Node::holds_loops) || node.blocks().all(|it| has_loops(it))
        };
        is_known && (self.loops > 0 || has_others())
    }

    /// What one side leaves, and what its condition says of scalars that it does not set.
    fn left_by(&mut self, condition: Option<(&'k Expr, bool)>, nodes: &'k [Node]) -> Left {
        let before = self.undo.len();
        if let Some(condition) = condition {
            let numbers = Numbers::new(self.kernel, self.extent, &self.known);
            for (local, span) in numbers.scalars_where(condition) {
                if self.is_wanted(local) {
                    self.put(local, Some(span));
                }
            }
        }
        self.block(nodes);
        let changed = self.undo[before..].iter();
        let left = changed.map(|(it, _)| (*it, self.known.locals.get(it).copied()));
        let left = left.collect();
        self.undo_since(before);
        left
    }

    fn join(&mut self, left: &[Left]) {
        let changed: Vec<_> = left.iter().flat_map(|it| it.keys().copied()).collect();
        for local in changed {
            let own = self.known.locals.get(&local).copied();
            let sides = left.iter().map(|it| it.get(&local).copied().unwrap_or(own));
            let joined = sides.reduce(|one, other| Some(one?.or(other?)));
            self.put(local, joined.flatten());
        }
    }

    fn set(&mut self, local: LocalId, value: &Expr) {
        if self.is_wanted(local) {
            let span = Numbers::new(self.kernel, self.extent, &self.known).span(value);
            self.put(local, Some(span));
        }
    }

    fn is_wanted(&self, local: LocalId) -> bool {
        self.candidates.wanted.contains(&local) && self.kernel.locals[local].ty.is_integer()
    }

    /// `places` are combined with `values`; what becomes of several at once is not looked at.
    fn update(&mut self, places: &[Place], combiner: &Combiner, values: &[Expr]) {
        if let ([Place::Local(local)], [value]) = (places, values)
            && self.is_wanted(*local)
            && let ty = self.kernel.locals[*local].ty
            && let Some(combined) = combiner.combination(ty, &Expr::Local(*local), value)
        {
            return self.set(*local, &combined);
        }
        for local in places.iter().filter_map(Place::local) {
            self.put(local, None);
        }
    }

    fn put(&mut self, local: LocalId, span: Option<Span>) {
        let before = match span {
            Some(span) => self.known.locals.insert(local, span),
            None => self.known.locals.remove(&local),
        };
        if before != span {
            self.undo.push((local, before));
        }
    }

    /// Makes it what it was `before`, and tells whether scalars of that time were set.
    fn undo_since(&mut self, before: usize) -> bool {
        let newest_first = self.undo.split_off(before).into_iter().rev();
        let oldest: BTreeMap<_, _> = newest_first.collect();
        let mut sets = false;
        for (local, span) in oldest {
            let left = match span {
                Some(span) => self.known.locals.insert(local, span),
                None => self.known.locals.remove(&local),
            };
            // What is unknown before and behind was declared there.
            sets |= span.is_some() || left.is_some();
        }
        sets
    }

    /// Looks at every access that the node itself makes.
    fn look_into(&mut self, node: &'k Node) {
        if self.conditions > 0 {
            return;
        }
        for_each_load_of(node, &mut |it| self.look_at(it));
        node.written_elements().for_each(|it| self.look_at(it));
    }

    fn look_at(&mut self, access: &'k Access) {
        for (dimension, subscript) in access.subscripts.iter().enumerate() {
            if let Subscript::Computed(expr) = subscript {
                self.look_at_subscript((access.array, dimension), expr);
            }
        }
    }

    fn look_at_subscript(&mut self, place: (ArrayId, usize), expr: &'k Expr) {
        let mut candidates = self.candidates.of.get_mut(&place).into_iter().flatten();
        let Some(candidate) = candidates.find(|it| it.expr.is_same(expr)) else {
            return;
        };
        if candidate.verdict != Verdict::Astray {
            let span = Numbers::new(self.kernel, self.extent, &self.known).span(expr);
            candidate.verdict = match (span.is_in_dimension(), self.is_optional) {
                (false, _) => Verdict::Astray,
                (true, true) if candidate.verdict == Verdict::Unseen => Verdict::Optional,
                (true, true) => candidate.verdict,
                (true, false) => Verdict::Kept,
            };
        }
    }
}

fn is_over_parameters(expr: &Expr) -> bool {
    match expr {
        Expr::Load(_) | Expr::Local(_) | Expr::Iter(_) | Expr::Threads => false,
        _ => expr.operands().into_iter().all(is_over_parameters),
    }
}
