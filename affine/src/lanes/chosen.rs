//! Conditions that only decide what scalars and elements become: lanes compute both sides, and each picks one.

use super::{Lanes, NOT_ALWAYS, Obstacle};
use crate::{Access, Node, Place};

impl Lanes<'_> {
    /// A statement on one side of a condition: both sides are computed, so it can only set what each lane has, which stays what it is where the
    /// lane is not meant, gather nothing there, or declare what its side alone reads. That each lane has, too: what is the same in all of them is
    /// computed before the condition, and this is not.
    pub(super) fn chosen(&mut self, node: &Node) -> Result<(), Obstacle> {
        match node {
            Node::Declare { local, value } if !self.kernel.locals[*local].mutable => {
                if self.may_fail(value) {
                    return Err(Obstacle::Operation(NOT_ALWAYS.to_owned()));
                }
                self.expr(value)?;
                self.varying.insert(*local);
                Ok(())
            }
            Node::Assign {
                place: Place::Local(local),
                value,
                ..
            } if self.is_own(*local) && !self.may_fail(value) => self.expr(value),
            Node::Assign {
                place: Place::Element(access),
                value,
                ..
            } if access.is_affine() && !self.may_fail(value) => {
                self.expr(value)?;
                self.written(access)
            }
            Node::Reduce {
                places,
                combiner,
                values,
                ..
            } if (self.gathering(places, combiner).is_some()
                || self.is_one_of_each(places)
                || self.are_own(places))
                && places.iter().all(is_there)
                && !values.iter().any(|it| self.may_fail(it)) =>
            {
                self.update(places, combiner, values)
            }
            _ => Err(Obstacle::Nested),
        }
    }

    /// Whether `places` are scalars that each lane has.
    fn are_own(&self, places: &[Place]) -> bool {
        let mut locals = places.iter().map(Place::local);
        locals.all(|it| it.is_some_and(|it| self.is_own(it)))
    }

    /// Whether `places` are one element, another one in each lane.
    fn is_one_of_each(&self, places: &[Place]) -> bool {
        matches!(places, [Place::Element(access)] if self.is_varying(access))
    }
}

/// Whether `place` is there wherever it is computed: where no lane meant it, what they gathered is combined into it all the same.
fn is_there(place: &Place) -> bool {
    place.element().is_none_or(Access::is_affine)
}
