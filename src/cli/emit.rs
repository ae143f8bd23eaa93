//! `strew emit`: one stage of the compilation as text.

use crate::cli::args::{Emit, Stage};
use crate::cli::console::{Console, is_standard_output};
use crate::cli::failure::Failure;
use crate::cli::{library, load};
use std::path::Path;
use strew::{Error, Language, ObjectSettings, Plan, Schedule, Source};

pub(crate) fn emit(flags: &Emit, console: &mut Console) -> Result<(), Failure> {
    if flags.stage == Stage::Object {
        let library = flags.library.as_deref();
        if library.is_some_and(is_standard_output) {
            let why = "--library writes a file: say where with --library libstrew_runtime.a";
            return Err(Failure::usage(why.to_owned()));
        }
        object(flags, console)?;
        return library.map_or(Ok(()), |path| library::write(path, console));
    }
    if flags.library.is_some() {
        let why = "--library goes with --stage object, whose programs are linked with it";
        return Err(Failure::usage(why.to_owned()));
    }
    let text = match flags.stage {
        Stage::Ast => syntax_tree(&load::source(&flags.kernel.file)?)?,
        stage => kernel_stage(flags, stage, console)?,
    };
    console.data_to(flags.output.as_deref(), &text)
}

/// Writes the object and, beside it, its header.
fn object(flags: &Emit, console: &mut Console) -> Result<(), Failure> {
    let missing = "--stage object writes two files, NAME.o and NAME.h: say where with -o NAME.o";
    let path = flags.output.as_deref();
    let path = path.filter(|it| !is_standard_output(it));
    let path = path.ok_or_else(|| Failure::usage(missing.to_owned()))?;
    let header = path.with_extension("h");
    if header == path {
        return Err(Failure::usage(missing.to_owned()));
    }
    let parsed = load::parsed(&flags.kernel.file, console)?;
    let kernel = load::kernel(&parsed, &flags.kernel)?;
    let scheduled = kernel.schedule(&load::plan(&flags.schedule)?, &mut ())?;
    let object = scheduled.object(&ObjectSettings {
        mode: flags.mode.into(),
        oob: flags.oob.into(),
        target: flags.cpu.into(),
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
    let parsed = load::parsed(&flags.kernel.file, console)?;
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
    let text = match stage {
        Stage::Asm => compiled.code().assembly(flags.mode.into()),
        _ => compiled.code().clif(flags.mode.into()),
    };
    text.map_err(|error| Error::Compile(error).into())
}
