use crate::argument::{ArgumentError, name_of};
use crate::bind::Bind;
use crate::error::{ArgumentErrors, Error, Fault};
use crate::planned::Planned;
use crate::settings::{Settings, settings_methods};
use crate::sizes::{representative, written_extents};
use crate::stages::{Compiled, Parsed, Plan};
use crate::typed::{ResultType, Signature, Typed};
use crate::{Diagnostics, Report};
use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use strew_affine::{Type, Value};
use strew_jit::{Argument, ArgumentKind, ArrayElement, CallError, FaultKind, Outcome};
use strew_runtime::{Failure, Held, Mode, Runtime};
use strew_transforms::Schedule;

/// The kernels of one source. Machine code is made when a kernel is first asked for.
#[derive(Debug)]
pub struct Program {
    parsed: Parsed,
    plan: Plan,
    settings: Settings,
    /// One for each kernel of `parsed`.
    compiled: Vec<OnceLock<Arc<Compiled>>>,
}

impl Program {
    pub(crate) fn new(parsed: Parsed, plan: Plan, settings: Settings) -> Self {
        let compiled = parsed.kernels().iter().map(|_| OnceLock::new()).collect();
        Self {
            parsed,
            plan,
            settings,
            compiled,
        }
    }

    /// The names of the kernels in the order of the source.
    pub fn kernel_names(&self) -> impl Iterator<Item = &str> {
        let kernels = self.parsed.kernels().iter();
        kernels.map(|it| it.kernel().name.as_str())
    }

    /// The kernel `name`, ready to be called.
    ///
    /// # Errors
    /// No such kernel (the error lists those there are), a step of its schedule that is declined,
    /// no code for this processor.
    pub fn kernel(&self, name: &str) -> Result<Kernel, Error> {
        let parsed = self.parsed.kernel(Some(name))?;
        let position = self.kernel_names().position(|it| it == name);
        let cell = position.and_then(|position| self.compiled.get(position));
        let oob = self.settings.oob;
        let compile = || {
            Ok(Arc::new(
                parsed.schedule(&self.plan, &mut ())?.compile_for(oob)?,
            ))
        };
        let compiled = match cell {
            Some(cell) => match cell.get() {
                Some(compiled) => compiled.clone(),
                // Two threads may both compile; the first to end is kept.
                None => {
                    let made = compile()?;
                    cell.get_or_init(|| made).clone()
                }
            },
            None => compile()?,
        };
        Ok(Kernel::new(compiled, self.settings.clone()))
    }

    /// All kernels in the order of the source, ready to be called. Machine code is made for several
    /// of them at once, on all processors.
    ///
    /// # Errors
    /// Those of [`Program::kernel`], of the first kernel that has one.
    ///
    /// ```
    /// let source = "void twice(int n, int x[n]) { for (int i = 0; i < n; i++) x[i] *= 2; }
    ///               void half(int n, int x[n]) { for (int i = 0; i < n; i++) x[i] /= 2; }";
    /// let kernels = strew::Compiler::new().compile("two.c", source)?.kernels()?;
    /// assert_eq!(kernels.iter().map(strew::Kernel::name).collect::<Vec<_>>(), ["twice", "half"]);
    /// # Ok::<(), strew::Error>(())
    /// ```
    pub fn kernels(&self) -> Result<Vec<Kernel>, Error> {
        let names: Vec<_> = self.kernel_names().collect();
        let next = AtomicUsize::new(0);
        let make = || {
            while let Some(name) = names.get(next.fetch_add(1, Ordering::Relaxed)) {
                // What is made is kept, and what fails fails again below, in order.
                drop(self.kernel(name));
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
        std::thread::scope(|scope| {
            for _ in 1..threads.min(names.len()) {
                scope.spawn(make);
            }
            make();
        });
        names.iter().map(|name| self.kernel(name)).collect()
    }

    /// The warnings about the source.
    pub fn warnings(&self) -> &Diagnostics {
        self.parsed.warnings()
    }

    /// The kernels before their schedules.
    pub fn parsed(&self) -> &Parsed {
        &self.parsed
    }
}

/// A kernel that can be called. Cheap to clone, can be shared between threads, keeps its machine
/// code alive.
#[derive(Clone, Debug)]
pub struct Kernel {
    compiled: Arc<Compiled>,
    /// Shared by clones until one of them gets others.
    settings: Arc<Settings>,
}

/// A call that ran to its end.
#[derive(Debug)]
pub(crate) struct Ran<T> {
    /// What came of it.
    pub(crate) outcome: T,
    /// What ran, where it was another version of the kernel.
    version: Option<Arc<Compiled>>,
    /// What did not hold, so that it was the exact version.
    assumption: Option<String>,
}

/// What came of handing arguments to machine code.
enum Attempt<T> {
    /// With what ran, where it was another version of the kernel.
    Ran(T, Option<Arc<Compiled>>),
    /// They do not keep this condition, and nothing happened.
    Broken(String),
}

/// What a call comes to, and the version that ran, if it is another one.
type Versioned<T> = (Result<T, CallError>, Option<Arc<Compiled>>);

/// A way to call machine code.
type Call<T> = fn(
    &strew_jit::Compiled,
    &Runtime,
    &strew_runtime::Settings,
    &mut [Argument<'_>],
) -> Result<T, CallError>;

impl From<Compiled> for Kernel {
    fn from(compiled: Compiled) -> Self {
        let settings = Settings {
            oob: compiled.oob(),
            ..Settings::default()
        };
        Self::new(Arc::new(compiled), settings)
    }
}

impl Kernel {
    pub(crate) fn new(compiled: Arc<Compiled>, settings: Settings) -> Self {
        Self {
            compiled,
            settings: Arc::new(settings),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.ir().name
    }

    /// What it takes: the names of its parameters, those that are inferred left out, and what an
    /// argument must be, in order.
    pub fn parameters(&self) -> Vec<(String, ArgumentKind)> {
        self.passed().to_vec()
    }

    /// The same, borrowed.
    pub(crate) fn passed(&self) -> &[(String, ArgumentKind)] {
        self.compiled.parameters()
    }

    /// Its machine code and how it came about.
    pub fn compiled(&self) -> &Compiled {
        &self.compiled
    }

    /// The same kernel with another schedule; an empty one is the loop as it was written.
    ///
    /// # Errors
    /// A step that is declined.
    pub fn with_schedule(&self, schedule: Schedule) -> Result<Self, Error> {
        let plan = Plan::Explicit(schedule);
        let scheduled = self.compiled.parsed().schedule(&plan, &mut ())?;
        let compiled = scheduled.compile_for(self.settings.oob)?;
        Ok(Self {
            compiled: Arc::new(compiled),
            settings: self.settings.clone(),
        })
    }

    pub(crate) fn settings_mut(&mut self) -> &mut Settings {
        Arc::make_mut(&mut self.settings)
    }

    settings_methods!();

    /// A handle that takes its arguments as a tuple of type `S`; the types are checked here, once.
    ///
    /// # Errors
    /// Another number of parameters, another type, `&[T]` for an array that is written or
    /// `&mut [T]` for one that is not.
    pub fn typed<S: Signature>(&self) -> Result<Typed<S>, Error> {
        Typed::new(self.clone())
    }

    /// The same for a kernel that returns a value of type `R`, which a call then gives.
    ///
    /// # Errors
    /// As for [`typed`](Self::typed), and a kernel that returns nothing or a value of another type.
    pub fn typed_returning<S: Signature, R: ResultType>(&self) -> Result<Typed<S, R>, Error> {
        Typed::new(self.clone())
    }

    /// The type of the value that a call returns, if it returns one.
    pub fn result_type(&self) -> Option<Type> {
        self.ir().result_type()
    }

    /// A call whose arguments are given by name.
    pub fn bind<'a>(&self) -> Bind<'a> {
        Bind::new(self.clone())
    }

    /// The same kernel for calls that update the same elements again, since their keys lie in the
    /// same array.
    pub fn plan<'k, T: ArrayElement>(&self, keys: &'k [T]) -> Planned<'k> {
        Planned::new(self.clone(), keys)
    }

    /// The kernel in its last form before machine code.
    pub(crate) fn ir(&self) -> &strew_affine::Kernel {
        // A schedule can give arrays other dimensions; callers see those that the source gives
        // them.
        self.compiled.parsed().kernel()
    }

    pub(crate) fn argument_error(&self, list: Vec<ArgumentError>) -> Error {
        let kernel = self.name().to_owned();
        Error::Arguments(ArgumentErrors { kernel, list })
    }

    /// Calls the machine code with the arguments of all parameters in order; where they do not keep
    /// what the kernel assumes, that of its exact version. Gives what it returns.
    pub(crate) fn run(&self, arguments: &mut [Argument<'_>]) -> Result<Option<Value>, Error> {
        let ran = self.run_by(strew_jit::Compiled::call, arguments)?;
        Ok(ran.outcome)
    }

    /// The same, and tells how it ran.
    pub(crate) fn run_with_report(&self, arguments: &mut [Argument<'_>]) -> Result<Report, Error> {
        let ran = self.run_by(strew_jit::Compiled::call_with_record, arguments)?;
        Ok(self.report(ran))
    }

    fn run_by<T>(&self, call: Call<T>, arguments: &mut [Argument<'_>]) -> Result<Ran<T>, Error> {
        let mut weaker = self.for_known_keys()?;
        let mut assumption = None;
        loop {
            let kernel = weaker.as_ref().unwrap_or(self);
            let condition = match kernel.attempt(call, arguments)? {
                Attempt::Broken(condition) => condition,
                Attempt::Ran(outcome, version) => {
                    return Ok(Ran {
                        outcome,
                        version: version.or(weaker.map(|it| it.compiled)),
                        assumption,
                    });
                }
            };
            let set = kernel.as_set()?;
            let Some(compiled) = set.as_ref().unwrap_or(&kernel.compiled).weaker() else {
                return Err(self.argument_error(vec![ArgumentError::Assumption { condition }]));
            };
            weaker = Some(self.with(compiled?));
            assumption.get_or_insert(condition);
        }
    }

    fn with(&self, compiled: Arc<Compiled>) -> Self {
        Self {
            compiled,
            settings: self.settings.clone(),
        }
    }

    /// The kernel without the rows that keys went beyond in an earlier call: to run both each time
    /// would take longer. Not in mode `stable`, whose bits must not go by earlier calls.
    fn for_known_keys(&self) -> Result<Option<Self>, Error> {
        let set = self.as_set()?;
        let compiled = set.as_ref().unwrap_or(&self.compiled);
        if !compiled.was_misled() || self.settings.runtime.mode == Mode::Stable {
            return Ok(None);
        }
        let other = compiled.for_other_keys().transpose()?;
        Ok(other.map(|it| self.with(it)))
    }

    /// The version that does with an index out of range what the settings say, if this one does
    /// not.
    fn as_set(&self) -> Result<Option<Arc<Compiled>>, Error> {
        if self.compiled.oob() == self.settings.oob {
            Ok(None)
        } else {
            self.compiled.other().map(Some)
        }
    }

    fn attempt<T>(
        &self,
        call: Call<T>,
        arguments: &mut [Argument<'_>],
    ) -> Result<Attempt<T>, Error> {
        let runtime = self.settings.workers.runtime().map_err(Error::Threads)?;
        let settings = &self.settings.runtime;
        let mut version = self.as_set()?;
        let compiled = version.as_ref().unwrap_or(&self.compiled);
        let mut result = call(compiled.code(), runtime, settings, arguments);
        if lacks_room(&result) {
            let mut as_on_one_thread = settings.clone();
            as_on_one_thread.as_on_one_thread = true;
            result = call(compiled.code(), runtime, &as_on_one_thread, arguments);
        }
        let mut sparing = None;
        if lacks_room(&result)
            && settings.mode != Mode::Stable
            && !compiled.steps().steps().is_empty()
        {
            // Its bits are those of the loop as it was written, or any will do.
            let written = compiled.sparing()?;
            result = call(written.code(), runtime, settings, arguments);
            sparing = Some(written);
        }
        if let Err(CallError::BareFault) = result
            && compiled.checks_disjoint()
        {
            let located = compiled.located()?;
            result = self.first_that_meet(&located, call, arguments)?;
            version = Some(located);
        } else if let Err(CallError::BareFault) = result {
            (result, version) = self.without_schedule(compiled, call, arguments)?;
        }
        let version = sparing.or(version);
        match result {
            Ok(outcome) => Ok(Attempt::Ran(outcome, version)),
            Err(CallError::Fault(strew_jit::Fault {
                kind: FaultKind::Assumption { condition },
                ..
            })) => Ok(Attempt::Broken(condition)),
            Err(other) => Err(in_source(self.call_error(other), version, arguments)),
        }
    }

    /// Runs what does without what the schedule of `compiled`, which met a fault, computes or takes
    /// keys for. The arrays are as they were, so the kernel as it was written meets the same fault,
    /// if it is one.
    fn without_schedule<T>(
        &self,
        compiled: &Compiled,
        call: Call<T>,
        arguments: &mut [Argument<'_>],
    ) -> Result<Versioned<T>, Error> {
        let runtime = self.settings.workers.runtime().map_err(Error::Threads)?;
        let settings = &self.settings.runtime;
        if let Some(other) = compiled.for_other_keys() {
            let other = other?;
            let result = call(other.code(), runtime, settings, arguments);
            if !matches!(result, Err(CallError::BareFault)) {
                compiled.note_misled();
                return Ok((result, Some(other)));
            }
        }
        let written = compiled.written()?;
        let result = call(written.code(), runtime, settings, arguments);
        Ok((result, Some(written)))
    }

    /// Which iterations are the first that write an element twice: the kernel as it was written
    /// checks nothing, but in order the scheduled one tells them.
    fn first_that_meet<T>(
        &self,
        located: &Compiled,
        call: Call<T>,
        arguments: &mut [Argument<'_>],
    ) -> Result<Result<T, CallError>, Error> {
        let runtime = self.settings.workers.runtime().map_err(Error::Threads)?;
        let mut in_order = self.settings.runtime.clone();
        if let Ok(serial) = "serial".parse() {
            in_order.strategy = serial;
        }
        let mut result = call(located.code(), runtime, &in_order, arguments);
        if let Err(CallError::Fault(fault)) = &mut result {
            let written = &located.parsed().kernel().iters;
            let is_known = |name: &str| written.values().any(|it| it.name == name);
            fault.iteration.retain(|(name, _)| is_known(name));
        }
        Ok(result)
    }

    fn call_error(&self, error: CallError) -> Error {
        let argument = |error| self.argument_error(vec![error]);
        match error {
            CallError::Count { found, .. } => argument(ArgumentError::Count {
                expected: self.parameters(),
                found,
            }),
            CallError::Mismatch {
                parameter,
                expected,
                found,
            } => argument(ArgumentError::Type {
                parameter,
                expected,
                found,
            }),
            CallError::Length {
                array,
                extents,
                found,
            } => argument(ArgumentError::Shape {
                extents: self.written_extents(&array),
                parameter: array,
                expected: extents.into_iter().map(i128::from).collect(),
                found: vec![found as u64],
            }),
            CallError::Size { what } => argument(ArgumentError::Size { what }),
            CallError::Fault(fault) => Error::Fault(Box::new(Fault::new(
                self.name(),
                fault,
                self.compiled.source().clone(),
            ))),
            CallError::Failure(failure) => Error::Failure(failure),
            CallError::Compile(error) => Error::Compile(error),
            CallError::BareFault => {
                Error::Defect("a kernel without a schedule does not tell its fault".to_owned())
            }
        }
    }

    fn written_extents(&self, name: &str) -> String {
        let ir = self.ir();
        let mut params = ir.params.iter();
        let found = params.find(|it| name_of(ir, **it) == name);
        let array = found.and_then(|it| representative(ir, *it));
        array.map_or_else(String::new, |array| written_extents(ir, array))
    }

    fn report(&self, ran: Ran<Outcome>) -> Report {
        let compiled = ran.version.as_ref().unwrap_or(&self.compiled);
        let schedule = compiled.steps().steps().iter();
        Report {
            kernel: self.name().to_owned(),
            mode: self.settings.runtime.mode,
            schedule: schedule.map(ToString::to_string).collect(),
            compile: compiled.took(),
            dropped: compiled.dropped().map(str::to_owned),
            sizes: ran.outcome.sizes,
            record: ran.outcome.record,
            returned: ran.outcome.returned,
            assumption: ran.assumption,
        }
    }
}

/// Whether a call ended before it began, since its budget has no room for its local arrays.
fn lacks_room<T>(result: &Result<T, CallError>) -> bool {
    matches!(
        result,
        Err(CallError::Failure(Failure::OverBudget {
            held: Held::Locals,
            ..
        }))
    )
}

/// A fault of `version` in words of the source, if that is the kernel as it was written.
fn in_source(
    mut error: Error,
    version: Option<Arc<Compiled>>,
    arguments: &[Argument<'_>],
) -> Error {
    if let (Error::Fault(fault), Some(version)) = (&mut error, version)
        && version.steps().steps().is_empty()
    {
        let written = version.parsed();
        fault.iteration = written.written_iteration(fault.iterators(), arguments);
    }
    error
}
