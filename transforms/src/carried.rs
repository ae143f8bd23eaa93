//! Whether two iterations of a loop meet in an element, one of them writing.

use crate::LoopPath;
use crate::reason::Reason;
use crate::witness::{self, Ends};
use strew_affine::dependence::{Analyzed, DependenceKind, Site, Target, Witness};
use strew_affine::visit::AccessKind;
use strew_affine::{ArrayId, IterId, Kernel};

/// The iterations of a loop, and what they touch.
pub(crate) struct Iterations<'k> {
    analyzed: Analyzed<'k>,
    /// The loop, as the request names it.
    path: &'k LoopPath,
    target: IterId,
}

/// Two accesses that meet, or may, and where, if that is known.
struct Meeting<'m, 'k> {
    array: ArrayId,
    source: &'m Site<'k>,
    sink: &'m Site<'k>,
    witness: Option<Witness>,
}

impl<'k> Iterations<'k> {
    pub(crate) fn of(kernel: &'k Kernel, path: &'k LoopPath, target: IterId) -> Self {
        Self {
            analyzed: Analyzed::around(kernel, &[target]),
            path,
            target,
        }
    }

    /// That no two iterations meet in an element of an array that is `asked` for.
    pub(crate) fn check_kept_apart(&self, asked: impl Fn(ArrayId) -> bool) -> Result<(), Reason> {
        match self.meeting(asked) {
            Some(meeting) => Err(self.carried(meeting)),
            None => Ok(()),
        }
    }

    /// Whether no two iterations meet in an element of `array`.
    pub(crate) fn are_apart_in(&self, array: ArrayId) -> bool {
        let is_asked = |site: &Site<'k>, _: &Site<'k>| site.target == Target::Array(array);
        self.analyzed.are_apart(self.target, is_asked)
    }

    fn meeting(&self, asked: impl Fn(ArrayId) -> bool) -> Option<Meeting<'_, 'k>> {
        let found = self.analyzed.at_once(
            self.target,
            |site, _| matches!(site.target, Target::Array(array) if asked(array)),
        )?;
        let sites = self.analyzed.sites();
        let (source, sink) = (sites.get(found.source)?, sites.get(found.sink)?);
        let Target::Array(array) = source.target else {
            return None;
        };
        let kernel = self.analyzed.kernel();
        Some(Meeting {
            array,
            source,
            sink,
            witness: found.witness.and_then(|it| witness::confirmed(kernel, &it)),
        })
    }

    /// The reason to decline, with two iterations that meet if some are found; else it tells of the two that may.
    fn carried(&self, meeting: Meeting<'_, 'k>) -> Reason {
        let kernel = self.analyzed.kernel();
        let carries = |ends: Ends<'_>| {
            ends.are_in_different_iterations() && ends.either(|end| end.kind != AccessKind::Read)
        };
        let end = |site: &Site<'_>| (site.kind, site.span);
        let analyzed = (end(meeting.source), end(meeting.sink));
        let (source, sink, witness) = match meeting.witness {
            Some(witness) => (analyzed.0, analyzed.1, Some(witness)),
            None => match witness::find_ends(kernel, self.target, meeting.array, carries) {
                Some((source, sink, witness)) => (source, sink, Some(witness)),
                None => (analyzed.0, analyzed.1, None),
            },
        };
        Reason::Carried {
            path: self.path.clone(),
            array: kernel.arrays[meeting.array].name.clone(),
            kind: DependenceKind::of(source.0, sink.0),
            earlier: source.1,
            later: sink.1,
            combiner: None,
            witness: witness.map(Box::new),
        }
    }
}
