//! Arrays of which the request says that no two iterations touch one element.

use super::plan::Body;
use super::{CHECKED, Reduction, TRUSTED};
use crate::address::find_array;
use crate::reason::Reason;
use strew_affine::ArrayId;
use strew_affine::visit::AccessKind;

/// An array of which no two iterations touch one element, as the request says.
pub(super) struct Disjoint {
    pub(super) array: ArrayId,
    pub(super) is_checked: bool,
}

pub(super) fn is_disjoint(clause: &Reduction) -> bool {
    matches!(clause.combiner.as_str(), CHECKED | TRUSTED)
}

impl Body<'_> {
    /// The arrays of which the request says that no two iterations touch one element.
    pub(super) fn disjoint(&self) -> Result<Vec<Disjoint>, Reason> {
        let clauses = self.request.reductions.iter().filter(|it| is_disjoint(it));
        let disjoint = clauses.map(|clause| {
            let array = find_array(self.kernel, &clause.array)?;
            let is_checked = clause.combiner == CHECKED;
            Ok(Disjoint { array, is_checked })
        });
        disjoint.collect()
    }

    /// What is checked is checked where it is written: nothing could be said of reads.
    pub(super) fn check_disjoint(&self, array: ArrayId, clause: &Reduction) -> Result<(), Reason> {
        if !self.written().contains(&array) {
            return Err(Reason::NotWritten {
                array: self.name(array),
                path: self.request.target.clone(),
            });
        }
        let sites = self.sites_of(array);
        let read = sites.iter().find(|it| it.kind == AccessKind::Read);
        match read.filter(|_| clause.combiner == CHECKED) {
            Some(read) => Err(self.reads_partial_sum(array, read)),
            None => Ok(()),
        }
    }
}
