//! The command line, by running the real program.

mod arguments;
mod bench;
mod costs;
mod files;
mod kernels;
#[path = "../program/mod.rs"]
mod program;
mod real_data;
mod run;
#[cfg(unix)]
mod signals;

use std::fs;
use std::path::{Path, PathBuf};

struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
}

fn strew_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = program::strew_in(folder, arguments).output();
    Outcome::from(output.expect("the program starts"))
}

impl From<std::process::Output> for Outcome {
    fn from(output: std::process::Output) -> Self {
        Self {
            status: output.status.code().expect("the program ends by itself"),
            stdout: String::from_utf8(output.stdout).expect("text"),
            stderr: String::from_utf8(output.stderr).expect("text"),
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn strew(arguments: &[&str]) -> Outcome {
    strew_in(root(), arguments)
}

/// A folder with a kernel and two small arrays, gone at the end of the test.
struct Bench {
    folder: tempfile::TempDir,
}

const SEGMENT_SUM: &str = "\
void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}
";

impl Bench {
    fn new() -> Self {
        let bench = Self {
            folder: tempfile::tempdir().expect("a folder"),
        };
        bench.file("k.c", SEGMENT_SUM.as_bytes());
        bench.file(
            "seg.npy",
            &npy("<i4", "False", "(4,)", &bytes(&[0_i32, 2, 2, 1])),
        );
        bench.file(
            "x.npy",
            &npy("<f4", "False", "(4,)", &bytes(&[1.0_f32, 2.0, 3.0, 0.5])),
        );
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn file(&self, name: &str, contents: &[u8]) {
        fs::write(self.path(name), contents).expect("a file");
    }

    fn strew(&self, arguments: &[&str]) -> Outcome {
        strew_in(self.folder.path(), arguments)
    }

    /// `strew run k.c` with the two arrays, and `more`.
    fn run(&self, more: &[&str]) -> Outcome {
        let usual = ["run", "k.c", "--in", "seg=seg.npy", "--in", "x=x.npy"];
        self.strew(&[&usual, more].concat())
    }

    /// The names of all files in the folder.
    fn files(&self) -> Vec<String> {
        let entries = fs::read_dir(self.folder.path()).expect("a folder");
        let mut names: Vec<_> = entries
            .map(|it| {
                it.expect("an entry")
                    .file_name()
                    .to_string_lossy()
                    .into_owned()
            })
            .collect();
        names.sort();
        names
    }
}

trait Bytes {
    fn bytes(&self) -> Vec<u8>;
}

macro_rules! little_endian {
    ($($ty:ty)*) => {$(
        impl Bytes for $ty {
            fn bytes(&self) -> Vec<u8> {
                self.to_le_bytes().to_vec()
            }
        }
    )*};
}

little_endian!(i32 i64 f32 f64);

fn bytes<T: Bytes>(values: &[T]) -> Vec<u8> {
    values.iter().flat_map(Bytes::bytes).collect()
}

fn npy(descr: &str, fortran: &str, shape: &str, data: &[u8]) -> Vec<u8> {
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

/// The elements of a file, read without strew.
fn read<T: npyz::Deserialize>(path: impl AsRef<Path>) -> Vec<T> {
    let bytes = fs::read(path).expect("a file");
    let file = npyz::NpyFile::new(&bytes[..]).expect("an array");
    file.into_vec().expect("elements of that type")
}

#[track_caller]
fn refused(outcome: &Outcome, status: i32, parts: &[&str]) {
    assert_eq!(outcome.status, status, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "");
    for part in parts {
        assert!(
            outcome.stderr.contains(part),
            "no {part:?} in:\n{}",
            outcome.stderr
        );
    }
    assert!(!outcome.stderr.contains("panicked"), "{}", outcome.stderr);
}

fn data(name: &str) -> PathBuf {
    root().join("examples/data").join(name)
}
