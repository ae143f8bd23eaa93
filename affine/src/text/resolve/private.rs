//! What foralls make private, and what they update in its place.

use super::{Resolver, text_of};
use crate::Private;
use crate::text::error::ParseErrorKind;
use crate::text::tree::{Forall, MergeClause, Name, PrivateClause, SpeculativeClause};

impl<'a> Resolver<'a, '_> {
    pub(super) fn private(
        &mut self,
        clause: &PrivateClause<'a>,
        forall: &Forall<'a>,
    ) -> Option<Private> {
        let names: Vec<_> = clause.buffers.iter().map(|it| it.name).collect();
        let types = clause.buffers.iter().map(|it| it.ty).collect();
        let combiner = self.combiner(clause.combiner, Some(types));
        let mut merges = forall
            .merges
            .iter()
            .filter(|it| shares_a_name(&it.buffers, &names));
        let targets = match (merges.next(), merges.next()) {
            (Some(merge), None) if is_merge_of(merge, clause, &names) => {
                let targets = merge.targets.iter().map(|it| self.target(*it));
                targets.collect::<Vec<_>>().into_iter().collect()
            }
            _ => {
                for name in names {
                    self.report(name.span, ParseErrorKind::Merge(name.text.to_owned()));
                }
                None
            }
        };
        let buffers = clause.buffers.iter().map(|it| self.array(it)).collect();
        Some(Private {
            buffers,
            targets: targets?,
            combiner: combiner?,
        })
    }

    pub(super) fn speculative(&mut self, clause: &SpeculativeClause<'a>) -> Option<Private> {
        let targets = clause.targets.iter().map(|it| self.target(*it));
        let targets: Vec<_> = targets.collect();
        let targets: Vec<_> = targets.into_iter().collect::<Option<_>>()?;
        let types = targets.iter().map(|it| self.kernel.arrays[*it].element);
        let types = types.collect();
        let combiner = self.combiner(clause.combiner, Some(types))?;
        Some(Private::speculative(targets, combiner))
    }

    pub(super) fn merged_buffers(&mut self, merge: &MergeClause<'a>, forall: &Forall<'a>) {
        for name in &merge.buffers {
            let mut private = forall.privates.iter().flat_map(|it| &it.buffers);
            if !private.any(|it| it.name.text == name.text) {
                self.report(name.span, ParseErrorKind::Merge(name.text.to_owned()));
            }
        }
    }
}

fn shares_a_name(left: &[Name<'_>], right: &[Name<'_>]) -> bool {
    left.iter()
        .any(|it| right.iter().any(|other| it.text == other.text))
}

/// Whether `merge` merges all that `clause` declares, in that order, by the combiner that fills it.
fn is_merge_of(merge: &MergeClause<'_>, clause: &PrivateClause<'_>, names: &[Name<'_>]) -> bool {
    let merged = merge.buffers.iter().map(|it| it.text);
    merged.eq(names.iter().map(|it| it.text))
        && text_of(merge.combiner) == text_of(clause.combiner)
        && merge.targets.len() == names.len()
}
