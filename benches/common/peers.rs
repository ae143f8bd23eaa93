//! The C peers: a process of their own, which gets the data once and runs a loop whenever it is
//! told to.

use crate::data::{Elements, Problem, Value};
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// How peers in C are compiled: wrapping as in the kernels, and else all that the compiler can do.
const FLAGS: [&str; 6] = ["-std=gnu11", "-O3", "-march=native", "-fwrapv", "-w", "-c"];

/// How peers in Rust are.
const RUST_FLAGS: [&str; 9] = [
    "-C",
    "opt-level=3",
    "-C",
    "target-cpu=native",
    "-C",
    "panic=abort",
    "--edition=2024",
    "--crate-type=staticlib",
    "-Awarnings",
];

const RUSTC: &str = "rustc";

/// Files that are compiled alike.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    compiler: &'static str,
    files: Vec<PathBuf>,
    /// Behind the usual flags.
    flags: Vec<&'static str>,
}

impl Unit {
    /// Files of `benches/peers` that `cc` compiles.
    pub(crate) fn new(files: &[&str]) -> Self {
        let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("benches/peers");
        Self {
            compiler: "cc",
            files: files.iter().map(|file| folder.join(file)).collect(),
            flags: Vec::new(),
        }
    }

    /// Files in Rust, each a library; C calls one function of them, or they are left out.
    pub(crate) fn rust(files: &[&str]) -> Self {
        Self::new(files).by(RUSTC)
    }

    pub(crate) fn by(mut self, compiler: &'static str) -> Self {
        self.compiler = compiler;
        self
    }

    pub(crate) fn with(mut self, flags: &[&'static str]) -> Self {
        self.flags.extend(flags);
        self
    }
}

/// Bytes a nanosecond on all threads.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bandwidth {
    pub(crate) read: f64,
    /// Past the caches.
    pub(crate) write: f64,
}

impl Bandwidth {
    /// The better of two measurements: whoever else uses the machine can only take away.
    pub(crate) fn or_more(self, other: Self) -> Self {
        Self {
            read: self.read.max(other.read),
            write: self.write.max(other.write),
        }
    }
}

const PROGRAM: &str = "peers";

/// A running driver.
pub(crate) struct Peers {
    process: Child,
    /// Closed before the process is waited for.
    commands: Option<BufWriter<ChildStdin>>,
    answers: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Peers {
    /// Compiles the peers and starts them; `None` where there is no compiler.
    ///
    /// # Errors
    /// What a compiler that is there says against them.
    pub(crate) fn start(units: &[Unit], threads: usize) -> Result<Option<Self>, String> {
        if Command::new("cc").arg("--version").output().is_err() {
            return Ok(None);
        }
        let folder = tempfile::tempdir().map_err(text)?;
        if build(folder.path(), units, &["-fopenmp"]).is_err() {
            build(folder.path(), units, &[])?;
        }
        let mut process = Command::new(folder.path().join(PROGRAM))
            .env("OMP_NUM_THREADS", threads.to_string())
            // A private copy of 256 MiB is on a stack; the default of 8 MiB crashes at 4.
            .env("OMP_STACKSIZE", "1G")
            .env("OMP_DYNAMIC", "false")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(text)?;
        let pipes = process.stdin.take().zip(process.stdout.take());
        let (stdin, stdout) = pipes.ok_or("no pipes to the peers")?;
        Ok(Some(Self {
            process,
            commands: Some(BufWriter::new(stdin)),
            answers: BufReader::new(stdout),
            _folder: folder,
        }))
    }

    fn say(&mut self, command: &str) -> Result<(), String> {
        let commands = self.commands.as_mut().ok_or("the peers are gone")?;
        writeln!(commands, "{command}").map_err(text)
    }

    fn answer(&mut self) -> Result<String, String> {
        let commands = self.commands.as_mut().ok_or("the peers are gone")?;
        commands.flush().map_err(text)?;
        let mut line = String::new();
        self.answers.read_line(&mut line).map_err(text)?;
        match line.trim() {
            "" => Err("the peers ended".to_owned()),
            line => Ok(line.to_owned()),
        }
    }

    /// Hands over the problem.
    ///
    /// # Errors
    /// That the process is gone.
    pub(crate) fn give(&mut self, name: &str, problem: &Problem) -> Result<(), String> {
        self.say(&format!("kernel {name}"))?;
        for (_, value) in &problem.arguments {
            match value {
                Value::Int32(value) => self.say(&format!("whole {value}"))?,
                Value::Int64(value) => self.say(&format!("whole {value}"))?,
                Value::Single(value) => self.say(&format!("real {value}"))?,
                Value::Double(value) => self.say(&format!("real {value}"))?,
                Value::Input(elements) => self.send("input", elements)?,
                Value::Output(elements) => self.send("output", elements)?,
            }
        }
        Ok(())
    }

    fn send(&mut self, kind: &str, elements: &Elements) -> Result<(), String> {
        self.say(&format!("{kind} {}", elements.bytes()))?;
        let commands = self.commands.as_mut().ok_or("the peers are gone")?;
        write_all(commands, elements).map_err(text)
    }

    /// Nanoseconds of a run, the mean of `repeats`; `None` where there is no such way.
    ///
    /// # Errors
    /// That the process is gone.
    pub(crate) fn run(&mut self, way: &str, repeats: usize) -> Result<Option<f64>, String> {
        self.say(&format!("run {way} {repeats}"))?;
        match self.answer()?.as_str() {
            "none" => Ok(None),
            answer => answer.parse().map(Some).map_err(text),
        }
    }

    /// What the outputs of `problem` hold after the last run.
    ///
    /// # Errors
    /// That the process is gone.
    pub(crate) fn outputs(&mut self, problem: &Problem) -> Result<Vec<Elements>, String> {
        let mut found = Vec::new();
        for (at, (_, value)) in problem.arguments.iter().enumerate() {
            if let Value::Output(like) = value {
                self.say(&format!("get {at}"))?;
                let commands = self.commands.as_mut().ok_or("the peers are gone")?;
                commands.flush().map_err(text)?;
                let mut bytes = vec![0; like.bytes()];
                self.answers.read_exact(&mut bytes).map_err(text)?;
                found.push(read_as(like, &bytes));
            }
        }
        Ok(found)
    }

    /// What memory gives, measured on `bytes` bytes.
    ///
    /// # Errors
    /// That the process is gone.
    pub(crate) fn bandwidth(&mut self, bytes: usize) -> Result<Bandwidth, String> {
        self.say(&format!("bandwidth {bytes}"))?;
        let answer = self.answer()?;
        let (read, write) = answer.split_once(' ').ok_or("no two bandwidths")?;
        Ok(Bandwidth {
            read: read.parse().map_err(text)?,
            write: write.parse().map_err(text)?,
        })
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        drop(self.commands.take());
        // It ends with its input; whatever else it says is of no use any more.
        let _ = self.process.wait();
    }
}

fn text(error: impl std::fmt::Display) -> String {
    format!("the peers: {error}")
}

/// Makes the program of the driver and the units, with `more` flags.
fn build(folder: &Path, units: &[Unit], more: &[&str]) -> Result<(), String> {
    let driver = Unit::new(&["driver.c"]);
    let mut objects = Vec::new();
    for unit in std::iter::once(&driver).chain(units) {
        for file in &unit.files {
            let object = folder.join(format!("lib{}.o", objects.len()));
            let mut command = Command::new(unit.compiler);
            match unit.compiler {
                RUSTC => command.args(RUST_FLAGS).args(&unit.flags),
                _ => command.args(FLAGS).args(&unit.flags).args(more),
            };
            succeed(command.arg(file).arg("-o").arg(&object))?;
            objects.push(object);
        }
    }
    let mut link = Command::new("cc");
    link.args(more).arg("-o").arg(folder.join(PROGRAM));
    succeed(link.args(objects).args(["-lm", "-lpthread", "-ldl"]))
}

fn succeed(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(text)?;
    if output.status.success() {
        Ok(())
    } else {
        Err(text(String::from_utf8_lossy(&output.stderr)))
    }
}

fn write_all(to: &mut impl Write, elements: &Elements) -> std::io::Result<()> {
    macro_rules! write_each {
        ($elements:expr) => {
            for element in $elements {
                to.write_all(&element.to_ne_bytes())?;
            }
        };
    }
    match elements {
        Elements::I32(it) => write_each!(it),
        Elements::U32(it) => write_each!(it),
        Elements::I64(it) => write_each!(it),
        Elements::F32(it) => write_each!(it),
        Elements::F64(it) => write_each!(it),
    }
    Ok(())
}

/// `bytes` as elements of the type of `like`.
fn read_as(like: &Elements, bytes: &[u8]) -> Elements {
    fn each<T, const SIZE: usize>(bytes: &[u8], of: fn([u8; SIZE]) -> T) -> Vec<T> {
        bytes.as_chunks().0.iter().map(|it| of(*it)).collect()
    }
    match like {
        Elements::I32(_) => each(bytes, i32::from_ne_bytes).into(),
        Elements::U32(_) => each(bytes, u32::from_ne_bytes).into(),
        Elements::I64(_) => each(bytes, i64::from_ne_bytes).into(),
        Elements::F32(_) => each(bytes, f32::from_ne_bytes).into(),
        Elements::F64(_) => each(bytes, f64::from_ne_bytes).into(),
    }
}
