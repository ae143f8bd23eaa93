use crate::abi::Work;
use crate::machine::Machine;
use crate::plan::Plan;
use crate::strategy::{STRATEGIES, Strategy};
use crate::timeline::Timeline;
use crossbeam::utils::CachePadded;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

/// Which results of regrouping rounded arithmetic are good enough. Integers, bit operations and
/// order-free minima and maxima give the same bits in all three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// The grouping may follow the number of threads, and a product be rounded once with the sum it
    /// is added to.
    Fast,
    /// The same bits at any number of threads and in every run.
    #[default]
    Stable,
    /// The bits of the serial loop.
    Exact,
}

/// How the strategy of the foralls is found.
#[derive(Clone, Copy, Debug, Default)]
pub enum Choice {
    /// What the forall says, and by its sizes where it leaves it open.
    #[default]
    Auto,
    /// This one for every forall with private buffers.
    Named(&'static dyn Strategy),
}

impl Choice {
    /// Every strategy by name.
    pub fn named() -> impl Iterator<Item = Self> {
        STRATEGIES.into_iter().map(Self::Named)
    }

    /// The name in schedules, on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Named(strategy) => strategy.name(),
        }
    }
}

impl PartialEq for Choice {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Choice {}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Choice {
    type Err = UnknownStrategy;

    fn from_str(name: &str) -> Result<Self, UnknownStrategy> {
        if name == "auto" {
            return Ok(Self::Auto);
        }
        Self::named()
            .find(|it| it.name() == name)
            .ok_or_else(|| UnknownStrategy {
                name: name.to_owned(),
            })
    }
}

/// There is no strategy of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownStrategy {
    /// What was asked for.
    pub name: String,
}

impl fmt::Display for UnknownStrategy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no strategy `{}`; there are `auto`", self.name)?;
        for strategy in STRATEGIES {
            write!(f, ", `{}`", strategy.name())?;
        }
        Ok(())
    }
}

impl std::error::Error for UnknownStrategy {}

/// How the body of a loop combines updates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Body {
    /// As seems best from what the keys look like.
    #[default]
    Auto,
    /// In memory, one after the other.
    Direct,
    /// In a register, for as long as they go to one element; where the loop does nothing else with
    /// its outputs.
    RunLength,
    /// In several registers by turns, for as long as they go to one element, under the same
    /// conditions: one update then does not wait for the one before. This groups rounded updates in
    /// another way, so [`Mode::Exact`] and the strategies that keep the order of the loop keep such
    /// elements in one register instead.
    Partials,
    /// Into several private buffers by turns, under the same conditions: one update then does not
    /// wait for the one before. This groups rounded updates in another way, so it is not for
    /// [`Mode::Exact`] and them, nor for the strategies that keep the order of the loop.
    Tables,
}

impl Body {
    /// Every body.
    pub const ALL: [Self; 5] = [
        Self::Auto,
        Self::Direct,
        Self::RunLength,
        Self::Partials,
        Self::Tables,
    ];

    /// The name on the command line and in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Direct => "direct",
            Self::RunLength => "run_length",
            Self::Partials => "partials",
            Self::Tables => "tables",
        }
    }
}

impl fmt::Display for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Body {
    type Err = UnknownBody;

    fn from_str(name: &str) -> Result<Self, UnknownBody> {
        let known = Self::ALL.into_iter().find(|body| body.name() == name);
        known.ok_or_else(|| UnknownBody {
            name: name.to_owned(),
        })
    }
}

/// There is no body of this name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownBody {
    /// What was asked for.
    pub name: String,
}

impl fmt::Display for UnknownBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let known = Body::ALL.map(|body| format!("`{body}`")).join(", ");
        write!(f, "there is no body `{}`; there are {known}", self.name)
    }
}

impl std::error::Error for UnknownBody {}

/// Asks a running call to end early. All clones are one token.
#[derive(Clone, Debug, Default)]
pub struct StopToken(Arc<Stop>);

/// The flag of calls that nobody can stop.
pub(crate) static NEVER: AtomicU32 = AtomicU32::new(0);

#[derive(Debug, Default)]
struct Stop {
    flag: AtomicU32,
    /// Whether arrays that are half written do no harm.
    abandons: bool,
    /// How many calls look at the flag; apart from it, since they all look often.
    listeners: CachePadded<AtomicUsize>,
}

impl StopToken {
    /// A token that has not asked for anything yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// A token for who throws the arrays away once a call was stopped: where nothing but a stop can
    /// end a call early, nothing is copied to be put back, and what the call wrote is left half
    /// done.
    pub fn abandoning() -> Self {
        Self(Arc::new(Stop {
            abandons: true,
            ..Stop::default()
        }))
    }

    /// Asks every call that was given this token to stop, now and in future.
    pub fn stop(&self) {
        self.0.flag.store(1, Ordering::Relaxed);
    }

    /// Whether [`stop`](Self::stop) was called.
    pub fn is_stopped(&self) -> bool {
        self.0.flag.load(Ordering::Relaxed) != 0
    }

    /// Whether a call that was given this token runs just now, and so would end early. One that
    /// still makes machine code does not.
    pub fn is_heard(&self) -> bool {
        self.0.listeners.load(Ordering::Relaxed) != 0
    }

    /// The token is heard until what this returns is dropped.
    pub(crate) fn listen(&self) -> Listening<'_> {
        self.0.listeners.fetch_add(1, Ordering::Relaxed);
        Listening(self)
    }
}

/// A call that looks at a token.
#[derive(Debug)]
pub(crate) struct Listening<'t>(&'t StopToken);

impl Drop for Listening<'_> {
    fn drop(&mut self) {
        self.0.0.listeners.fetch_sub(1, Ordering::Relaxed);
    }
}

/// How far a call is, for another thread to look at while it runs. All clones are one; calls that
/// are given the same one are counted together.
///
/// What is counted are iterations, as well as they are known when a loop begins: those of a loop
/// with computed bounds are not. The counts only grow; so does the total, where a kernel has
/// several loops, when the next of them begins.
#[derive(Clone, Debug, Default)]
pub struct Progress(Arc<Work>);

impl Progress {
    /// Nothing is done, and nothing is to be done.
    pub fn new() -> Self {
        Self::default()
    }

    /// How many iterations were done; never more than [`total`](Self::total), and equal to it once
    /// all calls have ended well.
    pub fn done(&self) -> u64 {
        self.0.done.load(Ordering::Relaxed).min(self.total())
    }

    /// How many iterations the loops have that have begun; 0 where none has, or nothing is known of
    /// them.
    pub fn total(&self) -> u64 {
        self.0.total.load(Ordering::Relaxed)
    }

    pub(crate) fn work(&self) -> &Work {
        &self.0
    }
}

/// What holds for one call.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// Which bits the results have.
    pub mode: Mode,
    /// How the strategy is found.
    pub strategy: Choice,
    /// How updates are combined.
    pub body: Body,
    /// How many bytes of private buffers and copies the call may hold at a time; a quarter of what
    /// is free when `None`.
    pub memory: Option<u64>,
    /// Ends the call early.
    pub stop: Option<StopToken>,
    /// What is expected of caches, and what work is expected to cost.
    pub machine: Machine,
    /// Told how far the call is.
    pub progress: Option<Progress>,
    /// Told which thread was at work when.
    pub timeline: Option<Timeline>,
    /// Where updates go whose keys lie in the arrays of the plan.
    pub plan: Option<Plan>,
    /// Whether kernels that do something in another way on several threads, which takes memory, do
    /// it as on one.
    pub as_on_one_thread: bool,
}

impl Settings {
    /// Not zero when the call is to end early.
    pub(crate) fn stop_flag(&self) -> &AtomicU32 {
        self.stop.as_ref().map_or(&NEVER, |it| &it.0.flag)
    }

    /// Whether somebody may stop the call who looks at its arrays afterwards.
    pub fn is_put_back_when_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|it| !it.0.abandons)
    }

    /// Whether somebody may stop the call who does not.
    pub(crate) fn is_abandoned_when_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|it| it.0.abandons)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read_as_they_are_written() {
        for name in [
            "auto", "serial", "dense", "blocked", "binned", "planned", "columns", "atomic",
            "apart", "colored", "rows",
        ] {
            let choice: Choice = name.parse().unwrap();
            assert_eq!(choice.to_string(), name);
        }
        assert_ne!("serial".parse::<Choice>(), "dense".parse::<Choice>());
    }

    #[test]
    fn an_unknown_strategy_lists_those_there_are() {
        let error = "blokced".parse::<Choice>().unwrap_err();
        assert_eq!(
            error.to_string(),
            "there is no strategy `blokced`; there are `auto`, `serial`, `dense`, `blocked`, `binned`, `planned`, `columns`, `atomic`, `apart`, `colored`, `rows`"
        );
    }

    #[test]
    fn bodies_are_read_as_they_are_written() {
        for body in Body::ALL {
            assert_eq!(body.to_string().parse(), Ok(body));
        }
        assert_eq!(
            "runs".parse::<Body>().unwrap_err().to_string(),
            "there is no body `runs`; there are `auto`, `direct`, `run_length`, `partials`, `tables`"
        );
    }

    #[test]
    fn clones_of_a_token_are_one_token() {
        let token = StopToken::new();
        let clone = token.clone();
        assert!(!clone.is_stopped());
        token.stop();
        assert!(clone.is_stopped());
    }

    #[test]
    fn a_token_is_heard_while_a_call_runs() {
        let token = StopToken::new();
        assert!(!token.is_heard());
        let (first, second) = (token.listen(), token.listen());
        drop(first);
        assert!(token.clone().is_heard());
        drop(second);
        assert!(!token.is_heard());
    }
}
