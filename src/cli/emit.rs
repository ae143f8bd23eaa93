//! `strew emit`: one stage of the compilation as text.

use crate::cli::args::{CpuName, Emit, ModeName, OobName, Stage};
use crate::cli::console::{Console, is_standard_output};
use crate::cli::failure::Failure;
use crate::cli::sources::Sources;
use crate::cli::{library, load};
use clap::ValueEnum as _;
use std::path::{Path, PathBuf};
use strew::{Error, Language, ObjectSettings, Plan, Schedule, Source};

/// The stages behind the schedule.
const SCHEDULED: &[Stage] = &[
    Stage::Scheduled,
    Stage::Clif,
    Stage::Asm,
    Stage::Mlir,
    Stage::Object,
];

/// Those of machine code.
const CODE: &[Stage] = &[Stage::Clif, Stage::Asm, Stage::Object];

pub(crate) fn emit(flags: &Emit, console: &mut Console) -> Result<(), Failure> {
    check_stage(flags)?;
    check_files(flags)?;
    if flags.stage == Stage::Object {
        let library = flags.library.as_deref();
        if library.is_some_and(is_standard_output) {
            let why = "--library writes a file: say where with --library libstrew_runtime.a";
            return Err(Failure::usage(why.to_owned()));
        }
        object(flags, console)?;
        return library.map_or(Ok(()), |path| library::write(path, console));
    }
    let text = match flags.stage {
        Stage::Ast => syntax_tree(&load::source(&flags.kernel.file)?)?,
        stage => kernel_stage(flags, stage, console)?,
    };
    console.data_to(flags.output.as_deref(), &text)
}

/// That no flag is given which the stage does not look at.
fn check_stage(flags: &Emit) -> Result<(), Failure> {
    let given: [(&str, bool, &[Stage]); 6] = [
        ("--step", !flags.schedule.steps.is_empty(), SCHEDULED),
        ("--schedule", flags.schedule.path.is_some(), SCHEDULED),
        ("--mode", flags.mode.is_some(), CODE),
        ("--oob", flags.oob.is_some(), &[Stage::Object]),
        ("--cpu", flags.cpu.is_some(), &[Stage::Object]),
        ("--library", flags.library.is_some(), &[Stage::Object]),
    ];
    let lost = given
        .iter()
        .find(|(_, is_given, stages)| *is_given && !stages.contains(&flags.stage));
    let Some((flag, _, stages)) = lost else {
        return Ok(());
    };
    let names: Vec<_> = stages.iter().map(|it| name_of(*it)).collect();
    let names = names.join(", ");
    let stage = name_of(flags.stage);
    Err(Failure::usage(format!(
        "{flag} goes with --stage {names}; it has no part in the stage `{stage}`"
    )))
}

fn name_of(stage: Stage) -> String {
    let value = stage.to_possible_value();
    value.map_or_else(String::new, |it| it.get_name().to_owned())
}

/// That what is written spares what is read.
fn check_files(flags: &Emit) -> Result<(), Failure> {
    let sources = Sources::of(&flags.kernel).and_schedule(&flags.schedule);
    if let Some(path) = &flags.output {
        sources.are_spared_by("-o", path)?;
        if flags.stage == Stage::Object {
            sources.are_spared_by("-o", &header_of(path))?;
        }
    }
    let library = flags.library.as_deref();
    library.map_or(Ok(()), |it| sources.are_spared_by("--library", it))
}

/// Where the header of the object at `path` goes.
fn header_of(path: &Path) -> PathBuf {
    path.with_extension("h")
}

/// Writes the object and, beside it, its header.
fn object(flags: &Emit, console: &mut Console) -> Result<(), Failure> {
    let missing = "--stage object writes two files, NAME.o and NAME.h: say where with -o NAME.o";
    let path = flags.output.as_deref();
    let path = path.filter(|it| !is_standard_output(it));
    let path = path.ok_or_else(|| Failure::usage(missing.to_owned()))?;
    let header = header_of(path);
    if header == path {
        return Err(Failure::usage(missing.to_owned()));
    }
    let parsed = load::parsed(&flags.kernel, console)?;
    let kernel = load::kernel(&parsed, &flags.kernel)?;
    let scheduled = kernel.schedule(&load::plan(&flags.schedule)?, &mut ())?;
    let object = scheduled.object(&ObjectSettings {
        mode: flags.mode.unwrap_or(ModeName::Stable).into(),
        oob: flags.oob.unwrap_or(OobName::Error).into(),
        target: flags.cpu.unwrap_or(CpuName::Native).into(),
    })?;
    let write = |path: &Path, bytes: &[u8]| {
        std::fs::write(path, bytes).map_err(|error| Failure::unwritable(path, error))
    };
    write(path, &object.code)?;
    write(&header, object.header.as_bytes())
}

fn syntax_tree(source: &Source) -> Result<String, Failure> {
    if source.language() != Language::C {
        let name = source.name();
        return Err(Failure::usage(format!(
            "{name} is no C, but what is made of it, which has no C syntax tree; try --stage nest"
        )));
    }
    Ok(strew::syntax_tree(source)?)
}

fn kernel_stage(flags: &Emit, stage: Stage, console: &mut Console) -> Result<String, Failure> {
    let parsed = load::parsed(&flags.kernel, console)?;
    if stage == Stage::Nest && flags.kernel.name.is_none() {
        let texts: Vec<_> = parsed
            .kernels()
            .iter()
            .map(|it| it.kernel().to_string())
            .collect();
        return Ok(texts.join("\n"));
    }
    let kernel = load::kernel(&parsed, &flags.kernel)?;
    if stage == Stage::Nest {
        return Ok(kernel.kernel().to_string());
    }
    let plan = match (stage, load::plan(&flags.schedule)?) {
        // Others schedule what is written in MLIR.
        (Stage::Mlir, Plan::Source) if kernel.pragmas().is_empty() => {
            Plan::Explicit(Schedule::new())
        }
        (_, plan) => plan,
    };
    let scheduled = kernel.schedule(&plan, &mut ())?;
    if stage == Stage::Mlir {
        let text = scheduled.to_mlir();
        return text.map_err(|why| Failure::Refused(format!("{}: {why}", kernel.kernel().name)));
    }
    if stage == Stage::Scheduled {
        return Ok(scheduled.kernel().to_string());
    }
    let compiled = scheduled.compile()?;
    let mode = flags.mode.unwrap_or(ModeName::Stable).into();
    let text = match stage {
        Stage::Asm => compiled.code().assembly(mode),
        _ => compiled.code().clif(mode),
    };
    text.map_err(|error| Error::Compile(error).into())
}
