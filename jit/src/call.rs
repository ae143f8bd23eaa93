//! A call: the arguments are checked against the kernel, then against the sizes, and only then does
//! generated code run.

use crate::argument::{Argument, ArgumentKind};
use crate::call_error::CallError;
use crate::compiled::{Compiled, Inner};
use crate::facts::{self, Checks};
use crate::form::{Form, Rounding};
use crate::keys::parameter_of;
use crate::proved::checks_for;
use crate::record::{ElementType, RecordLayout};
use crate::rows::Look;
use crate::versions::Version;
use crate::written::written_elements;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use std::time::Instant;
use strew_affine::interpret::Fault;
use strew_affine::visit::{allocated_arrays, written_arrays};
use strew_affine::{ArrayId, Kernel, Parameter, ScalarId, Value};
use strew_runtime::abi::Slot;
use strew_runtime::{Failure, Local, Record, Region, Runtime, Settings};

/// What a call that ended as it should leaves, besides its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ran.
    pub record: Record,
    /// The result, if the kernel has one.
    pub returned: Option<Value>,
    /// The sizes that the code was made for, each by its name, where it was for these alone.
    pub sizes: Vec<(String, i64)>,
}

/// To copy so many bytes takes less than to have memory for local arrays beforehand, for each of
/// many threads, might.
const WORTH_MEMORY: usize = 1 << 20;

/// So many parameters take no memory of their own in a call.
const FEW: usize = 8;

/// What every call of one kernel needs, and the verdict on the sizes of the last one.
#[derive(Debug)]
pub(crate) struct ArgumentFacts {
    kinds: Vec<ArgumentKind>,
    /// Of each parameter.
    roles: Vec<Role>,
    /// Whether some parameters are inferred instead of passed.
    infers: bool,
    last: Mutex<Option<ForSizes>>,
}

/// What a parameter has to do with sizes.
#[derive(Clone, Copy, Debug)]
enum Role {
    /// An integer that bounds, subscripts or extents speak of.
    Size(ScalarId),
    /// Elements of so many bytes.
    Array { element_bytes: usize },
    /// Any other scalar.
    Value,
}

/// What is known when the sizes are.
#[derive(Debug)]
struct ForSizes {
    /// What the slots of all parameters say about sizes.
    sizes: Vec<u64>,
    checks: Checks,
    /// Whether the call may be stopped and its outputs are then put back.
    may_stop: bool,
    /// The parameters to copy before a run, each with the elements that may be written; all of them
    /// where these are not known.
    copied: Vec<(usize, Option<Range<usize>>)>,
    /// Local arrays for which there is memory before a run.
    locals: Arc<[(ArrayId, Local)]>,
    /// The arrays whose elements have to be in range for nothing to fail.
    looks: Option<Vec<Look>>,
    /// Code for these sizes.
    version: Option<Arc<Version>>,
}

/// What a call may do whose sizes were checked.
struct Admitted {
    checks: Checks,
    /// The memory that is copied before the run.
    protect: SmallVec<[Region; 4]>,
    locals: Arc<[(ArrayId, Local)]>,
    version: Option<Arc<Version>>,
}

impl ArgumentFacts {
    pub(crate) fn of(kernel: &Kernel) -> Self {
        let sizes = facts::sizes(kernel);
        let role = |param: &Parameter| match *param {
            Parameter::Scalar(scalar) if sizes.contains(&scalar) => Role::Size(scalar),
            Parameter::Scalar(_) => Role::Value,
            Parameter::Array(_) | Parameter::Record(_) => Role::Array {
                element_bytes: element_bytes(kernel, *param),
            },
        };
        Self {
            kinds: ArgumentKind::all_of(kernel),
            roles: kernel.params.iter().map(role).collect(),
            infers: kernel.params.iter().any(|it| kernel.is_inferred(*it)),
            last: Mutex::new(None),
        }
    }
}

impl ArgumentKind {
    /// What callers pass for the parameters of `kernel`, in order.
    pub fn all_of(kernel: &Kernel) -> Vec<Self> {
        let written = written_arrays(kernel);
        let array = |is_written: bool, element: ElementType| match is_written {
            true => ArgumentKind::Write(element),
            false => ArgumentKind::Read(element),
        };
        let kind = |param: &Parameter| match *param {
            Parameter::Scalar(scalar) => ArgumentKind::Scalar(kernel.scalars[scalar].ty),
            Parameter::Array(it) => array(written.contains(&it), kernel.arrays[it].element.into()),
            Parameter::Record(record) => {
                let mut fields = kernel.records[record].fields.iter();
                let is_written = fields.any(|field| written.contains(field));
                array(
                    is_written,
                    ElementType::Record(RecordLayout::of(kernel, record)),
                )
            }
        };
        kernel.passed_params().map(|it| kind(&it)).collect()
    }
}

/// The distance in bytes from one element of a parameter to the next.
fn element_bytes(kernel: &Kernel, param: Parameter) -> usize {
    match param {
        Parameter::Scalar(_) => 0,
        Parameter::Array(array) => kernel.arrays[array].element.bytes() as usize,
        Parameter::Record(record) => kernel.records[record].bytes as usize,
    }
}

impl Role {
    /// What the slot of the parameter says about sizes.
    fn size(self, slot: &Slot) -> u64 {
        match self {
            Self::Size(_) => slot.bits_or_address,
            Self::Array { .. } => slot.elements,
            Self::Value => 0,
        }
    }
}

impl ForSizes {
    /// Whether `slots`, of parameters with these roles, say the same about sizes.
    fn fits(&self, roles: &[Role], slots: &[Slot]) -> bool {
        let mut said = roles.iter().zip(slots).zip(&self.sizes);
        said.all(|((role, slot), size)| role.size(slot) == *size)
    }
}

/// How the runtime runs a kernel, with or without a record: one of its functions that ask of their
/// callers what [`strew_runtime::run`] does.
type Run<T> = unsafe fn(
    &Runtime,
    &Settings,
    &strew_runtime::Code<'_>,
    &[Slot],
    &[Region],
) -> Result<T, Failure>;

impl Compiled {
    /// Runs the kernel, and gives its result, if it has one. Arguments come in the order of its
    /// parameters, inferred sizes left out.
    ///
    /// # Errors
    /// Arguments that do not fit, an assumption that does not hold, a fault, or a runtime that
    /// could not run it; all arrays are then as they were.
    pub fn call(
        &self,
        runtime: &Runtime,
        settings: &Settings,
        arguments: &mut [Argument<'_>],
    ) -> Result<Option<Value>, CallError> {
        let run = strew_runtime::run;
        let (bits, _) = self.0.call(runtime, settings, arguments, run)?;
        Ok(self.0.returned(bits))
    }

    /// Runs the kernel as [`call`](Self::call) does, and tells how it ran.
    ///
    /// # Errors
    /// Those of [`call`](Self::call).
    pub fn call_with_record(
        &self,
        runtime: &Runtime,
        settings: &Settings,
        arguments: &mut [Argument<'_>],
    ) -> Result<Outcome, CallError> {
        let run = strew_runtime::run_with_record;
        let (completed, version) = self.0.call(runtime, settings, arguments, run)?;
        let sizes = version.map(|it| it.sizes(&self.0.forms.kernel));
        Ok(Outcome {
            returned: self.0.returned(completed.returned),
            record: completed.record,
            sizes: sizes.unwrap_or_default(),
        })
    }

    /// What the arguments of a call must be, in order.
    pub fn argument_kinds(&self) -> &[ArgumentKind] {
        &self.0.arguments.kinds
    }
}

impl Inner {
    /// Also tells which code for these sizes alone ran, if any did.
    fn call<T>(
        &self,
        runtime: &Runtime,
        settings: &Settings,
        arguments: &mut [Argument<'_>],
        run: Run<T>,
    ) -> Result<(T, Option<Arc<Version>>), CallError> {
        self.check_kinds(arguments)?;
        let slots = self.slots(arguments);
        self.check_assumptions(&slots)?;
        let may_stop = settings.is_put_back_when_stopped();
        let Admitted {
            checks,
            protect,
            locals,
            version,
        } = self.check_sizes(&slots, may_stop)?;
        let rounding = Rounding::of(settings.mode);
        let form = Form { checks, rounding };
        let own = (version.as_deref()).and_then(|it| it.code(&self.forms, form));
        let (forms, code) = match own {
            Some(own) => own,
            None => {
                let code = self.forms.code(form).map_err(CallError::Compile)?;
                (&self.forms, code)
            }
        };
        // Where keys come from is the same in both, and values that are known decide, too.
        let functions = forms.functions(code, form, &self.forms);
        let local = |array| locals.iter().find(|(it, _)| *it == array);
        let locals = (forms.facts.storage())
            .on_loan(|it| local(it).map_or_else(Local::default, |(_, local)| *local));
        let code_for_run = strew_runtime::Code {
            entry: code.entry(),
            has_foralls: forms.facts.has_foralls(),
            locals: &locals,
            on_demand: &functions,
        };
        let watched = version.as_ref().filter(|it| it.is_watched(&self.forms));
        let start = watched.map(|it| (it, Instant::now()));
        // SAFETY: the slots are those of the kernel's own parameters, checked for type and length
        // just now; the arrays behind them are borrowed for this call, mutably where the kernel
        // writes them, so nobody else touches them and none of two overlap. The code of `entry` is
        // kept by `self` and `version`. It makes every access that `check_sizes` did not prove
        // behind a range check.
        let outcome = unsafe { run(runtime, settings, &code_for_run, &slots, &protect) };
        if let Some((version, start)) = start {
            version.took(start.elapsed());
        }
        let outcome = outcome.map_err(|failure| match failure {
            Failure::Fault(record) => self.stopped_at(&code.sites, &record),
            Failure::Combiner { note, at } => self.panicked(&code.sites, *note, at),
            other => CallError::Failure(other),
        });
        let is_own = own.is_some();
        Ok((outcome?, version.filter(|_| is_own)))
    }

    fn returned(&self, bits: u64) -> Option<Value> {
        let ty = self.forms.kernel.result_type()?;
        Some(Value::from_bits(ty, bits))
    }

    fn check_kinds(&self, arguments: &[Argument<'_>]) -> Result<(), CallError> {
        let kinds = &self.arguments.kinds;
        if kinds.len() != arguments.len() {
            return Err(CallError::Count {
                expected: kinds.len(),
                found: arguments.len(),
            });
        }
        for (position, (expected, argument)) in kinds.iter().zip(arguments).enumerate() {
            if !argument.serves_as(expected) {
                return Err(CallError::Mismatch {
                    parameter: self.parameter_name(position),
                    expected: expected.clone(),
                    found: argument.kind(),
                });
            }
        }
        Ok(())
    }

    fn parameter_name(&self, position: usize) -> String {
        match self.forms.kernel.passed_params().nth(position) {
            Some(Parameter::Scalar(scalar)) => self.forms.kernel.scalars[scalar].name.clone(),
            Some(Parameter::Array(array)) => self.forms.kernel.arrays[array].name.clone(),
            Some(Parameter::Record(record)) => self.forms.kernel.records[record].name.clone(),
            None => String::new(),
        }
    }

    /// What generated code gets for every parameter, inferred sizes included.
    fn slots(&self, arguments: &[Argument<'_>]) -> SmallVec<[Slot; FEW]> {
        let mut slots = SmallVec::new();
        if !self.arguments.infers {
            for argument in arguments {
                slots.push(argument.slot());
            }
            return slots;
        }
        let kernel = &self.forms.kernel;
        let mut passed = arguments.iter().map(Argument::slot);
        let params = kernel.params.iter();
        slots.extend(params.map(|param| match kernel.is_inferred(*param) {
            true => Slot::default(),
            false => passed.next().unwrap_or_default(),
        }));
        let elements = |array| {
            let position = place(kernel, parameter_of(kernel, array));
            let slot = position.and_then(|position| slots.get(position));
            let per_record = kernel.arrays[array].elements_per_record();
            slot.map_or(0, |slot| slot.elements.saturating_mul(per_record))
        };
        let inferred = kernel.inferred_sizes(&elements, &|scalar| self.size_of(&slots, scalar));
        for (scalar, size) in inferred {
            let position = place(kernel, Parameter::Scalar(scalar));
            if let Some(slot) = position.and_then(|position| slots.get_mut(position)) {
                slot.bits_or_address = Value::i64(size).bits();
            }
        }
        slots
    }

    /// The value of an integer parameter; `None` for one that no affine expression can speak of,
    /// above the largest `i64`.
    fn size_of(&self, slots: &[Slot], scalar: ScalarId) -> Option<i64> {
        let position = place(&self.forms.kernel, Parameter::Scalar(scalar))?;
        let bits = slots.get(position)?.bits_or_address;
        let value = Value::from_bits(self.forms.kernel.scalars[scalar].ty, bits);
        i64::try_from(value.as_integer()?).ok()
    }

    /// Before anything is computed from the sizes: an assumption is what makes that possible.
    fn check_assumptions(&self, slots: &[Slot]) -> Result<(), CallError> {
        if self.forms.kernel.assumptions.is_empty() {
            return Ok(());
        }
        let value = |scalar| self.size_of(slots, scalar);
        match self.forms.kernel.broken_assumption(&value) {
            None => Ok(()),
            Some(condition) => Err(CallError::Fault(Fault::assumption(
                &self.forms.kernel,
                condition,
            ))),
        }
    }

    /// Checks every array's length and says which code is safe with these sizes. All of it follows
    /// from the integer arguments and the lengths, so that of the last call is used again when they
    /// are the same.
    fn check_sizes(&self, slots: &[Slot], may_stop: bool) -> Result<Admitted, CallError> {
        let roles = &self.arguments.roles;
        let mut last = match self.arguments.last.lock() {
            Ok(last) => last,
            Err(poisoned) => poisoned.into_inner(),
        };
        let is_same = |it: &&mut ForSizes| it.may_stop == may_stop && it.fits(roles, slots);
        if let Some(known) = last.as_mut().filter(is_same) {
            return Ok(self.admitted(slots, known));
        }
        let sized = self.for_sizes(slots, may_stop)?;
        Ok(self.admitted(slots, last.insert(sized)))
    }

    /// The sizes; those that no affine expression can speak of are refused.
    fn size_values(&self, slots: &[Slot]) -> Result<BTreeMap<ScalarId, i64>, CallError> {
        let sizes = self.arguments.roles.iter().filter_map(|role| match role {
            Role::Size(scalar) => Some(*scalar),
            Role::Array { .. } | Role::Value => None,
        });
        let values = sizes.map(|scalar| match self.size_of(slots, scalar) {
            Some(value) => Ok((scalar, value)),
            None => Err(CallError::Size {
                what: format!("parameter `{}`", self.forms.kernel.scalars[scalar].name),
            }),
        });
        values.collect()
    }

    fn for_sizes(&self, slots: &[Slot], may_stop: bool) -> Result<ForSizes, CallError> {
        let values = self.size_values(slots)?;
        let value_of = |scalar: ScalarId| values.get(&scalar).copied().unwrap_or(0);
        for (param, slot) in self.forms.kernel.params.iter().zip(slots) {
            let array = match param {
                Parameter::Scalar(_) => None,
                Parameter::Array(array) => Some(array),
                // All fields have the extents of the records in front of their own.
                Parameter::Record(record) => self.forms.kernel.records[*record].fields.first(),
            };
            if let Some(array) = array {
                self.check_length(*array, slot.elements as usize, &value_of)?;
            }
        }
        for array in allocated_arrays(&self.forms.kernel.body) {
            self.element_count(array, &value_of)?;
        }
        let checks = checks_for(&self.forms.kernel, &self.forms.facts, &value_of);
        let roles = self.arguments.roles.iter();
        let bytes = roles.clone().zip(slots).map(|(role, slot)| match role {
            Role::Array { element_bytes } => slot.elements.saturating_mul(*element_bytes as u64),
            Role::Size(_) | Role::Value => 0,
        });
        let bytes = bytes.fold(0, u64::saturating_add);
        let mut copied = self.copied((checks, may_stop), &value_of);
        let mut locals = Vec::new();
        if self.forms.facts.copies_for_want_of_memory(checks, may_stop) {
            let bytes = self.regions(&copied, slots).map(|it| it.bytes);
            if bytes.fold(0, usize::saturating_add) > WORTH_MEMORY {
                copied.clear();
                locals = self.locals(&value_of)?;
            }
        }
        Ok(ForSizes {
            sizes: roles
                .zip(slots)
                .map(|(role, slot)| role.size(slot))
                .collect(),
            checks,
            may_stop,
            copied,
            locals: locals.into(),
            looks: self.looks((checks, may_stop), &value_of),
            // Other sizes may fail in what known numbers make simpler.
            version: (checks == Checks::Computed)
                .then(|| (self.versions).find(|it| values.get(&it).copied(), bytes))
                .flatten(),
        })
    }

    /// The arrays to look at before a run, if nothing can fail where their elements are in range.
    fn looks(
        &self,
        (checks, may_stop): (Checks, bool),
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Option<Vec<Look>> {
        let kernel = &self.forms.kernel;
        let bounded = self.forms.facts.bounded()?;
        let position_of = |array| place(kernel, parameter_of(kernel, array));
        let may = checks == Checks::Computed && !may_stop;
        may.then(|| Look::all(kernel, bounded, position_of, value_of))?
    }

    /// The local arrays that a run can have memory for beforehand.
    fn locals(
        &self,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Result<Vec<(ArrayId, Local)>, CallError> {
        let wanted = self.forms.facts.storage().wanted(value_of).into_iter();
        let locals = wanted.map(|(array, most)| {
            let (_, elements) = self.element_count(array, value_of)?;
            let bytes = u64::from(self.forms.kernel.arrays[array].element.bytes());
            let bytes = elements.unsigned_abs().saturating_mul(bytes);
            Ok((array, Local { bytes, most }))
        });
        locals.collect()
    }

    /// The memory of what is `copied`.
    fn regions(
        &self,
        copied: &[(usize, Option<Range<usize>>)],
        slots: &[Slot],
    ) -> impl Iterator<Item = Region> {
        copied.iter().filter_map(|(position, written)| {
            let role = self.arguments.roles.get(*position)?;
            match (role, slots.get(*position)?) {
                (Role::Array { element_bytes }, slot) => {
                    Some(region(slot, *element_bytes, written))
                }
                _ => None,
            }
        })
    }

    /// What is copied before a run: of an array what may be written, of records all.
    fn copied(
        &self,
        (checks, may_stop): (Checks, bool),
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Vec<(usize, Option<Range<usize>>)> {
        let copied = (self.forms.facts).copied_before_run(&self.forms.kernel, checks, may_stop);
        let copied = copied.into_iter().filter_map(|array| {
            let written = match self.forms.kernel.arrays[array].field {
                Some(_) => None,
                None => written_elements(&self.forms.kernel, array, value_of),
            };
            let position = place(&self.forms.kernel, parameter_of(&self.forms.kernel, array))?;
            Some((position, written))
        });
        // Several fields of one record are one parameter.
        let copied: BTreeMap<_, _> = copied.collect();
        copied.into_iter().collect()
    }

    fn admitted(&self, slots: &[Slot], sized: &ForSizes) -> Admitted {
        let mut protect: SmallVec<[Region; 4]> = self.regions(&sized.copied, slots).collect();
        let looks = sized.looks.as_ref().filter(|_| !protect.is_empty());
        if looks.is_some_and(|it| pays(it, &protect, slots) && are_in_range(it, slots)) {
            protect.clear();
        }
        Admitted {
            checks: sized.checks,
            protect,
            locals: Arc::clone(&sized.locals),
            version: sized.version.clone(),
        }
    }
}

/// Whether fewer bytes of keys are looked at than would be copied: pointers have one element for
/// each row, and are worth a look in any case.
fn pays(looks: &[Look], copied: &[Region], slots: &[Slot]) -> bool {
    let looked = looks.iter().map(|it| it.bytes_of_keys(slots));
    let copied = copied.iter().map(|it| it.bytes as u64);
    looked.fold(0, u64::saturating_add) <= copied.fold(0, u64::saturating_add)
}

fn are_in_range(looks: &[Look], slots: &[Slot]) -> bool {
    looks.iter().all(|it| it.is_in_range(slots))
}

/// The memory of some elements of an array, or of all.
fn region(array: &Slot, element_bytes: usize, elements: &Option<Range<usize>>) -> Region {
    let count = array.elements as usize;
    let elements = elements.clone().unwrap_or(0..count);
    let (first, behind) = (elements.start.min(count), elements.end.min(count));
    Region {
        address: (array.bits_or_address as *mut u8).wrapping_add(first * element_bytes),
        bytes: behind.saturating_sub(first) * element_bytes,
    }
}

/// The place of `param` among the parameters of `kernel`.
fn place(kernel: &Kernel, param: Parameter) -> Option<usize> {
    kernel.params.iter().position(|it| *it == param)
}
