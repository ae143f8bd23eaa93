//! A call: the arguments are checked against the kernel, then against the sizes, and only then does generated code run.

use crate::CompileError;
use crate::argument::{Argument, ArgumentKind};
use crate::compiled::{Compiled, Inner};
use crate::facts::{self, Checks, extents};
use crate::form::{Form, Rounding};
use crate::keys::parameter_of;
use crate::proved::checks_for;
use crate::record::{ElementType, RecordLayout};
use crate::written::written_elements;
use smallvec::SmallVec;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Mutex};
use strew_affine::interpret::Fault;
use strew_affine::visit::{allocated_arrays, written_arrays};
use strew_affine::{ArrayId, Kernel, Overflow, Parameter, ScalarId, Value};
use strew_runtime::abi::Slot;
use strew_runtime::{Failure, Record, Region, Runtime, Settings};

/// Why a call did not end as it should. All arrays are then as they were before it.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// Too few or too many arguments.
    Count {
        /// How many the kernel takes.
        expected: usize,
        /// How many there were.
        found: usize,
    },
    /// An argument of the wrong kind.
    Mismatch {
        /// The parameter's name.
        parameter: String,
        /// What the kernel takes.
        expected: ArgumentKind,
        /// What there was.
        found: ArgumentKind,
    },
    /// An array of the wrong length.
    Length {
        /// The array's name.
        array: String,
        /// Its extents with these scalar arguments.
        extents: Vec<i64>,
        /// The number of elements there were.
        found: usize,
    },
    /// A size that strew cannot calculate with: an extent below zero, a bound or subscript that left 64 bits, a divisor in one of
    /// them that is not positive.
    Size {
        /// The array or loop whose size it is.
        what: String,
    },
    /// A fault in the kernel.
    Fault(Fault),
    /// A fault, or sizes as in [`CallError::Size`], met by code that tells no more: see [`Faults::Bare`](crate::Faults::Bare).
    BareFault,
    /// The runtime could not run or finish it.
    Failure(Failure),
    /// The code for these sizes could not be made.
    Compile(CompileError),
}

/// What a call that ended as it should leaves, besides its arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// How it ran.
    pub record: Record,
    /// The result, if the kernel has one.
    pub returned: Option<Value>,
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count { expected, found } => {
                write!(
                    f,
                    "the kernel takes {expected} arguments, there are {found}"
                )
            }
            Self::Mismatch {
                parameter,
                expected,
                found,
            } => write!(
                f,
                "parameter `{parameter}` is {expected}, the argument is {found}"
            ),
            Self::Length {
                array,
                extents,
                found,
            } => write!(
                f,
                "array `{array}` has the shape {extents:?} with these sizes, the argument has {found} elements"
            ),
            Self::Size { what } => write!(
                f,
                "the sizes are beyond what can be calculated with, or below zero: {what}"
            ),
            Self::Fault(fault) => fault.fmt(f),
            Self::BareFault => {
                f.write_str("the kernel met a fault; its code was compiled to tell no more")
            }
            Self::Failure(failure) => failure.fmt(f),
            Self::Compile(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for CallError {}

/// So many parameters take no memory of their own in a call.
const FEW: usize = 8;

/// What every call of one kernel needs, and the verdict on the sizes of the last one.
#[derive(Debug)]
pub(crate) struct ArgumentFacts {
    kinds: Vec<ArgumentKind>,
    /// The integer parameters that bounds, subscripts and extents speak of, with their places among all parameters.
    sizes: Vec<(ScalarId, usize)>,
    /// Whether some parameters are inferred instead of passed.
    infers: bool,
    last: Mutex<Option<Arc<ForSizes>>>,
}

/// What is known when the sizes are.
#[derive(Debug)]
struct ForSizes {
    values: SmallVec<[i64; FEW]>,
    /// Of the arrays that were found to fit them, in the order of all parameters.
    lengths: Vec<usize>,
    checks: Checks,
    /// Whether the call may be stopped and its outputs are then put back.
    may_stop: bool,
    /// The parameters to copy before a run, each with the elements that may be written; all of them where these are not known.
    copied: BTreeMap<usize, Option<Range<usize>>>,
}

impl ArgumentFacts {
    pub(crate) fn of(kernel: &Kernel) -> Self {
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
        Self {
            kinds: kernel.passed_params().map(|it| kind(&it)).collect(),
            sizes: facts::sizes(kernel)
                .into_iter()
                .filter_map(|size| Some((size, place(kernel, Parameter::Scalar(size))?)))
                .collect(),
            infers: kernel.params.iter().any(|it| kernel.is_inferred(*it)),
            last: Mutex::new(None),
        }
    }
}

impl Compiled {
    /// Runs the kernel. Arguments come in the order of its parameters, inferred sizes left out.
    ///
    /// # Errors
    /// Arguments that do not fit, an assumption that does not hold, a fault, or a runtime that could not run it; all arrays are then as they were.
    pub fn call(
        &self,
        runtime: &Runtime,
        settings: &Settings,
        arguments: &mut [Argument<'_>],
    ) -> Result<Outcome, CallError> {
        self.0.check_kinds(arguments)?;
        let arguments = self.0.complete(arguments);
        self.0.check_assumptions(&arguments)?;
        let may_stop = settings.is_put_back_when_stopped();
        let sized = self.0.check_sizes(&arguments, may_stop)?;
        let checks = sized.checks;
        let rounding = Rounding::of(settings.mode);
        let form = Form { checks, rounding };
        let code = self.0.code(form).map_err(CallError::Compile)?;
        let slots: SmallVec<[Slot; FEW]> = arguments.iter().map(Bound::slot).collect();
        let protect = protected(&arguments, &sized);
        let functions = self.0.functions(code, form);
        let code_for_run = strew_runtime::Code {
            entry: code.entry(),
            has_foralls: self.0.facts.has_foralls(),
            on_demand: &functions,
        };
        // SAFETY: the slots are those of the kernel's own parameters, checked for type and length just now; the arrays behind them
        // are borrowed for this call, mutably where the kernel writes them, so nobody else touches them and none of two overlap.
        // The code of `entry` is kept by `self`. It makes every access that `check_sizes` did not prove behind a range check.
        let outcome =
            unsafe { strew_runtime::run(runtime, settings, &code_for_run, &slots, &protect) };
        match outcome {
            Ok(completed) => Ok(Outcome {
                record: completed.record,
                returned: self
                    .0
                    .kernel
                    .result_type()
                    .map(|ty| Value::from_bits(ty, completed.returned)),
            }),
            Err(Failure::Fault(record)) => Err(self.0.stopped_at(&code.sites, &record)),
            Err(Failure::Combiner { note, at }) => Err(self.0.panicked(&code.sites, *note, at)),
            Err(other) => Err(CallError::Failure(other)),
        }
    }

    /// What the arguments of a call must be, in order.
    pub fn argument_kinds(&self) -> &[ArgumentKind] {
        &self.0.arguments.kinds
    }
}

/// What a parameter of the kernel has in a call.
#[derive(Clone, Copy, Debug)]
enum Bound {
    Scalar(Value),
    Array {
        address: u64,
        elements: usize,
        element_bytes: usize,
    },
}

impl Bound {
    fn of(argument: &Argument<'_>) -> Self {
        match argument {
            Argument::Scalar(value) => Self::Scalar(*value),
            Argument::Read(array) => Self::Array {
                address: array.address,
                elements: array.elements,
                element_bytes: array.layout.bytes(),
            },
            Argument::Write(array) => Self::Array {
                address: array.address,
                elements: array.elements,
                element_bytes: array.layout.bytes(),
            },
        }
    }

    fn slot(&self) -> Slot {
        match *self {
            Self::Scalar(value) => Slot {
                bits_or_address: value.bits(),
                elements: 0,
            },
            Self::Array {
                address, elements, ..
            } => Slot {
                bits_or_address: address,
                elements: elements as u64,
            },
        }
    }

    /// The memory of some elements of an array, or of all.
    fn region(&self, elements: Option<Range<usize>>) -> Option<Region> {
        let Self::Array {
            address,
            elements: count,
            element_bytes,
        } = *self
        else {
            return None;
        };
        let elements = elements.unwrap_or(0..count);
        let (first, behind) = (elements.start.min(count), elements.end.min(count));
        Some(Region {
            address: (address as *mut u8).wrapping_add(first * element_bytes),
            bytes: behind.saturating_sub(first) * element_bytes,
        })
    }

    /// How many an array has.
    fn elements(&self) -> usize {
        match self {
            Self::Scalar(_) => 0,
            Self::Array { elements, .. } => *elements,
        }
    }

    fn size(&self) -> Option<i64> {
        match self {
            Self::Scalar(value) => i64::try_from(value.as_integer()?).ok(),
            Self::Array { .. } => None,
        }
    }
}

impl Inner {
    fn check_kinds(&self, arguments: &[Argument<'_>]) -> Result<(), CallError> {
        let kinds = &self.arguments.kinds;
        if kinds.len() != arguments.len() {
            return Err(CallError::Count {
                expected: kinds.len(),
                found: arguments.len(),
            });
        }
        for (position, (expected, argument)) in kinds.iter().zip(arguments).enumerate() {
            if !argument.is(expected) {
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
        match self.kernel.passed_params().nth(position) {
            Some(Parameter::Scalar(scalar)) => self.kernel.scalars[scalar].name.clone(),
            Some(Parameter::Array(array)) => self.kernel.arrays[array].name.clone(),
            Some(Parameter::Record(record)) => self.kernel.records[record].name.clone(),
            None => String::new(),
        }
    }

    /// What every parameter has, inferred sizes included.
    fn complete(&self, arguments: &[Argument<'_>]) -> SmallVec<[Bound; FEW]> {
        let kernel = &self.kernel;
        if !self.arguments.infers {
            return arguments.iter().map(Bound::of).collect();
        }
        let mut passed = arguments.iter().map(Bound::of);
        let none = Bound::Scalar(Value::i64(0));
        let params = kernel.params.iter();
        let mut bound: SmallVec<[Bound; FEW]> = params
            .map(|param| match kernel.is_inferred(*param) {
                true => none,
                false => passed.next().unwrap_or(none),
            })
            .collect();
        let of = |param| bound.get(place(kernel, param)?);
        let elements = |array| match of(parameter_of(kernel, array)) {
            Some(Bound::Array { elements, .. }) => {
                let per_record = kernel.arrays[array].elements_per_record();
                (*elements as u64).saturating_mul(per_record)
            }
            _ => 0,
        };
        let value = |scalar| of(Parameter::Scalar(scalar)).and_then(Bound::size);
        for (scalar, size) in kernel.inferred_sizes(&elements, &value) {
            let position = place(kernel, Parameter::Scalar(scalar));
            if let Some(slot) = position.and_then(|position| bound.get_mut(position)) {
                *slot = Bound::Scalar(Value::i64(size));
            }
        }
        bound
    }

    /// Before anything is computed from the sizes: an assumption is what makes that possible.
    fn check_assumptions(&self, arguments: &[Bound]) -> Result<(), CallError> {
        if self.kernel.assumptions.is_empty() {
            return Ok(());
        }
        let value = |scalar: ScalarId| {
            let position = place(&self.kernel, Parameter::Scalar(scalar))?;
            arguments.get(position)?.size()
        };
        match self.kernel.broken_assumption(&value) {
            None => Ok(()),
            Some(condition) => Err(CallError::Fault(Fault::assumption(&self.kernel, condition))),
        }
    }

    /// Checks every array's length and says which code is safe with these sizes. All of it follows from the integer arguments and the
    /// lengths, so that of the last call is used again when they are the same.
    fn check_sizes(&self, arguments: &[Bound], may_stop: bool) -> Result<Arc<ForSizes>, CallError> {
        let values = self.size_values(arguments)?;
        let mut last = match self.arguments.last.lock() {
            Ok(last) => last,
            Err(poisoned) => poisoned.into_inner(),
        };
        let lengths = arguments.iter().map(Bound::elements);
        let is_known = |it: &&Arc<ForSizes>| {
            it.values == values
                && it.may_stop == may_stop
                && lengths.clone().eq(it.lengths.iter().copied())
        };
        if let Some(known) = last.as_ref().filter(is_known) {
            return Ok(known.clone());
        }
        let value_of = |scalar: ScalarId| {
            let mut known = self.arguments.sizes.iter().zip(&values);
            let found = known.find(|((it, _), _)| *it == scalar);
            found.map_or(0, |(_, value)| *value)
        };
        for (param, argument) in self.kernel.params.iter().zip(arguments) {
            let array = match param {
                Parameter::Scalar(_) => None,
                Parameter::Array(array) => Some(array),
                // All fields have the extents of the records in front of their own.
                Parameter::Record(record) => self.kernel.records[*record].fields.first(),
            };
            if let (Some(array), Bound::Array { elements, .. }) = (array, argument) {
                self.check_length(*array, *elements, &value_of)?;
            }
        }
        for array in allocated_arrays(&self.kernel.body) {
            self.element_count(array, &value_of)?;
        }
        let checks = checks_for(&self.kernel, &value_of);
        let sized = Arc::new(ForSizes {
            checks,
            may_stop,
            lengths: lengths.collect(),
            copied: self.copied((checks, may_stop), &value_of),
            values,
        });
        *last = Some(sized.clone());
        Ok(sized)
    }

    /// What is copied before a run: of an array what may be written, of records all.
    fn copied(
        &self,
        (checks, may_stop): (Checks, bool),
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> BTreeMap<usize, Option<Range<usize>>> {
        let copied = (self.facts).copied_before_run(&self.kernel, checks, may_stop);
        let copied = copied.into_iter().filter_map(|array| {
            let written = match self.kernel.arrays[array].field {
                Some(_) => None,
                None => written_elements(&self.kernel, array, value_of),
            };
            let position = place(&self.kernel, parameter_of(&self.kernel, array))?;
            Some((position, written))
        });
        copied.collect()
    }

    /// The sizes; those that no affine expression can speak of, above the largest `i64`, are refused.
    fn size_values(&self, arguments: &[Bound]) -> Result<SmallVec<[i64; FEW]>, CallError> {
        let sizes = self.arguments.sizes.iter();
        let values = sizes.map(|(scalar, position)| match arguments.get(*position) {
            Some(bound @ Bound::Scalar(_)) => bound.size().ok_or_else(|| CallError::Size {
                what: format!("parameter `{}`", self.kernel.scalars[*scalar].name),
            }),
            _ => Ok(0),
        });
        values.collect()
    }

    fn check_length(
        &self,
        array: ArrayId,
        found: usize,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Result<(), CallError> {
        let (mut extents, elements) = self.element_count(array, value_of)?;
        let declared = &self.kernel.arrays[array];
        let per_record = usize::try_from(declared.elements_per_record()).ok();
        let present = per_record.and_then(|it| it.checked_mul(found));
        if present.is_some() && usize::try_from(elements).ok() == present {
            Ok(())
        } else {
            extents.truncate(declared.split_extents().0.len());
            Err(CallError::Length {
                array: self.known_name(array),
                extents,
                found,
            })
        }
    }

    /// What the caller knows the array by: a field by its record.
    fn known_name(&self, array: ArrayId) -> String {
        let array = &self.kernel.arrays[array];
        let record = array.field.map(|it| &self.kernel.records[it.record].name);
        record.unwrap_or(&array.name).clone()
    }

    /// The extents of `array` and the number of its elements.
    fn element_count(
        &self,
        array: ArrayId,
        value_of: &impl Fn(ScalarId) -> i64,
    ) -> Result<(Vec<i64>, i64), CallError> {
        let too_large = |_: Overflow| CallError::Size {
            what: format!("array `{}`", self.kernel.arrays[array].name),
        };
        let extents = extents(&self.kernel, array, value_of).map_err(too_large)?;
        let elements = extents
            .iter()
            .try_fold(1_i64, |product, extent| product.checked_mul(*extent))
            .ok_or(Overflow)
            .map_err(too_large)?;
        Ok((extents, elements))
    }
}

/// The memory that is copied before a run.
fn protected(arguments: &[Bound], sized: &ForSizes) -> Vec<Region> {
    let copied = sized.copied.iter();
    let regions =
        copied.filter_map(|(position, written)| arguments.get(*position)?.region(written.clone()));
    regions.collect()
}

/// The place of `param` among the parameters of `kernel`.
fn place(kernel: &Kernel, param: Parameter) -> Option<usize> {
    kernel.params.iter().position(|it| *it == param)
}
