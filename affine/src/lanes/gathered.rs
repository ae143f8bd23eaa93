//! What each lane updates in one of its own, so that no update waits for that of another lane.

use super::{Lanes, Obstacle, combines_lanes};
use crate::visit::{for_each_load_of, walk};
use crate::{ArrayId, Combiner, Expr, Node, Order, Place, Type};
use std::collections::BTreeSet;

/// How lanes gather updates of a scalar, or of an element that is the same in all of them, or of
/// several of these together.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathering {
    /// What is gathered: of several, the first one.
    pub ty: Type,
    /// What combines it, first in each lane and then all lanes. It has an identity.
    pub by: Combiner,
    /// Which orders of the updates have the same bits, if rounding is left aside.
    pub order: Order,
}

impl Gathering {
    /// Whether somebody has to look, when all is gathered, for what shows the order.
    pub fn is_in_doubt(&self) -> bool {
        matches!(
            self.order,
            Order::AnyButOfZeros | Order::AnyButOfZerosAndNan(_)
        )
    }

    /// Whether lanes keep the number of a turn.
    pub fn elects(&self) -> bool {
        matches!(self.order, Order::AnyOfTurns(_))
    }
}

/// Whether updates of places of these types by `combiner` are each that of one turn, of which lanes
/// can keep the number: it has as many bits as what tells which one it is.
pub fn elects(combiner: &Combiner, types: &[Type]) -> bool {
    let has_room = types.first().is_some_and(|it| it.bytes() >= 4);
    has_room && matches!(combiner.order(types), Order::AnyOfTurns(_))
}

impl Lanes<'_> {
    /// How lanes gather updates of `places` by `combiner`: these are the same in all lanes, and
    /// what combines lanes has a vector form. It may round. `None` if they do not.
    pub fn gathering(&self, places: &[Place], combiner: &Combiner) -> Option<Gathering> {
        let types: Option<Vec<_>> = places.iter().map(|it| self.same_in_all(it)).collect();
        let types = types?;
        let order = combiner.order(&types);
        let by = match &order {
            Order::Any | Order::AnyButOfZeros => combiner.clone(),
            Order::AnyButOfZerosAndNan(by) => by.clone(),
            Order::AnyOfTurns(by) => Combiner::new(*by),
            Order::OfLoop => return None,
        };
        let ty = types.first().copied().filter(|ty| *ty != Type::Bool)?;
        let bodies = by.bodies(&[ty]).filter(|_| by.identity(&[ty]).is_some())?;
        let is_one = types.len() == 1 || elects(combiner, &types);
        let combines = is_one && bodies.iter().all(|it| combines_lanes(it, ty));
        combines.then_some(Gathering { ty, by, order })
    }

    /// The type of `place`, if it is the same in all lanes.
    fn same_in_all(&self, place: &Place) -> Option<Type> {
        let differs = match place {
            Place::Local(local) => self.is_own(*local),
            Place::Element(access) => self.is_varying(access),
        };
        (!differs).then(|| place.ty(self.kernel))
    }

    /// The expressions of `node` that lanes compute: of an update that is that of one turn, what
    /// tells which one it is, unless the rest is narrower.
    pub(super) fn made_in_lanes<'n>(&self, node: &'n Node) -> Vec<&'n Expr> {
        let mut made = node.expressions();
        if let Node::Reduce {
            places,
            combiner,
            values,
            ..
        } = node
            && let Some(it) = self.gathering(places, combiner)
            && it.elects()
        {
            let is_as_wide = |value: &Expr| value.ty(self.kernel).bytes() >= it.ty.bytes();
            made.retain(|expr| {
                !values
                    .iter()
                    .skip(1)
                    .any(|it| std::ptr::eq(it, *expr) && is_as_wide(it))
            });
        }
        made
    }

    /// Whether a turn of `body` may be made for one of its updates alone: `let`s are all that is
    /// needed for that.
    pub fn may_pick_turns(&self, body: &[Node]) -> bool {
        body.iter().all(|node| match node {
            Node::Declare { local, .. } => !self.kernel.locals[*local].mutable,
            _ => true,
        })
    }

    /// Whether all turns of `body` may be made again from the first one on, if nobody has used yet
    /// what lanes have gathered.
    pub fn may_begin_again(&self, body: &[Node]) -> bool {
        let mut loaded = BTreeSet::<ArrayId>::new();
        walk(body, &mut |node, _| {
            for_each_load_of(node, &mut |access| loaded.extend([access.array]));
        });
        let mut may = self.split(body).1.is_empty();
        walk(body, &mut |node, _| {
            may &= match node {
                Node::Reduce {
                    places, combiner, ..
                } => self.gathering(places, combiner).is_some(),
                Node::Assign { place, .. } => match place {
                    Place::Local(local) => self.is_own(*local),
                    Place::Element(access) => !loaded.contains(&access.array),
                },
                Node::Declare { .. } | Node::ScfIf { .. } => true,
                _ => false,
            };
        });
        may
    }

    /// What keeps the updates under conditions in `body` from being gathered: a turn may have to be
    /// made again, and cannot be.
    pub(super) fn check_conditions(&self, body: &[Node]) -> Result<(), Obstacle> {
        for inside in body.iter().flat_map(Node::blocks).flatten() {
            let Node::Reduce {
                places, combiner, ..
            } = inside
            else {
                continue;
            };
            let may = match self.gathering(places, combiner) {
                Some(it) if it.is_in_doubt() => self.may_begin_again(body),
                Some(it) if it.elects() => self.may_pick_turns(body),
                _ => true,
            };
            if !may {
                return Err(Obstacle::Again(combiner.to_string()));
            }
        }
        Ok(())
    }
}
