//! Loops inside of a loop in lanes, of which all lanes make each turn together.
//!
//! That is the order of the loop in lanes moved inside of the others, so no two of its turns may
//! meet in an element: whoever asks for lanes shows that.

use super::{Lanes, Obstacle};
use crate::visit::Loop;
use crate::{Access, Condition, Node, Subscript, Variable};

impl Lanes<'_> {
    /// `node` is a loop that has the same turns in all lanes, or a branch that all of them take
    /// around others.
    pub(super) fn inside(&mut self, node: &Node) -> Result<(), Obstacle> {
        match (node, Loop::of(node)) {
            (_, Some(inner @ (Loop::Affine(_) | Loop::Scf(_)))) => self.inner_loop(inner),
            (
                Node::AffineIf {
                    conditions,
                    then,
                    otherwise,
                },
                _,
            ) if self.has_loops && !conditions.iter().any(|it| self.decides(it)) => {
                let mut statements = then.iter().chain(otherwise);
                statements.try_for_each(|it| self.statement(it))
            }
            _ => Err(Obstacle::Nested),
        }
    }

    /// Whether `condition` may hold in one lane and not in another.
    fn decides(&self, condition: &Condition) -> bool {
        let iter = Variable::Iter(self.iter);
        condition.left.mentions(iter) || condition.right.mentions(iter)
    }

    fn inner_loop(&mut self, inner: Loop<'_>) -> Result<(), Obstacle> {
        if !self.has_the_same_turns(inner) {
            let name = self.kernel.iters[inner.iter()].name.clone();
            return Err(Obstacle::Inner(name));
        }
        let mut statements = inner.body().iter();
        statements.try_for_each(|it| self.statement(it))
    }

    fn has_the_same_turns(&self, inner: Loop<'_>) -> bool {
        match inner {
            Loop::Affine(it) => !it.moves_with(self.iter),
            Loop::Scf(it) => !self.varies(&it.lower) && !self.varies(&it.upper),
            Loop::Forall(_) => false,
        }
    }

    /// That `access` is where the turns of all loops say, lanes at a distance that is a number:
    /// there is no turn before all others in which one could look where elements are.
    pub(super) fn known_place(&self, access: &Access) -> Result<(), Obstacle> {
        let mut subscripts = access.subscripts.iter();
        let is_computed =
            |it: &Subscript| matches!(it, Subscript::Computed(expr) if self.varies(expr));
        if subscripts.any(is_computed) {
            return Err(Obstacle::Scattered(self.name(access.array)));
        }
        match self.is_strided(access) && self.distance(access).is_none() {
            true => Err(Obstacle::Strided(self.name(access.array))),
            false => Ok(()),
        }
    }
}
