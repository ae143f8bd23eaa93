//! `strew run`: compile, read, run, write, and say on standard error what ran.

use crate::cli::args::{OobName, Run};
use crate::cli::array::{Array, with_values};
use crate::cli::calibration;
use crate::cli::console::Console;
use crate::cli::data::Reading;
use crate::cli::explain::explanation;
use crate::cli::failure::Failure;
use crate::cli::inputs::{Inputs, zeros};
use crate::cli::interrupt;
use crate::cli::load;
use crate::cli::outputs::Outputs;
use crate::cli::progress::{Meter, with_bar};
use crate::cli::report::{FaultReport, OutputReport, RunReport, json};
use crate::cli::summary::summary;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use strew::{
    ArgumentError, ArgumentKind, Bind, Body, Error, Kernel, Oob, Progress, Report, Sizes,
    StopToken, Strategy,
};

/// The arrays of a call by the names of their parameters.
type Arrays = BTreeMap<String, Array>;

pub(crate) fn run(flags: &Run, console: &mut Console) -> Result<(), Failure> {
    let (kernel, compile) = compile(flags, console)?;
    let stop = StopToken::new();
    let kernel = configured(kernel, flags)?.calibration(calibration::costs(console));
    let progress = Progress::new();
    let kernel = kernel.cancel(stop.clone()).progress(progress.clone());
    let meter = Meter::default();
    let mut inputs = inputs(&kernel, flags, &meter, Some(&stop))?;
    inputs.notes.iter().for_each(|note| console.talk(note));
    let temporaries = interrupt::handle(stop);
    let sizes = sizes(&kernel, &inputs)?;
    let outputs = Outputs::open(&kernel, flags, (&inputs, &sizes), &temporaries)?;
    let files: BTreeMap<_, _> = inputs.files().map(owned).collect();
    let made = || arrays(&kernel, &mut inputs, &sizes, &meter);
    let mut arrays = with_bar("elements", &meter, made)?;
    let mut report = RunReport::new(&kernel, flags.mode.into());
    let called = with_bar("iterations", &progress, || {
        calls(&kernel, flags, &sizes, &mut arrays)
    });
    let changed = arrays.iter().find(|(_, array)| !array.values.is_intact());
    if let Some(path) = changed.and_then(|(name, _)| files.get(name)) {
        return Err(Failure::Changed(path.clone()));
    }
    match called {
        Ok(calls) => {
            calls.iter().for_each(|it| report.add(it, compile));
            with_bar("elements", &meter, || {
                finish(flags, &kernel, (report, &arrays), outputs, &meter, console)
            })?;
            calls
                .last()
                .into_iter()
                .for_each(|it| console.talk(&explanation(it, compile)));
            Ok(())
        }
        Err(error) => {
            if let (true, Error::Fault(fault)) = (flags.json, &error) {
                report.fault = Some(FaultReport::from(&**fault));
                console.data(&json(&report))?;
            }
            Err(error.into())
        }
    }
}

/// The files and numbers that `flags` name; files stay where they are where that is asked for, and `stop` is given to the calls.
fn inputs(
    kernel: &Kernel,
    flags: &Run,
    meter: &Meter,
    stop: Option<&StopToken>,
) -> Result<Inputs, Failure> {
    let map = stop.filter(|_| flags.mmap);
    let reading = Reading { meter, map };
    let ir = kernel.compiled().parsed().kernel();
    with_bar("B", meter, || Inputs::read(ir, flags, reading))
}

fn owned((name, path): (&str, &Path)) -> (String, PathBuf) {
    (name.to_owned(), path.to_owned())
}

/// Calls `kernel` once on the data that `flags` give, and keeps no results.
pub(crate) fn tried(kernel: Kernel, flags: &Run, console: &mut Console) -> Result<Report, Failure> {
    let kernel = configured(kernel, flags)?.calibration(calibration::costs(console));
    let meter = Meter::default();
    let mut inputs = inputs(&kernel, flags, &meter, None)?;
    let sizes = sizes(&kernel, &inputs)?;
    let mut arrays = arrays(&kernel, &mut inputs, &sizes, &meter)?;
    Ok(call(&kernel, &sizes, &mut arrays)?)
}

/// The kernel, ready to be called, and the time from source text to callable code.
fn compile(flags: &Run, console: &mut Console) -> Result<(Kernel, Duration), Failure> {
    let plan = load::plan(&flags.schedule)?;
    let source = load::source(&flags.kernel.file)?;
    let started = Instant::now();
    let parsed = source.parse()?;
    let compiled = load::kernel(&parsed, &flags.kernel)?
        .schedule(&plan, &mut ())?
        .compile_for(match flags.oob {
            OobName::Error => Oob::Error,
            OobName::Skip => Oob::Skip,
        })?;
    let took = started.elapsed();
    load::warn(&parsed, console);
    Ok((Kernel::from(compiled), took))
}

fn configured(kernel: Kernel, flags: &Run) -> Result<Kernel, Failure> {
    let mut kernel = kernel
        .mode(flags.mode.into())
        .threads(flags.threads.map_or(0, std::num::NonZeroUsize::get));
    if let Some(name) = &flags.body {
        let body: Body = name
            .parse()
            .map_err(|error| Failure::usage(format!("--body: {error}")))?;
        kernel = kernel.body(body);
    }
    if let Some(name) = &flags.strategy {
        let strategy: Strategy = name
            .parse()
            .map_err(|error| Failure::usage(format!("--strategy: {error}")))?;
        kernel = kernel.strategy(strategy);
    }
    Ok(match flags.memory {
        Some(bytes) => kernel.memory(bytes.0),
        None => kernel,
    })
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

/// The sizes of the call. When sizes are missing because arrays are, the arrays are what to ask for.
fn sizes(kernel: &Kernel, inputs: &Inputs) -> Result<Sizes, Failure> {
    let sizes = sized(kernel, inputs).sizes();
    sizes.map_err(|error| match error {
        Error::Arguments(mut errors) => {
            let absent = absent(kernel, inputs);
            if !absent.is_empty() {
                let is_missing = |it: &ArgumentError| matches!(it, ArgumentError::Missing { .. });
                errors.list.retain(|it| !is_missing(it));
                errors.list.extend(absent);
            }
            Error::Arguments(errors).into()
        }
        other => other.into(),
    })
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
fn arrays(
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

/// Runs the kernel as often as asked, each time from the same contents.
fn calls(
    kernel: &Kernel,
    flags: &Run,
    sizes: &Sizes,
    arrays: &mut Arrays,
) -> Result<Vec<Report>, Error> {
    let repeats = flags.repeat.get();
    let written: Vec<_> = written(kernel).collect();
    let originals: Arrays = if repeats > 1 {
        let originals = arrays.iter().filter(|(name, _)| written.contains(name));
        originals
            .map(|(name, array)| (name.clone(), array.clone()))
            .collect()
    } else {
        Arrays::new()
    };
    let mut reports = Vec::new();
    for turn in 0..repeats {
        if turn > 0 {
            arrays.extend(
                originals
                    .iter()
                    .map(|(name, array)| (name.clone(), array.clone())),
            );
        }
        reports.push(call(kernel, sizes, arrays)?);
    }
    Ok(reports)
}

fn written(kernel: &Kernel) -> impl Iterator<Item = String> {
    let parameters = kernel.parameters().into_iter();
    parameters.filter_map(|(name, kind)| matches!(kind, ArgumentKind::Write(_)).then_some(name))
}

fn call(kernel: &Kernel, sizes: &Sizes, arrays: &mut Arrays) -> Result<Report, Error> {
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

/// Writes the results: to the files that were asked for, as JSON, or in short.
fn finish(
    flags: &Run,
    kernel: &Kernel,
    (mut report, arrays): (RunReport, &Arrays),
    outputs: Outputs,
    meter: &Meter,
    console: &mut Console,
) -> Result<(), Failure> {
    let returned = report.returned.as_ref();
    let mut summaries = returned.map_or_else(String::new, |value| format!("{value}\n"));
    for name in written(kernel) {
        let Some(array) = arrays.get(&name) else {
            continue;
        };
        let path = outputs.path(&name).map(|it| it.display().to_string());
        if path.is_none() {
            summaries += &summary(&name, array);
        }
        report.outputs.push(OutputReport {
            shape: array.shape.clone(),
            ty: array.values.type_name(),
            path,
            name,
        });
    }
    outputs.write(arrays, meter)?;
    console.data(&if flags.json { json(&report) } else { summaries })
}
