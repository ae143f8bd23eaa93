//! From a source text to callable code: [`Source`] → [`Parsed`] → [`Scheduled`] → [`Compiled`],
//! each made from the one before it and holding what the next needs. Nothing is decided here; every
//! stage calls the crate that does its work.

mod fitting;

use crate::argument::name_of;
use crate::convert::Notes;
use crate::error::{Error, KernelError, Refusal};
use crate::{Diagnostic, Diagnostics, Language, Source, convert};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use strew_affine::mlir::{Unsupported, to_mlir};
use strew_affine::verify::{Verified, verify};
use strew_affine::{IterId, Kernel, Span};
use strew_jit::{Argument, ArgumentKind, Faults, Oob};
use strew_transforms::{Machine, Observer, Schedule};

/// A source without errors, as kernels.
#[derive(Clone, Debug)]
pub struct Parsed {
    source: Arc<Source>,
    kernels: Vec<ParsedKernel>,
    warnings: Diagnostics,
}

/// One kernel as its source says it.
#[derive(Clone, Debug)]
pub struct ParsedKernel {
    source: Arc<Source>,
    kernel: Verified,
    notes: Notes,
}

/// A kernel after its schedule.
#[derive(Clone, Debug)]
pub struct Scheduled {
    parsed: Arc<ParsedKernel>,
    kernel: Verified,
    schedule: Schedule,
    plan: Plan,
}

/// A kernel in machine code.
#[derive(Clone, Debug)]
pub struct Compiled {
    scheduled: Scheduled,
    code: strew_jit::Compiled,
    /// What callers pass: names, and what an argument must be.
    parameters: Vec<(String, ArgumentKind)>,
    took: Duration,
    oob: Oob,
    /// The version that does the other thing with an index out of range.
    other: Version,
    /// Why this version is not under the schedule of the plan, where it is not.
    dropped: Option<String>,
    /// The version that assumes less.
    weaker: Version,
    /// The version without a schedule, whose faults are told in terms of the source.
    written: Version,
    /// That version where there is no room for what the schedule needs.
    sparing: Version,
    /// The same version, whose faults are told.
    located: Version,
    /// The weaker version, for keys that are not where a schedule takes them to be.
    for_other_keys: Version,
    /// Whether they were elsewhere in any call.
    was_misled: Arc<AtomicBool>,
}

/// Why a schedule is given up in a call whose sizes, or keys, it cannot have.
const FAILS_ALONE: &str = "with these sizes or keys it ends in a fault where the kernel as it was \
                           written does not: a bound or a subscript may leave its type on the way";

/// Why one is given up for keys.
const OTHER_KEYS: &str = "keys go beyond the rows that it found, here or in an earlier call";

/// Why one is given up in a call whose budget has no room for it, where that changes no bit.
const LACKS_MEMORY: &str = "the memory budget has no room for the local arrays that it makes";

/// Another form of a kernel in machine code, made when a call first needs it.
type Version = Arc<OnceLock<Result<Arc<Compiled>, Error>>>;

/// Which schedule a kernel gets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    /// What the `#pragma strew` lines of the source say; found automatically when there are none.
    #[default]
    Source,
    /// Found automatically, whatever the source says.
    Auto,
    /// This one.
    Explicit(Schedule),
}

impl Source {
    /// Parses, resolves and lowers the text.
    ///
    /// # Errors
    /// The errors in the text, all that were found.
    pub fn parse(self) -> Result<Parsed, Error> {
        let source = Arc::new(self);
        let (kernels, diagnostics) = match source.language() {
            Language::C => convert::from_c(&source),
            Language::KernelText => convert::from_kernel_text(&source),
            Language::Mlir => convert::from_mlir(&source),
        };
        let diagnostics = Diagnostics::new(source.clone(), diagnostics);
        if diagnostics.has_errors() {
            let lacking = source.lacks_kernel().map(Error::Kernel);
            return Err(lacking.unwrap_or(Error::Source(diagnostics)));
        }
        let kernels = kernels.into_iter().map(|(kernel, notes)| {
            let kernel = verified(&source, kernel)?;
            let source = source.clone();
            Ok(ParsedKernel {
                source,
                kernel,
                notes,
            })
        });
        Ok(Parsed {
            kernels: kernels.collect::<Result<_, Error>>()?,
            source,
            warnings: diagnostics,
        })
    }
}

/// Kernel text can break an invariant; a kernel that strew itself made must not.
fn verified(source: &Arc<Source>, kernel: Kernel) -> Result<Verified, Error> {
    verify(kernel).map_err(|violations| match source.language() {
        Language::KernelText | Language::Mlir => {
            let list = violations
                .iter()
                .map(|it| Diagnostic::error(it.to_string(), it.span))
                .collect();
            Error::Source(Diagnostics::new(source.clone(), list))
        }
        Language::C => Error::Defect(convert::joined(&violations)),
    })
}

impl Parsed {
    /// The source.
    pub fn source(&self) -> &Arc<Source> {
        &self.source
    }

    /// The warnings about the source.
    pub fn warnings(&self) -> &Diagnostics {
        &self.warnings
    }

    /// The kernels in the order of the source.
    pub fn kernels(&self) -> &[ParsedKernel] {
        &self.kernels
    }

    /// The kernel `name`, or the only one there is.
    ///
    /// # Errors
    /// No such kernel, or several when none is named; the error lists them.
    pub fn kernel(&self, name: Option<&str>) -> Result<&ParsedKernel, Error> {
        let found = match (name, self.kernels.as_slice()) {
            (None, [only]) => Some(only),
            (None, _) => None,
            (Some(name), kernels) => kernels.iter().find(|it| it.kernel.name == name),
        };
        found.ok_or_else(|| {
            Error::Kernel(KernelError {
                file: self.source.name().to_owned(),
                name: name.map(str::to_owned),
                available: self
                    .kernels
                    .iter()
                    .map(|it| it.kernel.name.clone())
                    .collect(),
            })
        })
    }
}

impl ParsedKernel {
    /// The kernel. Its `Display` is its text.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What the source calls the loop of an iterator: its variable, be that the iterator or a
    /// function of it.
    pub fn written_name(&self, iter: IterId) -> &str {
        let written = self.notes.variables.name(iter);
        written.unwrap_or(&self.kernel.iters[iter].name)
    }

    /// The iteration of a fault in this kernel, called with `arguments`, as the source says it.
    pub(crate) fn written_iteration(
        &self,
        iteration: &[(String, i64)],
        arguments: &[Argument<'_>],
    ) -> Vec<(String, i64)> {
        (self.notes.variables).told(&self.kernel, iteration, arguments)
    }

    /// The steps that `#pragma strew` lines of the source ask for.
    pub fn pragmas(&self) -> &Schedule {
        self.notes.pragmas.schedule()
    }

    /// Applies the schedule that `plan` means; `observer` sees every step.
    ///
    /// # Errors
    /// A step that is declined.
    pub fn schedule(&self, plan: &Plan, observer: &mut dyn Observer) -> Result<Scheduled, Error> {
        let (kernel, schedule) = match plan {
            Plan::Explicit(schedule) => self.apply(schedule, |_| None, observer)?,
            Plan::Source if !self.pragmas().is_empty() => {
                let place = |step| self.notes.pragmas.span(step);
                self.apply(self.pragmas(), place, observer)?
            }
            Plan::Source | Plan::Auto => {
                let found = strew_transforms::auto(&self.kernel, &Machine::default(), observer);
                (found.kernel, found.schedule)
            }
        };
        Ok(Scheduled {
            parsed: Arc::new(self.clone()),
            kernel,
            schedule,
            plan: plan.clone(),
        })
    }

    /// The kernel under a schedule that assumes no more than it does: one that `plan` means and
    /// that does not fit, since its loops are others, gives way to one that is found; then also
    /// why.
    fn fitting(&self, plan: &Plan) -> Result<(Scheduled, Option<String>), Error> {
        if self.is_found(plan) {
            return Ok((self.scheduled_for_all(), None));
        }
        match self.schedule(plan, &mut ()) {
            Ok(scheduled) if !scheduled.assumes() => Ok((scheduled, None)),
            Ok(scheduled) => {
                let steps: Vec<_> = scheduled
                    .schedule
                    .steps()
                    .iter()
                    .map(ToString::to_string)
                    .collect();
                let dropped = format!("{} assumes that", steps.join("; "));
                Ok((self.scheduled_for_all(), Some(dropped)))
            }
            Err(Error::Refused(refusal)) => {
                let dropped = refusal.refused.to_string();
                Ok((self.scheduled_for_all(), Some(dropped)))
            }
            Err(other) => Err(other),
        }
    }

    /// Whether `plan` leaves the schedule to be found.
    fn is_found(&self, plan: &Plan) -> bool {
        match plan {
            Plan::Auto => true,
            Plan::Source => self.pragmas().is_empty(),
            Plan::Explicit(_) => false,
        }
    }

    /// The kernel under a schedule that is found and assumes nothing of the parameters.
    fn scheduled_for_all(&self) -> Scheduled {
        let found = strew_transforms::auto_for_all(&self.kernel, &Machine::default(), &mut ());
        Scheduled {
            parsed: Arc::new(self.clone()),
            kernel: found.kernel,
            schedule: found.schedule,
            plan: Plan::Auto,
        }
    }

    /// Applies `schedule`, whose step number `n` stands at `place(n)` of the source, if it does.
    fn apply(
        &self,
        schedule: &Schedule,
        place: impl Fn(usize) -> Option<Span>,
        observer: &mut dyn Observer,
    ) -> Result<(Verified, Schedule), Error> {
        let applied = schedule.apply(&self.kernel, observer).map_err(|refused| {
            Error::Refused(Refusal {
                place: place(refused.index),
                refused,
                source: self.source.clone(),
            })
        })?;
        Ok((applied, schedule.clone()))
    }
}

impl Scheduled {
    /// The kernel. Its `Display` is its text.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The steps that led to it.
    pub fn steps(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn verified(&self) -> &Verified {
        &self.kernel
    }

    /// The kernel as its source says it.
    pub(crate) fn written(&self) -> &Kernel {
        &self.parsed.kernel
    }

    /// The source that its spans point into.
    pub(crate) fn source(&self) -> &Arc<Source> {
        &self.parsed.source
    }

    /// The kernel as MLIR.
    ///
    /// # Errors
    /// What has no counterpart there.
    pub fn to_mlir(&self) -> Result<String, Unsupported> {
        to_mlir(&self.kernel)
    }

    /// Makes machine code.
    ///
    /// # Errors
    /// A strategy that does not exist, or a processor that no code can be made for.
    pub fn compile(self) -> Result<Compiled, Error> {
        self.compile_for(Oob::Error)
    }

    /// The same, to do with an index out of range what `oob` says.
    ///
    /// # Errors
    /// Those of [`compile`](Self::compile).
    pub fn compile_for(self, oob: Oob) -> Result<Compiled, Error> {
        // A schedule splits and copies loops: what its faults could tell is not what the writer of
        // the source knows.
        let (fitting, dropped) = self.fit_for(oob)?;
        let mut compiled = fitting.compile_with(Faults::Bare, oob)?;
        compiled.dropped = dropped;
        Ok(compiled)
    }

    /// The names of what callers pass, with what each must be.
    fn parameters(&self) -> Vec<(String, ArgumentKind)> {
        let kernel = self.written();
        let names = kernel.passed_params();
        let names = names.map(|it| name_of(kernel, it).to_owned());
        names.zip(ArgumentKind::all_of(kernel)).collect()
    }

    fn compile_with(self, faults: Faults, oob: Oob) -> Result<Compiled, Error> {
        let started = Instant::now();
        let options = strew_jit::Options {
            faults,
            oob,
            ..Default::default()
        };
        let code = strew_jit::compile(&self.kernel, &options).map_err(Error::Compile)?;
        Ok(Compiled {
            parameters: self.parameters(),
            code,
            scheduled: self,
            took: started.elapsed(),
            oob,
            dropped: None,
            other: Version::default(),
            weaker: Version::default(),
            written: Version::default(),
            sparing: Version::default(),
            located: Version::default(),
            for_other_keys: Version::default(),
            was_misled: Arc::default(),
        })
    }
}

impl Compiled {
    /// The kernel in its last form before machine code.
    pub fn kernel(&self) -> &Kernel {
        &self.scheduled.kernel
    }

    /// The kernel as its source says it.
    pub fn parsed(&self) -> &ParsedKernel {
        &self.scheduled.parsed
    }

    /// The source that faults point into.
    pub fn source(&self) -> &Arc<Source> {
        &self.scheduled.parsed.source
    }

    /// The steps of the schedule.
    pub fn steps(&self) -> &Schedule {
        &self.scheduled.schedule
    }

    /// The machine code.
    pub fn code(&self) -> &strew_jit::Compiled {
        &self.code
    }

    /// The names of what callers pass, with what each must be.
    pub(crate) fn parameters(&self) -> &[(String, ArgumentKind)] {
        &self.parameters
    }

    /// What its code does with an index out of range.
    pub fn oob(&self) -> Oob {
        self.oob
    }

    /// The same kernel, which does with an index out of range what this one does not.
    pub(crate) fn other(&self) -> Result<Arc<Self>, Error> {
        let other = match self.oob {
            Oob::Error => Oob::Skip,
            Oob::Skip => Oob::Error,
        };
        let make = || Ok(Arc::new(self.scheduled.clone().compile_for(other)?));
        self.other.get_or_init(make).clone()
    }

    /// The same kernel for arguments that do not keep its assumptions: one under a schedule that
    /// makes none, or, where the source makes them, its exact version. `None` for a kernel text,
    /// which means what it says.
    pub(crate) fn weaker(&self) -> Option<Result<Arc<Self>, Error>> {
        let is_text = self.source().language() != Language::C;
        let none = is_text && !self.scheduled.assumes();
        (!none).then(|| self.weaker.get_or_init(|| self.make_weaker()).clone())
    }

    fn make_weaker(&self) -> Result<Arc<Self>, Error> {
        let parsed = match self.scheduled.assumes() {
            true => (*self.scheduled.parsed).clone(),
            false => self.scheduled.exact_source()?,
        };
        let (scheduled, dropped) = parsed.fitting(&self.scheduled.plan)?;
        let mut compiled = scheduled.compile_for(self.oob)?;
        compiled.dropped = dropped;
        Ok(Arc::new(compiled))
    }

    /// Whether keys were not where the schedule takes them to be, in a call before.
    pub(crate) fn was_misled(&self) -> bool {
        self.was_misled.load(Ordering::Relaxed)
    }

    /// Takes note that they were not.
    pub(crate) fn note_misled(&self) {
        self.was_misled.store(true, Ordering::Relaxed);
    }

    /// The version for such keys; `None` where the schedule does not go by keys.
    pub(crate) fn for_other_keys(&self) -> Option<Result<Arc<Self>, Error>> {
        if let Some(known) = self.for_other_keys.get() {
            return Some(known.clone());
        }
        if !self.scheduled.has_rows_by_keys() {
            return None;
        }
        let weaker = self.weaker()?;
        let make = || {
            let mut weaker = (*weaker?).clone();
            weaker.dropped = Some(OTHER_KEYS.to_owned());
            Ok(Arc::new(weaker))
        };
        Some(self.for_other_keys.get_or_init(make).clone())
    }

    /// Whether it checks that elements of an array are written once.
    pub(crate) fn checks_disjoint(&self) -> bool {
        self.scheduled.checks_disjoint()
    }

    /// The same kernel under the same schedule. It runs more slowly, and tells everything about a
    /// fault.
    pub(crate) fn located(&self) -> Result<Arc<Self>, Error> {
        let make = || {
            let scheduled = self.scheduled.clone();
            Ok(Arc::new(scheduled.compile_with(Faults::Located, self.oob)?))
        };
        self.located.get_or_init(make).clone()
    }

    /// The same kernel without a schedule. It runs more slowly, and tells everything about a fault.
    pub(crate) fn written(&self) -> Result<Arc<Self>, Error> {
        let make = || {
            let plan = Plan::Explicit(Schedule::new());
            let scheduled = self.scheduled.parsed.schedule(&plan, &mut ())?;
            let mut compiled = scheduled.compile_with(Faults::Located, self.oob)?;
            // Only a schedule can have failed where the kernel as it was written does not.
            compiled.dropped = Some(FAILS_ALONE.to_owned());
            Ok(Arc::new(compiled))
        };
        self.written.get_or_init(make).clone()
    }

    /// That version, for a call whose budget has no room for the local arrays of the schedule.
    pub(crate) fn sparing(&self) -> Result<Arc<Self>, Error> {
        let make = || {
            let mut sparing = (*self.written()?).clone();
            sparing.dropped = Some(LACKS_MEMORY.to_owned());
            Ok(Arc::new(sparing))
        };
        self.sparing.get_or_init(make).clone()
    }

    /// Why the schedule that was asked for is not that of this version, where it is not.
    pub(crate) fn dropped(&self) -> Option<&str> {
        self.dropped.as_deref()
    }

    /// How long it took to make the machine code.
    pub fn took(&self) -> Duration {
        self.took
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew_affine::{Condition, Relation};

    const HISTOGRAM: &str = "\
void histogram(int64_t n, const int32_t key[n], int32_t bins[4]) {
  for (int64_t i = 0; i < n; i++)
    bins[key[i]] += 1;
}
";

    /// A histogram that assumes `n < 3`, though its source does not say so.
    fn assuming() -> crate::Kernel {
        let parsed = Source::new("k.c", HISTOGRAM).parse().expect("a source");
        let mut only = parsed.kernel(None).expect("one kernel").clone();
        let mut kernel = only.kernel.into_kernel();
        let (n, _) = kernel.scalars.iter().next().expect("a size");
        kernel.assumptions = vec![Condition {
            left: n.into(),
            relation: Relation::Less,
            right: 3.into(),
        }];
        only.kernel = verify(kernel).expect("a verified kernel");
        let scheduled = only.schedule(&Plan::Source, &mut ()).expect("a schedule");
        scheduled.compile().expect("machine code").into()
    }

    #[test]
    fn arguments_that_break_an_assumption_run_the_exact_version() {
        let kernel = assuming();
        let handle = kernel
            .typed::<(i64, &[i32], &mut [i32])>()
            .expect("it fits");
        let mut bins = [0; 4];
        let report = handle.call_with_report((2, &[1, 3], &mut bins));
        assert_eq!(report.expect("a report").assumption, None);
        let report = handle.call_with_report((3, &[1, 3, 1], &mut bins));
        let report = report.expect("a report");
        assert_eq!(report.assumption.as_deref(), Some("n < 3"));
        assert!(
            report
                .why()
                .ends_with("; `n < 3` does not hold, so nothing was assumed")
        );
        assert_eq!(bins, [0, 3, 0, 2]);
        let first = kernel.compiled().weaker().and_then(Result::ok);
        let second = kernel.compiled().weaker().and_then(Result::ok);
        let same = first.zip(second);
        assert!(same.is_some_and(|(first, second)| Arc::ptr_eq(&first, &second)));
    }

    #[test]
    fn faults_of_the_exact_version_speak_of_the_source() {
        let mut bins = [0; 4];
        let call = assuming().bind().array("key", &[1, 2, 4]);
        let Err(Error::Fault(fault)) = call.array_mut("bins", &mut bins).run() else {
            panic!("an index is out of range");
        };
        assert_eq!(fault.position().line, 3);
        assert_eq!(fault.iteration(), [("i".to_owned(), 2)]);
        assert_eq!(bins, [0; 4]);
    }
}
