//! The kernel as a C compiler makes it, in a process of its own: a loop that crashes there ends
//! nothing here.

use super::compiler::Compiler;
use super::openmp;
use super::variant::{Runner, Variant};
use crate::cli::args::{Against, Bench};
use crate::cli::array::Array;
use crate::cli::console::Console;
use crate::cli::data::OutputFormat;
use crate::cli::failure::Failure;
use crate::cli::interrupt::{Process, Temporaries};
use crate::cli::job::{Arrays, Data};
use crate::cli::npy;
use crate::cli::progress::Meter;
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;
use strew::ir::Parameter;
use strew::{ArgumentKind, Kernel, Language, Type};

/// A process that runs the kernel when it is told to, and says how long it took.
#[derive(Debug)]
pub(crate) struct Peer {
    name: &'static str,
    process: Process,
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
    /// The arrays that it writes, in the order of the parameters.
    written: Vec<String>,
    /// Holds the program and its source.
    _folder: tempfile::TempDir,
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It ends when there are no more orders. One that hangs is of no use to anybody.
        drop(self.orders.take());
        Process::end(&mut self.process.child());
    }
}

/// The peers that `flags` ask for; those that cannot be had are told of.
pub(crate) fn variants(
    flags: &Bench,
    kernel: &Kernel,
    (data, most): (&Data, usize),
    temporaries: &Temporaries,
    console: &mut Console,
) -> Vec<Variant> {
    let mut variants = Vec::new();
    for against in &flags.against {
        let (name, options, threads): (_, &[&str], _) = match against {
            Against::None => continue,
            Against::Cc => ("cc -O3", &["-O3", "-march=native"], 1),
            Against::Openmp => ("openmp", &["-O3", "-march=native", "-fopenmp"], most),
        };
        match Peer::start(name, (options, threads), (kernel, data), temporaries) {
            Ok(peer) => variants.push(Variant {
                name: name.to_owned(),
                mode: None,
                threads,
                runner: Runner::Peer(peer),
                record: None,
                differs: None,
            }),
            Err(why) => console.talk_once(&format!("note: {name} is left out: {why}")),
        }
    }
    variants
}

impl Peer {
    fn start(
        name: &'static str,
        (options, threads): (&[&str], usize),
        (kernel, data): (&Kernel, &Data),
        temporaries: &Temporaries,
    ) -> Result<Self, String> {
        let source = kernel.compiled().source();
        if source.language() != Language::C {
            return Err(format!("{} is no C", source.name()));
        }
        let text = match name == "openmp" && !source.text().contains("#pragma omp") {
            true => &openmp::with_pragmas(kernel, data)?,
            false => source.text(),
        };
        let program = program(kernel, data)?;
        let folder = temporaries.folder().map_err(|error| error.to_string())?;
        let texts = [("kernel.c", text), ("peer.c", &program)];
        let beside = Path::new(source.name()).parent();
        compile(folder.path(), options, (texts, beside), temporaries)?;
        let mut command = Command::new(folder.path().join("peer"));
        command.env("OMP_NUM_THREADS", threads.to_string());
        // Copies of arrays are on the stacks of threads.
        command.env("OMP_STACKSIZE", "256M");
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let process = temporaries.start(command);
        let process = process.map_err(|error| format!("it does not start: {error}"))?;
        let (orders, answers) = {
            let mut child = process.child();
            (child.stdin.take(), child.stdout.take())
        };
        let answers = answers.map(BufReader::new);
        let mut peer = Self {
            name,
            orders,
            answers: answers.ok_or("it has no output")?,
            process,
            written: written(kernel).map(|(name, _)| name).collect(),
            _folder: folder,
        };
        peer.send(kernel, data).map_err(|error| error.to_string())?;
        Ok(peer)
    }

    /// All arrays, in the order of the parameters.
    fn send(&mut self, kernel: &Kernel, data: &Data) -> std::io::Result<()> {
        let orders = self.orders.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
        let mut sink = std::io::BufWriter::new(orders);
        for (name, _) in arrays(kernel) {
            if let Some(array) = data.original(&name) {
                OutputFormat::Raw(None).write(&name, array, &mut sink, &Meter::default())?;
            }
        }
        sink.flush()
    }

    /// The time of one call, from the same contents, with its inputs just read.
    pub(crate) fn time(&mut self) -> Result<Duration, Failure> {
        let mut line = String::new();
        let asked = self
            .orders
            .as_mut()
            .map(|it| it.write_all(b"r").and_then(|()| it.flush()));
        let answered = self.answers.read_line(&mut line);
        let seconds = line.trim().parse().ok();
        let seconds = seconds.and_then(|it| Duration::try_from_secs_f64(it).ok());
        match (asked, answered, seconds) {
            (Some(Ok(())), Ok(_), Some(time)) => Ok(time),
            _ => {
                let ended = self.process.child().wait().map(|status| status.to_string());
                let how = ended.unwrap_or_else(|error| error.to_string());
                let name = self.name;
                Err(Failure::Refused(format!(
                    "the program of {name} ended with {how}"
                )))
            }
        }
    }
}

impl Peer {
    /// What the last call has written, into the `arrays` that are to hold it.
    pub(crate) fn results(&mut self, arrays: &mut Arrays) -> Result<(), Failure> {
        let mut read = || -> std::io::Result<()> {
            let orders = self.orders.as_mut().ok_or(std::io::ErrorKind::BrokenPipe)?;
            orders.write_all(b"w")?;
            orders.flush()?;
            for name in &self.written {
                if let Some(array) = arrays.get_mut(name) {
                    let mut bytes = vec![0; usize::try_from(array.values.bytes()).unwrap_or(0)];
                    self.answers.read_exact(&mut bytes)?;
                    if let Some(ty) = Type::from_name(&array.values.type_name()) {
                        array.values = npy::elements(ty, &bytes);
                    }
                }
            }
            Ok(())
        };
        let read = read();
        let name = self.name;
        read.map_err(|error| Failure::Refused(format!("the results of {name} are lost: {error}")))
    }
}

/// Those that are written.
fn written(kernel: &Kernel) -> impl Iterator<Item = (String, bool)> {
    arrays(kernel)
        .into_iter()
        .filter(|(_, is_written)| *is_written)
}

/// The array parameters in their order, and whether they are written.
fn arrays(kernel: &Kernel) -> Vec<(String, bool)> {
    let parameters = kernel.parameters().into_iter();
    let arrays = parameters.filter_map(|(name, kind)| match kind {
        ArgumentKind::Scalar(_) => None,
        ArgumentKind::Read(_) => Some((name, false)),
        ArgumentKind::Write(_) => Some((name, true)),
    });
    arrays.collect()
}

fn compile(
    folder: &Path,
    options: &[&str],
    (texts, beside): ([(&str, &str); 2], Option<&Path>),
    temporaries: &Temporaries,
) -> Result<(), String> {
    for (name, text) in texts {
        std::fs::write(folder.join(name), text).map_err(|error| error.to_string())?;
    }
    let compiler = Compiler::from_environment();
    let beside = beside.unwrap_or(Path::new("."));
    let mut command = compiler.command();
    command
        .args(options)
        .args(["-w", "-o", "peer", "peer.c", "-lm"])
        .arg("-I")
        .arg(std::path::absolute(beside).unwrap_or_default())
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let started = temporaries.start(&mut command);
    let process = started.map_err(|error| format!("{compiler} does not start: {error}"))?;
    let mut said = Vec::new();
    let pipe = process.child().stderr.take();
    let read = pipe.map(|mut it| it.read_to_end(&mut said)).transpose();
    let ended = read.and_then(|_| process.child().wait());
    if ended.map_err(|error| error.to_string())?.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&said);
    let error = said.lines().find(|line| line.contains("error"));
    let error = error.unwrap_or("without a word").to_owned();
    Err(format!("{compiler} declines: {error}"))
}

/// What a call of the kernel needs around it.
const BEGINNING: &str = r#"#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
/* The program that the kernel is taken from may begin somewhere, too. */
#define main strew_left_aside
#include "kernel.c"
#undef main

static void *strew_array(size_t bytes) {
  char *array = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!array || fread(array, 1, bytes, stdin) != bytes) exit(2);
  return array;
}

static void *strew_copy(const void *array, size_t bytes) {
  char *copy = aligned_alloc(64, (bytes + 64) / 64 * 64);
  if (!copy) exit(2);
  return memcpy(copy, array, bytes);
}

/* So that what threads copy of arrays fits on the stack of the first one, too. */
static void strew_stack(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_STACK, &limit)) return;
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_STACK, &limit);
}

static volatile unsigned char strew_sink;

static void strew_touch(const unsigned char *array, size_t bytes) {
  unsigned char sum = 0;
  for (size_t i = 0; i < bytes; i += 64) sum += array[i];
  strew_sink = sum;
}

int main(void) {
  strew_stack();
"#;

/// A program that takes arrays from its input and then, for each `r`, runs the kernel and says how
/// long it took; for `w` it writes what the kernel has written. Scalars are volatile and the call
/// is through a pointer: the compiler knows no more of them than strew does.
fn program(kernel: &Kernel, data: &Data) -> Result<String, String> {
    let ir = kernel.compiled().parsed().kernel();
    let mut text = BEGINNING.to_owned();
    let mut arguments = Vec::new();
    for (place, parameter) in ir.passed_params().enumerate() {
        let declared = match parameter {
            Parameter::Scalar(scalar) => {
                let name = &ir.scalars[scalar].name;
                let value = data.sizes.scalar(name);
                let value = value.ok_or_else(|| format!("`{name}` has no value"))?;
                arguments.push(format!("a{place}"));
                format!(
                    "volatile {} a{place} = {};",
                    c_type(value.ty()),
                    literal(value)
                )
            }
            Parameter::Array(array) => {
                let bytes = bytes(data.original(&ir.arrays[array].name));
                arguments.push(format!("a{place}"));
                format!("void *a{place} = strew_array({bytes}u);")
            }
            Parameter::Record(_) => return Err("the kernel takes arrays of structs".to_owned()),
        };
        // Writing to a `String` does not fail.
        let _ = writeln!(text, "  {declared}");
    }
    let (mut restore, mut touch, mut tell) = (String::new(), String::new(), String::new());
    for (place, parameter) in ir.passed_params().enumerate() {
        let Parameter::Array(array) = parameter else {
            continue;
        };
        let name = &ir.arrays[array].name;
        let bytes = bytes(data.original(name));
        if arrays(kernel).contains(&(name.clone(), true)) {
            let _ = writeln!(text, "  void *b{place} = strew_copy(a{place}, {bytes}u);");
            let _ = writeln!(restore, "    memcpy(a{place}, b{place}, {bytes}u);");
            let _ = writeln!(tell, "      fwrite(a{place}, 1, {bytes}u, stdout);");
        } else {
            let _ = writeln!(touch, "    strew_touch(a{place}, {bytes}u);");
        }
    }
    let name = kernel.name();
    let arguments = arguments.join(", ");
    let _ = write!(
        text,
        "  __typeof__(&{name}) volatile kernel = {name};
  for (int order; (order = getchar()) == 'r' || order == 'w';) {{
    if (order == 'w') {{
{tell}      fflush(stdout);
      continue;
    }}
    struct timespec began, ended;
{restore}{touch}    clock_gettime(CLOCK_MONOTONIC, &began);
    (void)kernel({arguments});
    clock_gettime(CLOCK_MONOTONIC, &ended);
    printf(\"%.9f\\n\", (double)(ended.tv_sec - began.tv_sec) + 1e-9 * (double)(ended.tv_nsec - began.tv_nsec));
    fflush(stdout);
  }}
  return 0;
}}
"
    );
    Ok(text)
}

fn bytes(array: Option<&Array>) -> u64 {
    array.map_or(0, |it| it.values.bytes())
}

fn c_type(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "_Bool",
        Type::I8 => "int8_t",
        Type::U8 => "uint8_t",
        Type::I16 => "int16_t",
        Type::U16 => "uint16_t",
        Type::I32 => "int32_t",
        Type::U32 => "uint32_t",
        Type::I64 => "int64_t",
        Type::U64 => "uint64_t",
        Type::F32 => "float",
        Type::F64 => "double",
    }
}

/// `value` as C writes it.
fn literal(value: strew::Value) -> String {
    match (value.as_integer(), value.as_float()) {
        (Some(integer), _) if value.ty() == Type::U64 => format!("{integer}ull"),
        // There is no literal of the least number.
        (Some(integer), _) if integer == i128::from(i64::MIN) => {
            "(-9223372036854775807ll - 1)".to_owned()
        }
        (Some(integer), _) => format!("{integer}ll"),
        (None, Some(float)) if float.is_nan() => "NAN".to_owned(),
        (None, Some(float)) if float.is_infinite() && float > 0.0 => "INFINITY".to_owned(),
        (None, Some(float)) if float.is_infinite() => "-INFINITY".to_owned(),
        (None, float) => format!("{:?}", float.unwrap_or_default()),
    }
}
