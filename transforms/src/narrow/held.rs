//! Between which numbers the scalars of a loop lie, whatever they hold at the time.

use std::collections::BTreeMap;
use strew_affine::value_range::{Range, ValueRanges, hull};
use strew_affine::visit::scalars_set_in;
use strew_affine::{Expr, Kernel, LocalId, Node, Place};

/// The integers that are declared in the body of a loop, each with the least and the greatest
/// number that it ever is.
pub(super) fn ranges(
    kernel: &Kernel,
    around: &ValueRanges,
    body: &[Node],
) -> BTreeMap<LocalId, Range> {
    let mut following = Following {
        kernel,
        now: around.clone(),
        ever: BTreeMap::new(),
    };
    following.nodes(body);
    following.ever
}

/// One turn of the loop, statement by statement.
struct Following<'k> {
    kernel: &'k Kernel,
    /// What scalars lie between at the statement.
    now: ValueRanges,
    ever: BTreeMap<LocalId, Range>,
}

impl Following<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        nodes.iter().for_each(|it| self.node(it));
    }

    fn node(&mut self, node: &Node) {
        match node {
            Node::Declare { local, value } => {
                if let Some(range) = self.now.of_expr(self.kernel, value) {
                    self.ever.insert(*local, range);
                }
                self.set(*local, value);
            }
            Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } => self.set(*local, value),
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } => {
                let combined = match (places.as_slice(), values.as_slice()) {
                    ([Place::Local(local)], [value]) => {
                        let ty = self.kernel.locals[*local].ty;
                        combiner.combination(ty, &Expr::Local(*local), value)
                    }
                    _ => None,
                };
                for local in places.iter().filter_map(Place::local) {
                    match &combined {
                        Some(value) => self.set(local, value),
                        None => self.forget(local),
                    }
                }
            }
            Node::ScfIf { .. } | Node::AffineIf { .. } => self.sides(node),
            // A loop, whose turns find what those before left.
            _ => {
                let set = scalars_set_in(std::slice::from_ref(node));
                set.iter().for_each(|it| self.forget(*it));
                node.blocks().for_each(|it| self.nodes(it));
                set.iter().for_each(|it| self.forget(*it));
            }
        }
    }

    /// What holds after one or the other side of a condition.
    fn sides(&mut self, node: &Node) {
        let before = self.now.clone();
        let mut after: Vec<ValueRanges> = Vec::new();
        for side in node.blocks() {
            self.now = before.clone();
            self.nodes(side);
            after.push(std::mem::take(&mut self.now));
        }
        self.now = before;
        for local in scalars_set_in(std::slice::from_ref(node)) {
            let value = Expr::Local(local);
            let sides = after.iter().map(|it| it.of_expr(self.kernel, &value));
            if let Some(Some(both)) = sides.reduce(|one, other| Some(hull(one?, other?))) {
                self.now.assume(local, both);
            }
        }
    }

    fn set(&mut self, local: LocalId, value: &Expr) {
        match self.now.of_expr(self.kernel, value) {
            Some(range) => self.note(local, range),
            None => self.forget(local),
        }
    }

    /// Lets the scalar be anything.
    fn forget(&mut self, local: LocalId) {
        if let Some(whole) = self.kernel.locals[local].ty.integer_range() {
            self.note(local, whole);
        }
    }

    fn note(&mut self, local: LocalId, range: Range) {
        if let Some(ever) = self.ever.get_mut(&local) {
            *ever = hull(*ever, range);
        }
        self.now.assume(local, range);
    }
}
