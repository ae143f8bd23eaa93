//! What a call tells that was stopped on its way.

use crate::call_error::CallError;
use crate::compiled::{Faults, Inner};
use crate::site::{Site, SiteKind};
use strew_affine::interpret::{Fault, FaultKind};
use strew_affine::{Counter, Panicked, Type};
use strew_runtime::abi::FaultRecord;
use strew_runtime::panics::Note;

impl Inner {
    /// A combiner that panicked while private buffers were merged did so in no iteration.
    pub(crate) fn panicked(
        &self,
        sites: &[Site],
        note: Note,
        at: Option<FaultRecord>,
    ) -> CallError {
        let kind = FaultKind::Combiner(Panicked {
            combiner: note.combiner,
            message: note.message,
        });
        match at.map(|record| self.stopped_at(sites, &record)) {
            Some(CallError::Fault(fault)) => CallError::Fault(Fault { kind, ..fault }),
            Some(other) => other,
            None => CallError::Fault(Fault {
                kind,
                span: self.forms.kernel.span,
                iteration: Vec::new(),
            }),
        }
    }

    pub(crate) fn stopped_at(&self, sites: &[Site], record: &FaultRecord) -> CallError {
        if self.forms.options.faults == Faults::Bare {
            return CallError::BareFault;
        }
        let site = sites.get(record.site as usize);
        let kind = match site.map(|site| site.kind) {
            Some(SiteKind::Overflow { array }) => {
                return CallError::Size {
                    what: match array {
                        Some(array) => {
                            format!("a subscript of `{}`", self.forms.kernel.arrays[array].name)
                        }
                        None => "a loop bound or a condition".to_owned(),
                    },
                };
            }
            Some(SiteKind::OutOfRange { array, index }) => FaultKind::OutOfRange {
                array: self.forms.kernel.arrays[array].name.clone(),
                index: match index {
                    Type::U64 => i128::from(record.index as u64),
                    _ => i128::from(record.index),
                },
                extent: record.extent,
            },
            Some(SiteKind::Met { array }) => FaultKind::Met {
                array: self.forms.kernel.arrays[array].name.clone(),
                element: record.index,
            },
            Some(SiteKind::DivisionByZero | SiteKind::Combiner) | None => FaultKind::DivisionByZero,
        };
        let counters = site.map_or(&[][..], |site| &site.counters);
        let named = |(counter, value): (&Counter, &i64)| {
            (counter.name(&self.forms.kernel).to_owned(), *value)
        };
        CallError::Fault(Fault {
            kind,
            span: site.map_or(self.forms.kernel.span, |site| site.span),
            iteration: counters.iter().zip(&record.iteration).map(named).collect(),
        })
    }
}
