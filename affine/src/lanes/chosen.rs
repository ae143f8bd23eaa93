//! Conditions that only decide what scalars and elements become: lanes compute both sides, and each
//! picks one.

use super::{Lanes, NOT_ALWAYS, Obstacle};
use crate::{Access, Node, Place};

impl Lanes<'_> {
    /// The statements on one side of a condition.
    pub(super) fn side(&mut self, nodes: &[Node]) -> Result<(), Obstacle> {
        let declares = nodes.iter().any(|it| matches!(it, Node::Declare { .. }));
        // The turn that it picks is made again by itself, without what its side declares.
        let picks = |node: &Node| match node {
            Node::Reduce {
                places, combiner, ..
            } => self
                .gathering(places, combiner)
                .is_some_and(|it| it.elects()),
            _ => false,
        };
        if declares && nodes.iter().any(picks) {
            return Err(Obstacle::Nested);
        }
        nodes.iter().try_for_each(|it| self.chosen(it))
    }

    /// A statement on one side of a condition: both sides are computed, so it can only set what
    /// each lane has, which stays what it is where the lane is not meant, gather nothing there, or
    /// declare what its side alone reads, if each lane has that: what is the same in all of them is
    /// computed once, before the condition.
    fn chosen(&mut self, node: &Node) -> Result<(), Obstacle> {
        match node {
            Node::Declare { local, value }
                if !self.kernel.locals[*local].mutable && self.varies(value) =>
            {
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

/// Whether `place` is there wherever it is computed: where no lane meant it, what they gathered is
/// combined into it all the same.
fn is_there(place: &Place) -> bool {
    place.element().is_none_or(Access::is_affine)
}

#[cfg(test)]
mod tests {
    use super::super::{Lanes, Obstacle};
    use crate::text;
    use crate::visit::Loop;

    fn obstacle(side: &str) -> Option<Obstacle> {
        let source = format!(
            "kernel @k(n: i64, s: f32, k: i32[n], a: f32[n], b: f32[n], best: f32[1], at: i32[1]) {{
               affine.for i in 0..n {{ scf.if a[i] > 0.0 {{ {side} }} }}
             }}"
        );
        let kernel = text::parse(&source).expect("a kernel").remove(0);
        let target = kernel.body.first().and_then(Loop::of).expect("a loop");
        let found = Lanes::of(&kernel, target, 16);
        found.err().map(|(obstacle, _)| obstacle)
    }

    #[test]
    fn sides_declare_what_each_lane_has() {
        assert_eq!(obstacle("let t: f32 = a[i] b[i] = t * t"), None);
        assert_eq!(obstacle("let t: bool = a[i] > s b[i] = t ? a[i] : s"), None);
        assert_eq!(obstacle("let t: f32 = a[i] best[0] reduce(max) t"), None);
    }

    #[test]
    fn sides_declare_nothing_else() {
        for side in [
            // What is the same in all lanes.
            "let p: bool = s > 1.0 let q: bool = s > 2.0 b[i] = p && q ? a[i] : s",
            "let p: bool = s > 1.0 b[i] = !p ? a[i] : s",
            "var t: f32 = a[i] t = t * t b[i] = t",
            // What the turn that is picked would be without.
            "let t: i32 = k[i] + 1 (best[0], at[0]) reduce(argmin) (a[i], t)",
        ] {
            assert_eq!(obstacle(side), Some(Obstacle::Nested), "{side}");
        }
        let fails = |side: &str| matches!(obstacle(side), Some(Obstacle::Operation(_)));
        assert!(fails("let t: f32 = a[k[i]] b[i] = t"));
        assert!(fails("let t: i32 = k[i] / k[0] b[i] = f32(t)"));
    }
}
