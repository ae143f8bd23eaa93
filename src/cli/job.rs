//! A kernel with its data, as flags name them: compiled, sizes found, arrays read or made.

use crate::cli::args::Work;
use crate::cli::array::{Array, with_values};
use crate::cli::calibration;
use crate::cli::console::Console;
use crate::cli::data::Reading;
use crate::cli::failure::Failure;
use crate::cli::inputs::{Inputs, zeros};
use crate::cli::load;
use crate::cli::progress::{Calls, Meter, with_bar};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use strew::{
    ArgumentError, ArgumentKind, Bind, Error, Kernel, Origin, Progress, Report, Sizes, StopToken,
};

/// The arrays of a call by the names of their parameters.
pub(crate) type Arrays = BTreeMap<String, Array>;

/// The kernel, ready to be called, and the time from source text to callable code.
pub(crate) fn compile(work: &Work, console: &mut Console) -> Result<(Kernel, Duration), Failure> {
    let plan = load::plan(&work.schedule)?;
    let source = load::chosen(&work.kernel)?;
    let started = Instant::now();
    let parsed = load::parse(source, &work.kernel)?;
    let compiled = load::kernel(&parsed, &work.kernel)?
        .schedule(&plan, &mut ())?
        .compile_for(work.oob.into())?;
    let took = started.elapsed();
    load::warn(&parsed, console);
    Ok((Kernel::from(compiled), took))
}

/// `kernel`, set to run as `work` asks.
pub(crate) fn configured(kernel: Kernel, work: &Work) -> Kernel {
    let mut kernel = kernel
        .mode(work.mode.into())
        .threads(work.threads.map_or(0, std::num::NonZeroUsize::get));
    if let Some(body) = work.body {
        kernel = kernel.body(body);
    }
    if let Some(strategy) = work.strategy {
        kernel = kernel.strategy(strategy);
    }
    match work.memory {
        Some(bytes) => kernel.memory(bytes.0),
        None => kernel,
    }
}

/// A call with the sizes that the flags tell, and no arrays.
fn sized<'a>(kernel: &Kernel, inputs: &Inputs) -> Bind<'a> {
    let scalars = inputs.scalars.iter();
    let call = scalars.fold(kernel.bind(), |call, (name, value)| {
        call.value(name, *value)
    });
    let shapes = inputs.dimensions().into_iter();
    shapes.fold(call, |call, (name, shape)| call.shape(name, shape))
}

/// The sizes of the call. When sizes are missing because arrays are, the arrays are what to ask
/// for.
pub(crate) fn sizes(kernel: &Kernel, inputs: &Inputs) -> Result<Sizes, Failure> {
    let sizes = sized(kernel, inputs).sizes();
    sizes.map_err(|error| match error {
        Error::Arguments(mut errors) => {
            let absent = absent(kernel, inputs);
            if !absent.is_empty() {
                let is_missing = |it: &ArgumentError| matches!(it, ArgumentError::Missing { .. });
                errors.list.retain(|it| !is_missing(it));
                errors.list.extend(absent);
            }
            let arrays: BTreeSet<_> = errors.list.iter().flat_map(shaped).collect();
            let lacks = |array: &str| {
                let of_rank = |it: &ArgumentError| matches!(it, ArgumentError::Rank { parameter, .. } if parameter == array);
                errors.list.iter().any(of_rank)
            };
            let origins = arrays.into_iter();
            let origins = origins.filter_map(|it| inputs.origin(it, lacks(it)));
            let origins = origins.collect();
            Failure::Noted(Box::new(Error::Arguments(errors)), origins)
        }
        other => other.into(),
    })
}

/// The arrays whose shapes an error is about.
fn shaped(error: &ArgumentError) -> Vec<&str> {
    match error {
        ArgumentError::Shape { parameter, .. }
        | ArgumentError::Rank { parameter, .. }
        | ArgumentError::NoWholeSize { parameter, .. } => vec![parameter],
        ArgumentError::Contradiction { first, second, .. } => {
            let origins = [&first.1, &second.1].into_iter();
            let arrays = origins.filter_map(|it| match it {
                Origin::Array(name) => Some(name.as_str()),
                Origin::Given => None,
            });
            arrays.collect()
        }
        _ => Vec::new(),
    }
}

/// The arrays that are read and that neither a file nor a generator gives.
fn absent(kernel: &Kernel, inputs: &Inputs) -> Vec<ArgumentError> {
    let parameters = kernel.parameters().into_iter();
    let absent = parameters.filter(|(name, kind)| {
        matches!(kind, ArgumentKind::Read(_)) && !inputs.arrays.contains_key(name)
    });
    absent
        .map(|(parameter, expected)| ArgumentError::Missing {
            parameter,
            expected,
        })
        .collect()
}

/// All arrays: those that were given, and zeros for those that the kernel writes.
pub(crate) fn arrays(
    kernel: &Kernel,
    inputs: &mut Inputs,
    sizes: &Sizes,
    meter: &Meter,
) -> Result<Arrays, Failure> {
    let mut arrays = Arrays::new();
    for (name, kind) in kernel.parameters() {
        let (ArgumentKind::Read(element) | ArgumentKind::Write(element)) = &kind else {
            continue;
        };
        let array = match (inputs.take(&name, element, sizes, meter)?, &kind) {
            (Some(array), _) => array,
            (None, ArgumentKind::Write(_)) => {
                zeros(&name, element, sizes.extents(&name).unwrap_or_default())?
            }
            // The call says that it is missing, with all else that is.
            (None, _) => continue,
        };
        arrays.insert(name, array);
    }
    Ok(arrays)
}

/// The files and numbers that `work` name; files stay where they are where that is asked for, and
/// `stop` is given to the calls.
pub(crate) fn inputs(
    kernel: &Kernel,
    work: &Work,
    meter: &Meter,
    stop: Option<&StopToken>,
) -> Result<Inputs, Failure> {
    let map = stop.filter(|_| work.mmap);
    let reading = Reading { meter, map };
    let ir = kernel.compiled().parsed().kernel();
    with_bar(meter, || Inputs::read(ir, work, reading))
}

pub(crate) fn written(kernel: &Kernel) -> impl Iterator<Item = String> {
    let parameters = kernel.parameters().into_iter();
    parameters.filter_map(|(name, kind)| matches!(kind, ArgumentKind::Write(_)).then_some(name))
}

pub(crate) fn call(kernel: &Kernel, sizes: &Sizes, arrays: &mut Arrays) -> Result<Report, Error> {
    let kinds: BTreeMap<_, _> = kernel.parameters().into_iter().collect();
    let mut call = kernel.bind();
    for name in kinds.keys() {
        if let Some(value) = sizes.scalar(name) {
            call = call.value(name, value);
        }
    }
    for (name, array) in arrays {
        call = match kinds.get(name) {
            Some(ArgumentKind::Write(_)) => {
                with_values!(
                    &mut array.values,
                    values => call.array_mut(name, values),
                    records => call.records_mut(name, records)
                )
            }
            _ => with_values!(
                &array.values,
                values => call.array(name, values),
                records => call.records(name, records)
            ),
        };
    }
    call.run_with_report()
}

/// Calls `kernel` on the data that `work` gives, and keeps no results. The first call makes code
/// that this data needs and warms caches; the second one is told of.
pub(crate) fn tried(kernel: Kernel, work: &Work, console: &mut Console) -> Result<Report, Failure> {
    let progress = Progress::new();
    let kernel = kernel.progress(progress.clone());
    let (kernel, mut data) = with_data(kernel, work, console)?;
    let turns = Calls::begin(kernel.compiled().kernel(), 2, progress);
    let report = with_bar(&turns, || {
        data.call(&kernel)?;
        turns.pass();
        data.call(&kernel)
    });
    Ok(report?)
}

/// A kernel's data, which each call finds as it was given.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) sizes: Sizes,
    arrays: Arrays,
    /// Those arrays that are written, as they were.
    originals: Arrays,
}

/// The kernel that `work` names, and its data.
pub(crate) fn ready(work: &Work, console: &mut Console) -> Result<(Kernel, Data), Failure> {
    let (kernel, _) = compile(work, console)?;
    with_data(kernel, work, console)
}

fn with_data(
    kernel: Kernel,
    work: &Work,
    console: &mut Console,
) -> Result<(Kernel, Data), Failure> {
    let kernel = configured(kernel, work).calibration(calibration::costs(console));
    let data = Data::read(&kernel, work, console)?;
    Ok((kernel, data))
}

/// Those of `arrays` that the kernel writes, as they are.
pub(crate) fn originals(kernel: &Kernel, arrays: &Arrays) -> Arrays {
    let original = |name: String| Some((name.clone(), arrays.get(&name)?.clone()));
    written(kernel).filter_map(original).collect()
}

impl Data {
    fn read(kernel: &Kernel, work: &Work, console: &mut Console) -> Result<Self, Failure> {
        let meter = Meter::default();
        let mut inputs = inputs(kernel, work, &meter, None)?;
        (inputs.notes.iter()).for_each(|note| console.talk_once(note));
        let sizes = sizes(kernel, &inputs)?;
        let made = || arrays(kernel, &mut inputs, &sizes, &meter);
        let arrays = with_bar(&meter, made)?;
        Ok(Self {
            originals: originals(kernel, &arrays),
            sizes,
            arrays,
        })
    }

    /// Calls `kernel`; just before, what it writes is put back and what it reads is read.
    pub(crate) fn call(&mut self, kernel: &Kernel) -> Result<Report, Error> {
        for (name, array) in &mut self.arrays {
            match self.originals.get(name) {
                Some(original) => array.values.copy_from(&original.values),
                None => array.values.touch(),
            }
        }
        call(kernel, &self.sizes, &mut self.arrays)
    }

    /// All arrays, as the last call has left them.
    pub(crate) fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// A copy of those that are written, as the last call has left them.
    pub(crate) fn results(&self) -> Arrays {
        let names = self.originals.keys();
        let result = |name: &String| Some((name.clone(), self.arrays.get(name)?.clone()));
        names.filter_map(result).collect()
    }

    /// The array `name` as it was given.
    pub(crate) fn original(&self, name: &str) -> Option<&Array> {
        self.originals.get(name).or_else(|| self.arrays.get(name))
    }

    /// How many bytes the arrays have that are written.
    pub(crate) fn output_bytes(&self) -> u64 {
        self.originals.values().map(|it| it.values.bytes()).sum()
    }
}
