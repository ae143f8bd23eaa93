//! `strew run`: compile, read, run, write, and say on standard error what ran.

use crate::cli::args::Run;
use crate::cli::calibration;
use crate::cli::circumstances::explanation;
use crate::cli::console::Console;
use crate::cli::failure::Failure;
use crate::cli::interrupt;
use crate::cli::job::{
    Arrays, arrays, call, compile, configured, inputs, originals, sizes, written,
};
use crate::cli::outputs::Outputs;
use crate::cli::progress::{Calls, Meter, with_bar};
use crate::cli::report::{FaultReport, OutputReport, RunReport, json};
use crate::cli::summary::summary;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use strew::{
    Error, Failure as CallFailure, Kernel, Progress, Report, Sizes, StopToken, Strategy, Why,
};

pub(crate) fn run(flags: &Run, console: &mut Console) -> Result<(), Failure> {
    let work = &flags.work;
    let (kernel, compile) = compile(work, console)?;
    // A run that is stopped writes nothing.
    let stop = StopToken::abandoning();
    let kernel = configured(kernel, work).calibration(calibration::costs(console));
    let progress = Progress::new();
    let kernel = kernel.cancel(stop.clone()).progress(progress.clone());
    let meter = Meter::default();
    let mut inputs = inputs(&kernel, work, &meter, Some(&stop))?;
    inputs.notes.iter().for_each(|note| console.talk(note));
    let temporaries = interrupt::handle(Some(stop.clone()));
    let sizes = sizes(&kernel, &inputs)?;
    let outputs = Outputs::open(&kernel, flags, (&inputs, &sizes), &temporaries)?;
    let files: BTreeMap<_, _> = inputs.files().map(owned).collect();
    let made = || arrays(&kernel, &mut inputs, &sizes, &meter);
    let mut arrays = with_bar(&meter, made)?;
    let mut report = RunReport::new(&kernel, work.mode.into());
    let ir = kernel.compiled().kernel();
    let turns = Calls::begin(ir, flags.repeat.get(), progress);
    let called = with_bar(&turns, || {
        calls(&kernel, flags, &sizes, &mut arrays, &turns)
    });
    let changed = arrays.iter().find(|(_, array)| !array.values.is_intact());
    if let Some(path) = changed.and_then(|(name, _)| files.get(name)) {
        return Err(Failure::Changed(path.clone()));
    }
    // A signal may come when a call has just looked for the last time.
    let called = called.and_then(|calls| match stop.is_stopped() {
        true => Err(Error::Failure(CallFailure::Stopped)),
        false => Ok(calls),
    });
    match called {
        Ok(calls) => {
            calls.iter().for_each(|it| report.add(it, compile));
            finish(flags, &kernel, (report, &arrays), outputs, console)?;
            if let Some(last) = calls.last() {
                console.talk(&explanation(last, compile));
                let note = without_strategy(flags, last);
                note.into_iter().for_each(|it| console.talk(&it));
            }
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

/// That the strategy which was asked for has no part in the run, if it has none.
fn without_strategy(flags: &Run, report: &Report) -> Option<String> {
    let asked = flags.work.strategy.filter(|it| *it != Strategy::Auto)?;
    let why = &report.record.why;
    let is_lost = matches!(why, Why::NoForall | Why::Little | Why::NoPrivates);
    is_lost.then(|| format!("note: --strategy {asked} has no part in this run: {why}"))
}

fn owned((name, path): (&str, &Path)) -> (String, PathBuf) {
    (name.to_owned(), path.to_owned())
}

/// Runs the kernel as often as asked, each time from the same contents.
fn calls(
    kernel: &Kernel,
    flags: &Run,
    sizes: &Sizes,
    arrays: &mut Arrays,
    turns: &Calls,
) -> Result<Vec<Report>, Error> {
    let repeats = flags.repeat.get();
    let originals = match repeats {
        1 => Arrays::new(),
        _ => originals(kernel, arrays),
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
        turns.pass();
    }
    Ok(reports)
}

/// Writes the results: to the files that were asked for, as JSON, or in short.
fn finish(
    flags: &Run,
    kernel: &Kernel,
    (mut report, arrays): (RunReport, &Arrays),
    outputs: Outputs,
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
    // One of its own: nothing has begun while results are shown in short.
    let meter = Meter::default();
    with_bar(&meter, || outputs.write(arrays, &meter))?;
    console.data(&if flags.json { json(&report) } else { summaries })
}
