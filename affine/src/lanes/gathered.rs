//! What each lane updates in one of its own, so that no update waits for that of another lane.

use super::{Lanes, combines_lanes};
use crate::visit::{for_each_load_of, walk};
use crate::{ArrayId, Combiner, Node, Order, Place, Type};
use std::collections::BTreeSet;

/// How lanes gather updates of a scalar, or of an element that is the same in all of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Gathering {
    /// What is gathered.
    pub ty: Type,
    /// What combines it, first in each lane and then all lanes. It has an identity.
    pub by: Combiner,
    /// Which orders of the updates have the same bits, if rounding is left aside.
    pub order: Order,
}

impl Gathering {
    /// Whether somebody has to look, when all is gathered, for what shows the order.
    pub fn is_in_doubt(&self) -> bool {
        self.order != Order::Any
    }
}

impl Lanes<'_> {
    /// How lanes gather updates of `places` by `combiner`: there is one place, the same in all lanes, and what combines lanes has a
    /// vector form. It may round. `None` if they do not.
    pub fn gathering(&self, places: &[Place], combiner: &Combiner) -> Option<Gathering> {
        let ty = match places {
            [Place::Local(local)] if !self.is_own(*local) => self.kernel.locals[*local].ty,
            [Place::Element(access)] if !self.is_varying(access) => {
                self.kernel.arrays[access.array].element
            }
            _ => return None,
        };
        let order = combiner.order(&[ty]);
        let by = match &order {
            Order::Any | Order::AnyButOfZeros => combiner.clone(),
            Order::AnyButOfZerosAndNan(by) => by.clone(),
            Order::OfLoop => return None,
        };
        let bodies = by.bodies(&[ty])?;
        let combines = ty != Type::Bool && bodies.iter().all(|it| combines_lanes(it, ty));
        combines.then_some(Gathering { ty, by, order })
    }

    /// Whether all turns of `body` may be made again from the first one on, if nobody has used yet what lanes have gathered.
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

    /// Whether `body` has a condition on an update that lanes gather in an order that may show, where no turn can be made again.
    pub(super) fn is_condition_in_doubt(&self, body: &[Node]) -> bool {
        let mut is_chosen = false;
        for inside in body.iter().flat_map(Node::blocks).flatten() {
            if let Node::Reduce {
                places, combiner, ..
            } = inside
            {
                let gathering = self.gathering(places, combiner);
                is_chosen |= gathering.is_some_and(|it| it.is_in_doubt());
            }
        }
        is_chosen && !self.may_begin_again(body)
    }
}
