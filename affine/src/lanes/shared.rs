//! What all lanes update, each turn behind the one before: a scalar of what is around the loop, or
//! an element that is the same in all of them.

use super::{Lanes, Obstacle};
use crate::visit::{for_each_load_of, for_each_local_read, walk};
use crate::{Access, Node, Place};
use std::collections::BTreeSet;

impl Lanes<'_> {
    /// An element that is the same in all lanes may be written when the groups are over, so nothing
    /// else in `body` may use its array.
    fn check_elements(&self, body: &[Node]) -> Result<(), Obstacle> {
        let mut same: Vec<&Access> = Vec::new();
        walk(body, &mut |node, _| {
            same.extend(node.written_elements().filter(|it| !self.is_varying(it)));
        });
        let mut met = None;
        let mut look = |access: &Access| {
            let mut others = same.iter().filter(|it| !std::ptr::eq(**it, access));
            if others.any(|it| it.array == access.array) {
                met = Some(access.array);
            }
        };
        walk(body, &mut |node, _| {
            for_each_load_of(node, &mut look);
            node.written_elements().for_each(&mut look);
        });
        met.map_or(Ok(()), |array| Err(Obstacle::Used(self.name(array))))
    }

    /// Scalars that are updated are that from lane to lane, by one statement for all lanes before
    /// the next statement, so nothing else in the loop may look at them meanwhile.
    pub(super) fn check_updated(&self, body: &[Node]) -> Result<(), Obstacle> {
        self.check_elements(body)?;
        let mut seen = BTreeSet::new();
        let mut updated = Vec::new();
        walk(body, &mut |node, _| {
            updated.extend(node.places().iter().filter_map(Place::local));
        });
        for local in updated {
            if self.is_own(local) {
                continue;
            }
            if !seen.insert(local) {
                return Err(Obstacle::Used(self.kernel.locals[local].name.clone()));
            }
            let mut is_read = false;
            for node in body {
                for_each_local_read(node, &mut |it| is_read |= it == local);
            }
            if is_read {
                return Err(Obstacle::Used(self.kernel.locals[local].name.clone()));
            }
        }
        Ok(())
    }
}
