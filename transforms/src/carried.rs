//! Whether two iterations of a loop meet in an element, one of them writing.

use crate::LoopPath;
use crate::reason::Reason;
use crate::witness::{self, End, Ends};
use strew_affine::dependence::{Analyzed, DependenceKind, Site, Target, Witness};
use strew_affine::visit::AccessKind;
use strew_affine::{Access, ArrayId, IterId, Kernel};

/// The iterations of a loop, and what they touch.
pub(crate) struct Iterations<'k> {
    analyzed: Analyzed<'k>,
    /// The loop, as the request names it.
    path: &'k LoopPath,
    target: IterId,
}

/// Two accesses that meet, or may, and where, if that is known.
struct Meeting {
    array: ArrayId,
    source: End,
    sink: End,
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
        match self.meeting(asked, |_, _| false) {
            Some(meeting) => Err(self.carried(self.with_witness(meeting))),
            None => Ok(()),
        }
    }

    /// That iterations which meet in an element of an array that is `asked` for keep their order
    /// where each statement is made for several of them before the next one is: the access that
    /// comes first in time is that which comes first in the text, and both move with the loop.
    pub(crate) fn check_in_lanes(
        &self,
        asked: impl Fn(ArrayId) -> bool,
        moves: impl Fn(&Access) -> bool,
    ) -> Result<(), Reason> {
        let is_moving = |site: &Site<'k>| site.access.is_some_and(&moves);
        let kept = |source: &Site<'k>, sink: &Site<'k>| {
            source.order < sink.order && is_moving(source) && is_moving(sink)
        };
        match self.meeting(asked, kept) {
            Some(meeting) => Err(self.carried(meeting)),
            None => Ok(()),
        }
    }

    /// Whether no two iterations meet in an element of `array`.
    pub(crate) fn are_apart_in(&self, array: ArrayId) -> bool {
        let is_asked = |site: &Site<'k>, _: &Site<'k>| site.target == Target::Array(array);
        self.analyzed.are_apart(self.target, is_asked)
    }

    fn meeting(
        &self,
        asked: impl Fn(ArrayId) -> bool,
        kept: impl Fn(&Site<'k>, &Site<'k>) -> bool,
    ) -> Option<Meeting> {
        let is_asked = |site: &Site<'k>, _: &Site<'k>| matches!(site.target, Target::Array(array) if asked(array));
        let found = self.analyzed.at_once_but(self.target, is_asked, kept)?;
        let sites = self.analyzed.sites();
        let (source, sink) = (sites.get(found.source)?, sites.get(found.sink)?);
        let Target::Array(array) = source.target else {
            return None;
        };
        let kernel = self.analyzed.kernel();
        let end = |site: &Site<'_>| (site.kind, site.span);
        Some(Meeting {
            array,
            source: end(source),
            sink: end(sink),
            witness: found.witness.and_then(|it| witness::confirmed(kernel, &it)),
        })
    }

    /// With two iterations that meet in that array, if some are found.
    fn with_witness(&self, meeting: Meeting) -> Meeting {
        if meeting.witness.is_some() {
            return meeting;
        }
        let carries = |ends: Ends<'_>| {
            ends.are_in_different_iterations() && ends.either(|end| end.kind != AccessKind::Read)
        };
        let kernel = self.analyzed.kernel();
        match witness::find_ends(kernel, self.target, meeting.array, carries) {
            Some((source, sink, witness)) => Meeting {
                source,
                sink,
                witness: Some(witness),
                ..meeting
            },
            None => meeting,
        }
    }

    /// The reason to decline.
    fn carried(&self, meeting: Meeting) -> Reason {
        let (source, sink) = (meeting.source, meeting.sink);
        Reason::Carried {
            path: self.path.clone(),
            array: self.analyzed.kernel().arrays[meeting.array].name.clone(),
            kind: DependenceKind::of(source.0, sink.0),
            earlier: source.1,
            later: sink.1,
            combiner: None,
            witness: meeting.witness.map(Box::new),
        }
    }
}
