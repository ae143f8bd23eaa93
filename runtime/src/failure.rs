use crate::abi::FaultRecord;
use crate::panics::Note;
use std::fmt;

/// Why a call did not run to its end. All outputs are then as they were before it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// The kernel met a fault: the first in the order of the iterations.
    Fault(FaultRecord),
    /// A combiner that is a function of the host panicked.
    Combiner {
        /// Which, and what it said.
        note: Box<Note>,
        /// Where, when it was the loop that called it: as for [`Fault`](Self::Fault).
        at: Option<FaultRecord>,
    },
    /// The call was asked to stop.
    Stopped,
    /// The call would hold more memory than it may.
    OverBudget {
        /// What the memory was asked for.
        held: Held,
        /// Bytes that the call would hold with it.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// The system gave no memory.
    OutOfMemory {
        /// Bytes asked for.
        bytes: u64,
    },
    /// A forall cannot be run as asked.
    Refused(Refusal),
    /// A loop that reads what it updates came to an element that is both. What runs foralls then
    /// runs it in order: no call ends so.
    Met,
    /// A defect of strew or of a combiner: the message of a panic.
    Panicked(String),
}

/// What a call holds memory for, besides its arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Held {
    /// What a strategy keeps updates in until they are merged: the strategy `serial` has none.
    Privates,
    /// Copies of outputs, which are put back when the call fails.
    Copies,
    /// Local arrays of the kernel.
    Locals,
}

/// Why a forall cannot be run as asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Exact mode asks for the bits of the serial loop, and the strategy regroups updates that
    /// round.
    Regroups {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy needs the updates apart from what they are combined into, and there is no body
    /// that makes them so: the loop does more with its outputs, has a parallel loop inside, or its
    /// outputs are fields of records or have 2³² elements or nearly so many.
    CannotEmit {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy divides the rows of outputs, and the loop does not update each by loops over
    /// its columns alone, or is not sure to have read which row that is before them.
    NoRows {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy divides the columns of outputs, and the loop does not update whole rows of them
    /// by loops over their columns.
    NoColumns {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy needs updates that go to the same elements whenever the loop runs, and
    /// something that changes while the kernel runs decides where these go.
    KeysChange {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy needs the loop in another form, and there is none: the loop does more with its
    /// outputs, or has a parallel loop inside.
    NoBodies {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy runs the loop for a look at its updates before it makes them, and the loop
    /// cannot be run twice: it does more with its outputs, writes other arrays, has a parallel loop
    /// inside, or needs memory for arrays of its own.
    LooksFirst {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy makes updates in an order that varies from run to run, and with these updates
    /// the mode does not allow that.
    AnyOrder {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy does not keep the order of the loop, and these updates have no other meaning
    /// than in that order.
    InOrder {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy updates one element in one step, and here several are updated together.
    Together {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The strategy does not look whether the elements that the loop reads of its outputs are
    /// others than those that it updates.
    Speculates {
        /// The name of the strategy.
        strategy: &'static str,
    },
    /// The forall names a strategy by a number that none has.
    UnknownStrategy {
        /// The number.
        number: u32,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fault(record) => write!(
                f,
                "fault at site {}: index {} of {}",
                record.site, record.index, record.extent
            ),
            Self::Combiner { note, .. } => write!(
                f,
                "the combiner `{}` panicked: {}; all outputs are as they were",
                note.combiner, note.message
            ),
            Self::Stopped => f.write_str("stopped as asked; all outputs are as they were"),
            Self::OverBudget {
                held,
                needed,
                budget,
            } => write!(
                f,
                "with {held} the call would hold {needed} bytes, and the memory budget is {budget} bytes; {}",
                held.remedy()
            ),
            Self::OutOfMemory { bytes } => {
                write!(f, "the system could not provide {bytes} bytes of memory")
            }
            Self::Refused(refusal) => refusal.fmt(f),
            Self::Met => f.write_str("a loop updates an element that it reads"),
            Self::Panicked(message) => write!(f, "defect in strew or in a combiner: {message}"),
        }
    }
}

impl std::error::Error for Failure {}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Regroups { strategy } => write!(
                f,
                "the strategy `{strategy}` regroups updates that round, so it cannot give the bits of the serial loop; \
                 choose the mode `stable` or the strategy `serial`"
            ),
            Self::CannotEmit { strategy } => write!(
                f,
                "the strategy `{strategy}` takes the updates of a loop apart from its outputs, which this loop does not allow: it \
                 holds a parallel loop, or its outputs are fields of records or have 2^32 elements or nearly so many; \
                 choose the strategy `dense` or `serial`"
            ),
            Self::NoColumns { strategy } => write!(
                f,
                "the strategy `{strategy}` gives each thread some columns of the outputs, and this loop does not update rows by loops \
                 over their columns alone; choose the strategy `binned`, `dense` or `serial`"
            ),
            Self::NoRows { strategy } => write!(
                f,
                "the strategy `{strategy}` gives each thread some rows of the outputs, and this loop does not update them one by one, each by \
                 loops over its columns alone; choose the strategy `binned`, `dense` or `serial`"
            ),
            Self::KeysChange { strategy } => write!(
                f,
                "the strategy `{strategy}` finds out once where the updates of a loop go, and the kernel changes what these follow from, or \
                 indices out of range are skipped; \
                 choose the strategy `binned`, `dense` or `serial`"
            ),
            Self::NoBodies { strategy } => write!(
                f,
                "the strategy `{strategy}` runs only loops that hold no parallel loop and do nothing with their outputs but \
                 update them; choose the strategy `dense` or `serial`"
            ),
            Self::LooksFirst { strategy } => write!(
                f,
                "the strategy `{strategy}` looks at all updates before it makes them, and this loop does more than update its outputs; \
                 choose the strategy `dense` or `serial`"
            ),
            Self::AnyOrder { strategy } => write!(
                f,
                "the strategy `{strategy}` makes updates in an order that varies from run to run, and their order changes bits here; \
                 choose the mode `fast`, or the strategy `dense` or `serial`"
            ),
            Self::InOrder { strategy } => write!(
                f,
                "the strategy `{strategy}` does not keep the order of the loop, and these updates mean something else in another, as \
                 where the last one counts, or the larger one of which one may be no number; choose the strategy `binned` or `serial`"
            ),
            Self::Together { strategy } => write!(
                f,
                "the strategy `{strategy}` updates one element at a time, and this loop updates several together, such as a maximum \
                 and its place; choose the strategy `dense` or `serial`"
            ),
            Self::Speculates { strategy } => write!(
                f,
                "the strategy `{strategy}` runs no loops that read elements of the outputs that they update; choose the strategy `dense` \
                 or `binned`, which look whether they are different elements, or `serial`"
            ),
            Self::UnknownStrategy { number } => {
                write!(
                    f,
                    "the kernel asks for strategy number {number}, which does not exist"
                )
            }
        }
    }
}

impl Held {
    /// What to do when there is too little memory.
    fn remedy(self) -> &'static str {
        match self {
            Self::Privates => "allow more memory, or choose the strategy `serial`",
            Self::Copies | Self::Locals => "allow more memory",
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Privates => "private buffers",
            Self::Copies => "copies of its outputs, to be put back when it fails,",
            Self::Locals => "its local arrays",
        })
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_say_what_to_do() {
        let over = |held| {
            let failure = Failure::OverBudget {
                held,
                needed: 4096,
                budget: 1024,
            };
            failure.to_string()
        };
        let beyond = "the call would hold 4096 bytes, and the memory budget is 1024 bytes; allow more memory";
        assert_eq!(
            over(Held::Privates),
            format!("with private buffers {beyond}, or choose the strategy `serial`")
        );
        // The strategy `serial` holds these too.
        assert_eq!(
            over(Held::Copies),
            format!("with copies of its outputs, to be put back when it fails, {beyond}")
        );
        assert_eq!(
            over(Held::Locals),
            format!("with its local arrays {beyond}")
        );
        let failure = Failure::from(Refusal::Regroups { strategy: "dense" });
        assert!(failure.to_string().contains("`dense`"));
        assert!(failure.to_string().contains("choose the mode `stable`"));
    }
}
