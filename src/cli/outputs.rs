//! Where results go. Every file is written beside its final place and moved there when the run is
//! done, so that a run that fails leaves nothing half written and nothing overwritten.

use crate::cli::args::Run;
use crate::cli::array::Array;
use crate::cli::console::is_standard_output;
use crate::cli::data::OutputFormat;
use crate::cli::failure::Failure;
use crate::cli::inputs::{Inputs, array_type};
use crate::cli::interrupt::Temporaries;
use crate::cli::progress::Meter;
use crate::cli::sources::Sources;
use std::collections::BTreeMap;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use strew::{ArgumentKind, ElementType, Sizes};
use tempfile::NamedTempFile;

/// The output files, all of them opened.
#[derive(Debug, Default)]
pub(crate) struct Outputs(BTreeMap<String, Output>);

#[derive(Debug)]
struct Output {
    /// As the flags say it.
    path: PathBuf,
    format: OutputFormat,
    sink: Sink,
}

#[derive(Debug)]
enum Sink {
    /// Is moved to this place.
    Replace(NamedTempFile, PathBuf),
    /// A device or a pipe, written to directly.
    Direct(std::fs::File),
}

impl Outputs {
    /// Opens the files that `flags` name, before anything runs.
    pub(crate) fn open(
        kernel: &strew::Kernel,
        flags: &Run,
        (inputs, sizes): (&Inputs, &Sizes),
        temporaries: &Temporaries,
    ) -> Result<Self, Failure> {
        let mut outputs = Self::default();
        let work = &flags.work;
        let sources = Sources::of(&work.kernel).and_schedule(&work.schedule);
        let mut places: BTreeMap<PathBuf, String> = BTreeMap::new();
        for it in &flags.outputs {
            let element = written(kernel, &it.name)?;
            let (path, format) = OutputFormat::parse(&it.text)
                .map_err(|error| Failure::usage(format!("--out {}: {error}", it.name)))?;
            let rank = sizes.extents(&it.name).map_or(1, <[u64]>::len);
            let checked = format.check(&element, rank);
            checked.map_err(|error| Failure::file(&path, error))?;
            let place = place(&path).map_err(|error| Failure::unwritable(&path, error))?;
            if let Some(other) = places.insert(place.clone(), it.name.clone()) {
                let name = &it.name;
                let why = format!("is the file of both --out {other} and --out {name}");
                return Err(Failure::file(&path, why));
            }
            check_inputs(&it.name, &path, &place, inputs)?;
            sources.are_spared_by(&format!("--out {}", it.name), &path)?;
            let sink =
                sink(place, temporaries).map_err(|error| Failure::unwritable(&path, error))?;
            let output = Output { path, format, sink };
            if outputs.0.insert(it.name.clone(), output).is_some() {
                return Err(Failure::usage(format!("--out {} is given twice", it.name)));
            }
        }
        Ok(outputs)
    }

    /// The path of the file for the array `name`, as the flags say it.
    pub(crate) fn path(&self, name: &str) -> Option<&Path> {
        self.0.get(name).map(|it| it.path.as_path())
    }

    /// Writes all files, and only when all are written moves them to their places.
    pub(crate) fn write(
        mut self,
        arrays: &BTreeMap<String, Array>,
        meter: &Meter,
    ) -> Result<(), Failure> {
        for (name, output) in &mut self.0 {
            let Some(array) = arrays.get(name) else {
                continue;
            };
            let file = match &mut output.sink {
                Sink::Replace(file, _) => file.as_file_mut(),
                Sink::Direct(file) => file,
            };
            let mut sink = BufWriter::new(file);
            meter.begin(array.shape.iter().product(), "elements");
            let written = output.format.write(name, array, &mut sink, meter);
            let written = written.and_then(|()| sink.flush());
            written.map_err(|error| Failure::unwritable(&output.path, error))?;
        }
        for (_, output) in self.0 {
            if let Sink::Replace(file, place) = output.sink {
                file.persist(place)
                    .map_err(|error| Failure::unwritable(&output.path, error.error))?;
            }
        }
        Ok(())
    }
}

/// The elements of the array `name`, which the kernel has to write.
fn written(kernel: &strew::Kernel, name: &str) -> Result<ElementType, Failure> {
    let ir = kernel.compiled().parsed().kernel();
    let element = array_type(ir, name)?;
    let kinds: BTreeMap<_, _> = kernel.parameters().into_iter().collect();
    match kinds.get(name) {
        Some(ArgumentKind::Write(_)) => Ok(element),
        _ => Err(Failure::usage(format!(
            "--out {name}: the kernel does not write `{name}`"
        ))),
    }
}

/// An array may be read from and written to one file, but not from that of another.
fn check_inputs(name: &str, path: &Path, target: &Path, inputs: &Inputs) -> Result<(), Failure> {
    for (input, file) in inputs.files() {
        if input != name && place(file).is_ok_and(|it| it == target) {
            let why = format!("would be overwritten by --out {name}, but --in {input} reads it");
            return Err(Failure::file(path, why));
        }
    }
    Ok(())
}

/// The file that `path` means, behind all links, whether it is there yet or not.
pub(crate) fn place(path: &Path) -> std::io::Result<PathBuf> {
    if let Ok(place) = path.canonicalize() {
        return Ok(place);
    }
    let name = path
        .file_name()
        .ok_or(std::io::ErrorKind::InvalidFilename)?;
    let folder = match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        _ => Path::new("."),
    };
    Ok(folder.canonicalize()?.join(name))
}

fn sink(place: PathBuf, temporaries: &Temporaries) -> std::io::Result<Sink> {
    match std::fs::metadata(&place) {
        Ok(found) if found.is_dir() => Err(std::io::ErrorKind::IsADirectory.into()),
        Ok(found) if !found.is_file() => {
            let file = std::fs::OpenOptions::new().write(true).open(place)?;
            Ok(Sink::Direct(file))
        }
        Ok(found) if found.permissions().readonly() => {
            Err(std::io::ErrorKind::PermissionDenied.into())
        }
        _ => {
            let folder = place.parent().unwrap_or(Path::new("/"));
            let file = temporary(folder)?;
            temporaries.add(file.path());
            Ok(Sink::Replace(file, place))
        }
    }
}

fn temporary(folder: &Path) -> std::io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".strew-").suffix(".tmp");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // What a file made in the ordinary way gets; the user's mask is applied to it.
        builder.permissions(std::fs::Permissions::from_mode(0o666));
    }
    builder.tempfile_in(folder)
}

/// Finds out whether there can be a file at `path`, before work whose result would be lost. What is
/// there stays.
pub(crate) fn writable(path: &Path) -> Result<(), Failure> {
    if is_standard_output(path) {
        return Ok(());
    }
    let is_new = !path.exists();
    let mut options = std::fs::OpenOptions::new();
    let opened = options.append(true).create(true).open(path).map(drop);
    let tried = match is_new {
        true => opened.and_then(|()| std::fs::remove_file(path)),
        false => opened,
    };
    tried.map_err(|error| Failure::unwritable(path, error))
}
