use crate::settings::Body;
use crate::strategy::{Costs, Gathered, Sample};
use smallvec::SmallVec;
use std::fmt;
use std::time::{Duration, Instant};

/// What ran, for the person who asks.
///
/// With several foralls the numbers are sums, and `strategy`, `why` and `threads` are those of the
/// strategy that took longest in all, where it ran last. Foralls inside of foralls count as part of
/// the outer one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record {
    /// The strategy: a name from [`STRATEGIES`](crate::STRATEGIES), or `direct` for a forall
    /// without private buffers; `serial` when there was no forall.
    pub strategy: &'static str,
    /// Why that one.
    pub why: Why,
    /// How updates were combined: never [`Body::Auto`].
    pub body: Body,
    /// What was seen of the keys, if it was worth a look.
    pub sample: Option<Sample>,
    /// What it waits for where it reads by keys.
    pub gathered: Gathered,
    /// What each strategy was expected to take, if that was thought about.
    pub costs: Option<Costs>,
    /// How many threads could take part.
    pub threads: usize,
    /// In how many groups the iterations ran: parts that follow each other, or what shared a
    /// private copy.
    pub chunks: u64,
    /// The largest number of bytes that private buffers and copies took at a time.
    pub private_bytes: u64,
    /// How many updates of array elements were done.
    pub updates: u64,
    /// How many statements did nothing because of an index out of range; more than 0 only where the
    /// code is made to skip them. Where a schedule divides a loop, a condition or bound around the
    /// parts counts in each.
    pub skipped: u64,
    /// Time to get buffers and to copy what may have to be put back.
    pub prepare: Duration,
    /// Time in the bodies of foralls, filling of private buffers included.
    pub main: Duration,
    /// Time to merge private buffers.
    pub merge: Duration,
    /// Time of the whole call.
    pub total: Duration,
}

/// Why a strategy was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// There was no forall.
    NoForall,
    /// No forall that was reached had enough to do to be worth the time that several threads take
    /// to begin.
    Little,
    /// By name.
    Asked,
    /// The iterations write to different places, or read only.
    NoPrivates,
    /// The iterations do more with private buffers than combine values into them.
    Separate,
    /// There is one iteration at most.
    OneIteration,
    /// There is one thread, and parts would change nothing but the time.
    OneThread,
    /// Other threads are busy with the forall around this one, and parts would change nothing but
    /// the time.
    Nested,
    /// Exact mode, and updates that round.
    Rounds,
    /// Updates have to be made in the order of the loop, in all modes.
    Ordered,
    /// The loop reads elements that it updates, or may.
    Meets,
    /// To wake threads, to fill private buffers and to merge them would cost more than threads
    /// save.
    FewTrips {
        /// About how many updates all iterations make together.
        updates: u64,
        /// About how many statements they run that make none.
        others: u64,
        /// Elements of all private buffers of one part.
        elements: u64,
        /// The smallest number of both together that pays.
        least: u64,
    },
    /// Private buffers would take much memory, and most of the time to fill and merge them.
    TooLarge {
        /// Bytes of all private buffers of one part.
        bytes: u64,
        /// The largest number that pays.
        most: u64,
    },
    /// Private buffers would be over the budget.
    OverBudget {
        /// Bytes of all private buffers.
        needed: u64,
        /// Bytes allowed.
        budget: u64,
    },
    /// Updates that follow each other are near each other, so that a private copy of what a part of
    /// them touches is small.
    Near {
        /// In so many elements lie those that were looked at in one place.
        span: u64,
    },
    /// Updates go to a few elements, so that a private copy of what is around these is small,
    /// wherever they are.
    Few {
        /// To how many those that were looked at go.
        elements: u64,
    },
    /// A few outputs get most updates, which do not wait for each other where they go to several
    /// copies by turns.
    Hot,
    /// All updates of an element bring the same, so that threads can share the outputs.
    Alike,
    /// Updates go through the outputs from one end to the other, so that each thread can have
    /// outputs of its own.
    Rises,
    /// Updates go through the outputs from about one end to about the other, so that most parts of
    /// them have outputs of their own.
    Advances {
        /// In so many elements lie those that were looked at in one place.
        span: u64,
    },
    /// Updates go through the outputs from about one end to about the other, so that each thread
    /// can have outputs of its own, but for those where two threads meet.
    Borders {
        /// In so many elements lie those that were looked at in one place.
        span: u64,
    },
    /// It is expected to take least among those that may be taken.
    Cheapest {
        /// The nanoseconds that it is expected to take.
        expected: u64,
        /// The same for the loop as it is written.
        serial: u64,
    },
    /// Updates go where they went when the loop ran before, or are known to go there again, and it
    /// is expected to take least to move values alone.
    SameKeys {
        /// The nanoseconds that it is expected to take.
        expected: u64,
        /// The same for the loop as it is written.
        serial: u64,
    },
    /// Private buffers are cheap against the updates.
    Pays {
        /// About how many updates all iterations make together.
        updates: u64,
        /// Elements of all private buffers of one part.
        elements: u64,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoForall => f.write_str("there is no parallel loop"),
            Self::Little => f.write_str("no parallel loop had enough to do to share it among threads"),
            Self::Asked => f.write_str("asked for by name"),
            Self::NoPrivates => f.write_str("no two iterations write different things to one place"),
            Self::Separate => f.write_str("every part needs private copies of its own"),
            Self::OneIteration => f.write_str("the loop has one part only"),
            Self::OneThread => f.write_str("there is one thread"),
            Self::Nested => f.write_str("the loop around it keeps the threads busy"),
            Self::Rounds => {
                f.write_str("exact mode, and regrouping updates that round would change bits")
            }
            Self::Ordered => {
                f.write_str("updates mean something in the order of the loop alone")
            }
            Self::Meets => f.write_str(
                "the loop reads elements of the outputs that it updates, or cannot be looked at for that, so its iterations run in order",
            ),
            Self::FewTrips {
                updates,
                others: 0,
                elements,
                least,
            } => write!(
                f,
                "about {updates} updates of {elements} outputs: private copies pay from {least} updates"
            ),
            Self::FewTrips {
                updates,
                others,
                elements,
                least,
            } => write!(
                f,
                "about {updates} updates of {elements} outputs and {others} other statements or waits for what they read: private copies pay from {least} of all"
            ),
            Self::TooLarge { bytes, most } => write!(
                f,
                "private copies of {bytes} bytes are too large to pay (at most {most})"
            ),
            Self::OverBudget { needed, budget } => write!(
                f,
                "private copies of {needed} bytes are over the memory budget of {budget} bytes"
            ),
            Self::Near { span } => write!(
                f,
                "updates that follow each other are near each other, within {span} outputs"
            ),
            Self::Few { elements } => write!(
                f,
                "all updates that were looked at go to {elements} outputs"
            ),
            Self::Hot => f.write_str(
                "a few outputs get most updates, which would wait for each other in one copy",
            ),
            Self::Alike => f.write_str(
                "all updates set outputs to the same, whichever of them comes last, so that threads share these",
            ),
            Self::Rises => f.write_str(
                "updates go through the outputs from one end to the other, so that each thread has outputs of its own",
            ),
            Self::Advances { span } => write!(
                f,
                "updates go through the outputs from about one end to about the other (within {span} at a time), so that most parts of them \
                 have outputs of their own"
            ),
            Self::Borders { span } => write!(
                f,
                "updates go through the outputs from about one end to about the other (within {span} at a time), so that each thread has \
                 outputs of its own but for those where two of them meet"
            ),
            Self::Cheapest { expected, serial } => write!(
                f,
                "expected to take {}, and in order {}",
                Milliseconds(*expected),
                Milliseconds(*serial)
            ),
            Self::SameKeys { expected, serial } => write!(
                f,
                "updates go where they went before: expected to take {}, and in order {}",
                Milliseconds(*expected),
                Milliseconds(*serial)
            ),
            Self::Pays { updates, elements } => write!(
                f,
                "about {updates} updates of {elements} outputs: private copies are cheap against them"
            ),
        }
    }
}

/// A time in nanoseconds.
struct Milliseconds(u64);

impl fmt::Display for Milliseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ms", self.0 as f64 / 1e6)
    }
}

/// What looks at the clock only where somebody wants to know how long something takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch(pub(crate) Option<Instant>);

impl Stopwatch {
    /// The time since it was started; none where nobody wants to know.
    pub(crate) fn elapsed(self) -> Duration {
        self.0.map_or(Duration::ZERO, |start| start.elapsed())
    }
}

/// What one forall did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) strategy: &'static str,
    pub(crate) why: Why,
    pub(crate) body: Body,
    pub(crate) sample: Option<Sample>,
    pub(crate) gathered: Gathered,
    pub(crate) costs: Option<Costs>,
    pub(crate) threads: usize,
    pub(crate) chunks: u64,
    pub(crate) prepare: Duration,
    pub(crate) main: Duration,
    pub(crate) merge: Duration,
}

impl Part {
    fn time(&self) -> Duration {
        self.prepare + self.main + self.merge
    }
}

/// The foralls of a call so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// The last of each strategy, and the time of all of it.
    strategies: SmallVec<[(Part, Duration); 2]>,
    chunks: u64,
    prepare: Duration,
    main: Duration,
    merge: Duration,
}

impl Tally {
    pub(crate) fn add(&mut self, part: Part) {
        self.chunks += part.chunks;
        self.prepare += part.prepare;
        self.main += part.main;
        self.merge += part.merge;
        let mut known = self.strategies.iter_mut();
        match known.find(|(it, _)| it.strategy == part.strategy) {
            Some((last, time)) => {
                *time += part.time();
                *last = part;
            }
            None => self.strategies.push((part, part.time())),
        }
    }

    fn longest(&self) -> Option<Part> {
        let all = self.strategies.iter();
        all.max_by_key(|(_, time)| *time).map(|(part, _)| *part)
    }

    pub(crate) fn prepared(&mut self, time: Duration) {
        self.prepare += time;
    }

    /// The record of a call that took `total`. Without a forall all of it but the preparation is
    /// main work; `without` says why there was none.
    pub(crate) fn record(
        &self,
        total: Duration,
        updates: u64,
        private_bytes: u64,
        without: Why,
    ) -> Record {
        let longest = self.longest();
        let main = match longest {
            Some(_) => self.main,
            None => total.saturating_sub(self.prepare),
        };
        Record {
            strategy: longest.map_or("serial", |part| part.strategy),
            why: longest.map_or(without, |part| part.why),
            body: longest.map_or(Body::Direct, |part| part.body),
            sample: longest.and_then(|part| part.sample),
            gathered: longest.map(|part| part.gathered).unwrap_or_default(),
            costs: longest.and_then(|part| part.costs),
            threads: longest.map_or(1, |part| part.threads),
            chunks: self.chunks,
            private_bytes,
            updates,
            skipped: 0,
            prepare: self.prepare,
            main,
            merge: self.merge,
            total,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(strategy: &'static str, micros: u64) -> Part {
        Part {
            strategy,
            why: Why::Asked,
            body: Body::Direct,
            sample: None,
            gathered: Gathered::default(),
            costs: None,
            threads: 2,
            chunks: 8,
            prepare: Duration::from_micros(1),
            main: Duration::from_micros(micros),
            merge: Duration::ZERO,
        }
    }

    #[test]
    fn the_strategy_that_took_longest_is_named() {
        let mut tally = Tally::default();
        tally.add(part("serial", 5));
        tally.add(part("dense", 9));
        let so_far = tally.record(Duration::from_micros(20), 11, 12, Why::Little);
        assert_eq!(so_far.strategy, "dense");
        tally.add(part("serial", 7));
        let record = tally.record(Duration::from_micros(30), 11, 12, Why::Little);
        assert_eq!(record.strategy, "serial");
        assert_eq!(
            (record.chunks, record.updates, record.private_bytes),
            (24, 11, 12)
        );
        assert_eq!(record.prepare, Duration::from_micros(3));
        assert_eq!(record.main, Duration::from_micros(21));
    }

    #[test]
    fn a_call_without_a_forall_is_serial() {
        let record = Tally::default().record(Duration::from_micros(4), 0, 0, Why::NoForall);
        assert_eq!((record.strategy, record.threads), ("serial", 1));
        assert_eq!(record.main, record.total);
        assert_eq!(record.why.to_string(), "there is no parallel loop");
    }
}
