//! Runs a kernel in the interpreter and as machine code, on arguments of any type.

use std::num::NonZeroUsize;
use strew_affine::interpret::{self, ForallOrder, interpret, interpret_skipping};
use strew_affine::verify::{Verified, verify};
use strew_affine::{Type, Value, text};
use strew_jit::{
    Argument, ArgumentKind, ArrayMut, ArrayRef, CallError, Compiled, Element, ElementType, Faults,
    FieldLayout, Options, PlatformMath, Records, Specialize, Target, compile,
};
use strew_runtime::{Runtime, Settings};

pub(crate) const FUEL: u64 = 100_000;

/// How many elements lie on each side of an array.
const FENCE: usize = 16;

/// What stands for a fault where something affine left 64 bits.
pub(crate) const BEYOND: &str = "beyond 64 bits";

/// What stands for a fault where the interpreter gave up.
pub(crate) const ENDLESS: &str = "endless";

/// What stands for any fault where code does not tell which.
pub(crate) const UNTOLD: &str = "a fault";

/// The cells of an array as a slice of the right type, which is what compiled code takes.
#[derive(Clone, Debug)]
pub(crate) enum Cells {
    I8(Vec<i8>),
    I16(Vec<i16>),
    I32(Vec<i32>),
    I64(Vec<i64>),
    U8(Vec<u8>),
    U16(Vec<u16>),
    U32(Vec<u32>),
    U64(Vec<u64>),
    F32(Vec<f32>),
    F64(Vec<f64>),
    Bool(Vec<bool>),
}

/// Runs `$body` with `$cells` bound to the vector inside.
macro_rules! on_cells {
    ($value:expr, $cells:ident => $body:expr) => {
        match $value {
            Cells::I8($cells) => $body,
            Cells::I16($cells) => $body,
            Cells::I32($cells) => $body,
            Cells::I64($cells) => $body,
            Cells::U8($cells) => $body,
            Cells::U16($cells) => $body,
            Cells::U32($cells) => $body,
            Cells::U64($cells) => $body,
            Cells::F32($cells) => $body,
            Cells::F64($cells) => $body,
            Cells::Bool($cells) => $body,
        }
    };
}

impl Cells {
    pub(crate) fn of(ty: Type, values: &[Value]) -> Self {
        let bits = values.iter().map(|it| it.bits());
        match ty {
            Type::I8 => Self::I8(bits.map(|it| it as i8).collect()),
            Type::I16 => Self::I16(bits.map(|it| it as i16).collect()),
            Type::I32 => Self::I32(bits.map(|it| it as i32).collect()),
            Type::I64 => Self::I64(bits.map(|it| it as i64).collect()),
            Type::U8 => Self::U8(bits.map(|it| it as u8).collect()),
            Type::U16 => Self::U16(bits.map(|it| it as u16).collect()),
            Type::U32 => Self::U32(bits.map(|it| it as u32).collect()),
            Type::F32 => Self::F32(bits.map(|it| f32::from_bits(it as u32)).collect()),
            Type::F64 => Self::F64(bits.map(f64::from_bits).collect()),
            Type::U64 => Self::U64(bits.collect()),
            Type::Bool => Self::Bool(bits.map(|it| it != 0).collect()),
        }
    }

    fn values(&self) -> Vec<Value> {
        on_cells!(self, cells => cells.iter().map(|it| it.to_value()).collect())
    }

    /// With zeros on both sides, which nobody may touch.
    fn fenced(&self) -> Self {
        let mut fenced = self.clone();
        on_cells!(&mut fenced, cells => {
            cells.resize(cells.len() + 2 * FENCE, Default::default());
            cells.rotate_right(FENCE);
        });
        fenced
    }

    /// Without the zeros, if they are still there.
    fn unfenced(mut self) -> Option<Self> {
        let untouched = on_cells!(&mut self, cells => {
            let after = cells.split_off(cells.len() - FENCE);
            let before: Vec<_> = cells.drain(..FENCE).collect();
            before.iter().chain(&after).all(|it| *it == Default::default())
        });
        untouched.then_some(self)
    }

    /// What is between the fences.
    fn argument(&mut self, kind: ArgumentKind) -> Argument<'_> {
        on_cells!(self, cells => {
            let end = cells.len() - FENCE;
            let cells = &mut cells[FENCE..end];
            match kind {
                ArgumentKind::Write(_) => Argument::Write(ArrayMut::new(cells)),
                _ => Argument::Read(ArrayRef::new(cells)),
            }
        })
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Given {
    Scalar(Value),
    Array(Cells),
    Records(Records),
}

impl Given {
    fn fenced(&self) -> Self {
        match self {
            Self::Scalar(value) => Self::Scalar(*value),
            Self::Array(cells) => Self::Array(cells.fenced()),
            Self::Records(records) => Self::Records(records.clone()),
        }
    }

    fn unfenced(self) -> Option<Self> {
        match self {
            Self::Scalar(_) | Self::Records(_) => Some(self),
            Self::Array(cells) => cells.unfenced().map(Self::Array),
        }
    }

    fn argument(&mut self, kind: ArgumentKind) -> Argument<'_> {
        match self {
            Self::Scalar(value) => Argument::Scalar(*value),
            Self::Array(cells) => cells.argument(kind),
            Self::Records(records) => match kind {
                ArgumentKind::Write(_) => Argument::Write(records.as_array_mut()),
                _ => Argument::Read(records.as_array()),
            },
        }
    }
}

/// The values of every field of `records`, in the order of their offsets.
fn fields(records: &Records) -> Vec<Vec<Value>> {
    let of = |field: &FieldLayout| {
        let elements = 0..records.len() * field.elements();
        elements.map(|index| records.get(index, field)).collect()
    };
    let fields = records.layout().fields();
    fields.iter().map(of).collect()
}

/// `elements` records for the first parameter of `kernel` that takes some, with `value` for every
/// field.
pub(crate) fn records(
    kernel: &Verified,
    elements: usize,
    mut value: impl FnMut(&FieldLayout, usize) -> Value,
) -> Given {
    let code = compile(kernel, &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    let layout = code.argument_kinds().iter().find_map(|kind| match kind {
        ArgumentKind::Read(ElementType::Record(layout))
        | ArgumentKind::Write(ElementType::Record(layout)) => Some(layout.clone()),
        _ => None,
    });
    let layout = layout.unwrap_or_else(|| panic!("no parameter takes records"));
    let records = Records::zeros(layout.clone(), elements);
    let mut records = records.unwrap_or_else(|| panic!("no memory for records"));
    for field in layout.fields() {
        for index in 0..elements * field.elements() {
            records.set(index, field, value(field, index));
        }
    }
    Given::Records(records)
}

pub(crate) fn scalar<T: Element>(value: T) -> Given {
    Given::Scalar(value.to_value())
}

pub(crate) fn array<T: Element>(values: &[T]) -> Given {
    let values: Vec<_> = values.iter().map(|it| it.to_value()).collect();
    Given::Array(Cells::of(T::TYPE, &values))
}

pub(crate) fn kernel(source: &str) -> Verified {
    let mut kernels = text::parse(source).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    verify(kernels.remove(0)).unwrap_or_else(|violations| panic!("{source}\n{violations:?}"))
}

/// All arrays after the call and, if there is one, the result as one more, or the fault in words
/// and the iterators at it.
pub(crate) type Outcome = Result<Vec<Vec<Value>>, (String, Vec<(String, i64)>)>;

pub(crate) fn interpreted(kernel: &Verified, given: &[Given], order: ForallOrder) -> Outcome {
    let mut arguments = interpreter_arguments(given);
    let outcome = interpret(kernel, &mut arguments, FUEL, order, &PlatformMath);
    outcome_of(outcome, arguments)
}

/// The same where what is out of range is skipped, and how much was.
pub(crate) fn interpreted_skipping(kernel: &Verified, given: &[Given]) -> (Outcome, u64) {
    let mut arguments = interpreter_arguments(given);
    let order = ForallOrder::Forward;
    let done = interpret_skipping(kernel, &mut arguments, FUEL, order, &PlatformMath);
    let skipped = done.as_ref().map_or(0, |it| it.skipped);
    (outcome_of(done.map(|it| it.result), arguments), skipped)
}

fn interpreter_arguments(given: &[Given]) -> Vec<interpret::Argument> {
    let argument = |it: &Given| match it {
        Given::Scalar(value) => interpret::Argument::Scalar(*value),
        Given::Array(cells) => interpret::Argument::Array(cells.values()),
        Given::Records(records) => interpret::Argument::Record(fields(records)),
    };
    given.iter().map(argument).collect()
}

fn outcome_of(
    outcome: Result<Option<Value>, interpret::Stop>,
    arguments: Vec<interpret::Argument>,
) -> Outcome {
    let arrays = arguments.into_iter().flat_map(|it| match it {
        interpret::Argument::Array(cells) => vec![cells],
        interpret::Argument::Record(fields) => fields,
        interpret::Argument::Scalar(_) => vec![],
    });
    match outcome {
        Ok(result) => Ok(arrays.chain(result.map(|it| vec![it])).collect()),
        Err(interpret::Stop::Fault(fault)) => Err((fault.to_string(), fault.iteration)),
        Err(interpret::Stop::Overflow) => Err((BEYOND.to_owned(), vec![])),
        Err(interpret::Stop::OutOfFuel) => Err((ENDLESS.to_owned(), vec![])),
        Err(other) => panic!("the interpreter stopped: {other}"),
    }
}

pub(crate) fn executed(
    code: &Compiled,
    given: &[Given],
    threads: usize,
    settings: &Settings,
) -> Outcome {
    executed_counting(code, given, threads, settings).0
}

/// The same, and how many statements were skipped.
pub(crate) fn executed_counting(
    code: &Compiled,
    given: &[Given],
    threads: usize,
    settings: &Settings,
) -> (Outcome, u64) {
    let before = given;
    let mut given: Vec<_> = given.iter().map(Given::fenced).collect();
    let kinds = code.argument_kinds().to_vec();
    let pairs = given.iter_mut().zip(kinds);
    let mut arguments: Vec<_> = pairs.map(|(given, kind)| given.argument(kind)).collect();
    let threads = NonZeroUsize::new(threads);
    let runtime = Runtime::new(threads).unwrap_or_else(|error| panic!("{error}"));
    let outcome = code.call_with_record(&runtime, settings, &mut arguments);
    drop(arguments);
    let given: Option<Vec<_>> = given.into_iter().map(Given::unfenced).collect();
    let given = given.unwrap_or_else(|| panic!("something beside an array was written"));
    if outcome.is_err() {
        let untouched = format!("{given:?}") == format!("{before:?}");
        assert!(
            untouched,
            "arrays changed though the call failed: {outcome:?}"
        );
    }
    let skipped = outcome.as_ref().map_or(0, |it| it.record.skipped);
    let outcome = match outcome {
        Ok(outcome) => {
            let arrays = given.iter().flat_map(|it| match it {
                Given::Array(cells) => vec![cells.values()],
                Given::Records(records) => fields(records),
                Given::Scalar(_) => vec![],
            });
            let result = outcome.returned.map(|it| vec![it]);
            Ok(arrays.chain(result).collect())
        }
        Err(CallError::Fault(fault)) => Err((fault.to_string(), fault.iteration)),
        Err(CallError::Size { .. }) => Err((BEYOND.to_owned(), vec![])),
        Err(CallError::BareFault) => Err((UNTOLD.to_owned(), vec![])),
        Err(other) => panic!("the call failed: {other}"),
    };
    (outcome, skipped)
}

pub(crate) fn same(left: &Outcome, right: &Outcome) -> bool {
    let equal = |(left, right): (&Value, &Value)| {
        let nan = |it: &Value| it.as_float().is_some_and(f64::is_nan);
        left == right || nan(left) && nan(right)
    };
    match (left, right) {
        (Ok(left), Ok(right)) => left.iter().flatten().zip(right.iter().flatten()).all(equal),
        (Err(left), Err(right)) => left == right,
        _ => false,
    }
}

/// Interpreter and compiled code do the same; the outcome, for tests that know it.
#[track_caller]
pub(crate) fn check(source: &str, given: &[Given]) -> Outcome {
    check_with(source, given, &Settings::default())
}

/// The same with other settings.
#[track_caller]
pub(crate) fn check_with(source: &str, given: &[Given], settings: &Settings) -> Outcome {
    let kernel = kernel(source);
    let expected = interpreted(&kernel, given, ForallOrder::Forward);
    let backward = interpreted(&kernel, given, ForallOrder::Backward);
    if expected.is_ok() {
        assert!(
            same(&expected, &backward),
            "{source}\nbackward: {backward:?}"
        );
    }
    for (target, specialize) in [
        (Target::Native, Specialize::Never),
        (Target::Baseline, Specialize::Never),
        (Target::Native, Specialize::Always),
    ] {
        let code = compile(
            &kernel,
            &Options {
                target,
                specialize,
                ..Options::default()
            },
        );
        let code = code.unwrap_or_else(|error| panic!("{source}\n{error}"));
        for threads in [1, 2, 4] {
            let found = executed(&code, given, threads, settings);
            assert!(
                same(&expected, &found),
                "{source}\n{target:?}, {specialize:?}, {threads} threads\nexpected {expected:?}\nfound {found:?}"
            );
        }
    }
    check_bare(source, &kernel, given, &expected);
    expected
}

/// Code that does not tell its faults fails where there is one, and nowhere else.
#[track_caller]
fn check_bare(source: &str, kernel: &Verified, given: &[Given], expected: &Outcome) {
    let options = Options {
        faults: Faults::Bare,
        ..Options::default()
    };
    let code = compile(kernel, &options).unwrap_or_else(|error| panic!("{source}\n{error}"));
    let untold = |_| (UNTOLD.to_owned(), vec![]);
    let expected = expected.clone().map_err(untold);
    for threads in [1, 2] {
        let found = executed(&code, given, threads, &Settings::default());
        let found = found.map_err(untold);
        assert!(
            same(&expected, &found),
            "{source}\nbare, {threads} threads\nexpected {expected:?}\nfound {found:?}"
        );
    }
}
