//! The command line, by running the real program.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

struct Outcome {
    status: i32,
    stdout: String,
    stderr: String,
}

fn strew_in(folder: &Path, arguments: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_strew"))
        .env("STREW_CALIBRATION", "")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    Outcome::from(output)
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

#[test]
fn arrival_delays_per_destination_are_those_of_a_plain_loop() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("delay.npy");
    let outcome = strew(&[
        "run",
        "examples/kernels/segment_sum.c",
        "--in",
        "seg=examples/data/flights_dest.npy",
        "--in",
        "x=examples/data/flights_arr_delay.npy",
        "--set",
        "m=104",
        "--out",
        &format!("out={}", out.display()),
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for word in [
        "segment_sum",
        "schedule",
        "strategy",
        "thread",
        "compiled",
        "ran",
        "updates/s",
    ] {
        assert!(
            outcome.stderr.contains(word),
            "no {word} in:\n{}",
            outcome.stderr
        );
    }
    let (keys, delays) = (
        read::<i32>(data("flights_dest.npy")),
        read::<f32>(data("flights_arr_delay.npy")),
    );
    let mut sums = vec![0.0_f64; 104];
    for (key, delay) in keys.iter().zip(&delays) {
        sums[usize::try_from(*key).expect("a key")] += f64::from(*delay);
    }
    // Delays are whole minutes, so that every sum is exact in any order.
    assert_eq!(read::<f64>(out), sums);
}

#[test]
fn departures_per_hour_are_counted() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("hours.npy");
    let outcome = strew(&[
        "run",
        "examples/kernels/histogram.c",
        "--in",
        "key=examples/data/flights_hour.npy",
        "--set",
        "m=24",
        "--out",
        &format!("h={}", out.display()),
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let mut counts = vec![0; 24];
    for hour in read::<i32>(data("flights_hour.npy")) {
        counts[usize::try_from(hour).expect("an hour")] += 1;
    }
    assert_eq!(read::<i32>(out), counts);
}

#[test]
fn worst_delays_per_destination_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().join("worst.npy");
    let outcome = strew(&[
        "run",
        "examples/kernels/segment_max.c",
        "--in",
        "seg=examples/data/flights_dest.npy",
        "--in",
        "x=examples/data/flights_arr_delay.npy",
        "--set",
        "m=104",
        "--out",
        &format!("out={}", out.display()),
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let mut worst = vec![0.0_f32; 104];
    let keys = read::<i32>(data("flights_dest.npy"));
    for (key, delay) in keys.iter().zip(read::<f32>(data("flights_arr_delay.npy"))) {
        let held = &mut worst[usize::try_from(*key).expect("a key")];
        *held = if delay > *held { delay } else { *held };
    }
    assert_eq!(read::<f32>(out), worst);
}

#[test]
fn the_normals_of_the_bunny_are_scattered_to_three_vertices() {
    let folder = tempfile::tempdir().expect("a folder");
    let normals = |name: &str, more: &[&str]| -> Vec<f32> {
        let out = folder.path().join(name);
        let to = format!("normal={}", out.display());
        let usual = [
            "run",
            "examples/kernels/vertex_normals.c",
            "--in",
            "tri=examples/data/bunny_triangles.npy",
            "--in",
            "pos=examples/data/bunny_positions.npy",
            "--out",
            &to,
        ];
        let outcome = strew(&[&usual, more].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        read(out)
    };
    let expected = bunny_normals();
    assert_eq!(normals("exact.npy", &["--mode", "exact"]), expected);
    let stable = normals("1.npy", &["--threads", "1"]);
    for threads in ["2", "4", "8"] {
        assert_eq!(normals(threads, &["--threads", threads]), stable);
    }
    let largest = expected
        .iter()
        .fold(0.0, |largest: f32, it| largest.max(it.abs()));
    for (found, expected) in stable.iter().zip(&expected) {
        assert!(
            (found - expected).abs() <= 1e-5 * largest,
            "{found}, expected {expected}"
        );
    }
}

/// The same sums by a plain loop, operation by operation.
fn bunny_normals() -> Vec<f32> {
    let positions: Vec<f32> = read(data("bunny_positions.npy"));
    let vertex = |index: i32| -> [f32; 3] {
        let start = 3 * usize::try_from(index).expect("a vertex");
        [0, 1, 2].map(|axis| positions[start + axis])
    };
    let mut normals = vec![0.0; positions.len()];
    for triangle in read::<i32>(data("bunny_triangles.npy")).chunks_exact(3) {
        let [a, b, c] = [0, 1, 2].map(|corner| vertex(triangle[corner]));
        let edge = |to: [f32; 3]| [0, 1, 2].map(|axis| to[axis] - a[axis]);
        let (u, v) = (edge(b), edge(c));
        let cross = [
            u[1] * v[2] - u[2] * v[1],
            u[2] * v[0] - u[0] * v[2],
            u[0] * v[1] - u[1] * v[0],
        ];
        for index in triangle {
            for axis in 0..3 {
                normals[3 * *index as usize + axis] += cross[axis];
            }
        }
    }
    normals
}

#[test]
fn results_without_a_file_are_shown_in_short() {
    let outcome = Bench::new().run(&["--set", "m=3"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "out: f64[3]  min 0.5  max 5  mean 2.166667  [1, 0.5, 5]\n"
    );
}

#[test]
fn every_repeat_starts_from_the_same_contents() {
    let bench = Bench::new();
    bench.file(
        "start.npy",
        &npy("<f8", "False", "(3,)", &bytes(&[10.0_f64, 0.0, 0.0])),
    );
    let outcome = bench.run(&[
        "--in",
        "out=start.npy",
        "--out",
        "out=end.npy",
        "--repeat",
        "5",
        "--json",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(read::<f64>(bench.path("end.npy")), [11.0, 0.5, 5.0]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(json["repeats"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_result_may_replace_what_it_was_made_from() {
    let bench = Bench::new();
    bench.file(
        "acc.npy",
        &npy("<f8", "False", "(3,)", &bytes(&[1.0_f64, 1.0, 1.0])),
    );
    let outcome = bench.run(&["--in", "out=acc.npy", "--out", "out=acc.npy"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(read::<f64>(bench.path("acc.npy")), [2.0, 1.5, 6.0]);
}

#[test]
fn the_report_has_its_keys() {
    let bench = Bench::new();
    let outcome = bench.run(&[
        "--set",
        "m=3",
        "--out",
        "out=o.npy",
        "--json",
        "--threads",
        "2",
    ]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    for key in [
        "kernel",
        "mode",
        "threads",
        "schedule",
        "strategy",
        "why",
        "predicted_ns",
        "seconds",
        "repeats",
        "updates",
        "private_bytes",
        "returned",
        "outputs",
        "fault",
    ] {
        assert!(json.get(key).is_some(), "no {key} in {json}");
    }
    for key in ["compile", "prepare", "main", "merge", "total"] {
        assert!(
            json["seconds"][key].is_number(),
            "no seconds.{key} in {json}"
        );
    }
    assert_eq!(json["kernel"], "segment_sum");
    assert_eq!(json["mode"], "stable");
    assert_eq!(json["updates"], 4);
    let expected =
        serde_json::json!([{"name": "out", "shape": [3], "type": "f64", "path": "o.npy"}]);
    assert_eq!(json["outputs"], expected);
}

#[test]
fn a_fault_is_told_and_leaves_the_output_alone() {
    let bench = Bench::new();
    bench.file(
        "seg.npy",
        &npy("<i4", "False", "(4,)", &bytes(&[0_i32, 2, -1, 9])),
    );
    bench.file("out.npy", b"precious");
    let before = bench.files();
    let outcome = bench.run(&["--set", "m=3", "--out", "out=out.npy"]);
    refused(
        &outcome,
        3,
        &[
            "k.c:3:5",
            "index -1",
            "`out`",
            "extent there is 3",
            "`segment_sum`",
            "i = 2",
            "out[seg[i]] += x[i];",
            "^^^^",
        ],
    );
    assert_eq!(
        fs::read(bench.path("out.npy")).expect("still there"),
        b"precious"
    );
    assert_eq!(bench.files(), before);
}

#[test]
fn a_fault_is_told_as_json_too() {
    let bench = Bench::new();
    bench.file(
        "seg.npy",
        &npy("<i4", "False", "(4,)", &bytes(&[0_i32, 2, 7, 9])),
    );
    let outcome = bench.run(&["--set", "m=3", "--json"]);
    assert_eq!(outcome.status, 3);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let expected = serde_json::json!({
        "kind": "out_of_range", "line": 3, "column": 5, "array": "out", "index": 7, "extent": 3, "iteration": [2]
    });
    assert_eq!(json["fault"], expected);
}

#[test]
fn wide_indices_are_not_cut_off() {
    let bench = Bench::new();
    let wide = SEGMENT_SUM.replace("const int32_t seg", "const int64_t seg");
    bench.file("k.c", wide.as_bytes());
    let keys = bytes(&[0_i64, 1 << 32, 0, 0]);
    bench.file("seg.npy", &npy("<i8", "False", "(4,)", &keys));
    refused(
        &bench.run(&["--set", "m=3"]),
        3,
        &["index 4294967296", "i = 1"],
    );
}

#[test]
fn unusable_npy_files_are_refused_by_name() {
    let four = bytes(&[0_i32, 2, 2, 1]);
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("empty", vec![], "the file is empty"),
        ("text", b"hello".to_vec(), "not a .npy file"),
        (
            "truncated",
            npy("<i4", "False", "(9,)", &four),
            "truncated: its header announces 36 bytes of elements, found 16",
        ),
        (
            "header only",
            b"\x93NUMPY\x01\x00\xff\xff{".to_vec(),
            "header",
        ),
        (
            "long",
            npy("<i4", "False", "(2,)", &four),
            "longer than its header says",
        ),
        ("fortran", npy("<i4", "True", "(2, 2)", &four), "Fortran"),
        (
            "big-endian",
            npy(">i4", "False", "(4,)", &four),
            "big-endian",
        ),
        (
            "other type",
            npy("<f4", "False", "(4,)", &four),
            "type f32, expected i32",
        ),
        ("object", npy("|O", "False", "(4,)", &four), "|O"),
    ];
    for (what, contents, message) in cases {
        let bench = Bench::new();
        bench.file("seg.npy", &contents);
        let outcome = bench.run(&["--set", "m=3", "--out", "out=o.npy"]);
        refused(&outcome, 2, &["seg.npy", "`seg`", message]);
        assert!(!bench.path("o.npy").exists(), "{what}");
    }
}

#[test]
fn ranks_are_never_changed() {
    let bench = Bench::new();
    bench.file(
        "seg.npy",
        &npy("<i4", "False", "(2, 2)", &bytes(&[0_i32, 2, 2, 1])),
    );
    refused(
        &bench.run(&["--set", "m=3"]),
        2,
        &["`seg`", "shape [2, 2]", "seg[n]"],
    );
}

#[test]
fn sizes_that_contradict_each_other_are_refused() {
    let bench = Bench::new();
    refused(
        &bench.run(&["--set", "m=3", "--set", "n=5"]),
        2,
        &["`n` is 5 as given, 4 by `seg`"],
    );
    bench.file("x.npy", &npy("<f4", "False", "(3,)", &bytes(&[1.0_f32; 3])));
    refused(
        &bench.run(&["--set", "m=3"]),
        2,
        &["`n` is 4 by `seg`, 3 by `x`"],
    );
}

#[test]
fn missing_and_unknown_arguments_are_named() {
    let bench = Bench::new();
    refused(&bench.run(&[]), 2, &["`m`", "i32", "--set m=VALUE"]);
    let outcome = bench.strew(&["run", "k.c", "--in", "seg=seg.npy", "--set", "m=3"]);
    refused(&outcome, 2, &["`x`", "--in x=FILE.npy"]);
    refused(
        &bench.run(&["--set", "q=3"]),
        2,
        &["no parameter `q`", "n, m, seg, x, out"],
    );
    refused(
        &bench.run(&["--set", "m=3.5"]),
        2,
        &["--set m", "3.5", "i32"],
    );
    refused(
        &bench.run(&["--set", "m=9999999999"]),
        2,
        &["out of range for i32"],
    );
    refused(&bench.run(&["--set", "x=1"]), 2, &["`x` is an array"]);
    refused(&bench.run(&["--in", "m=seg.npy"]), 2, &["`m` is a scalar"]);
    refused(
        &bench.run(&["--set", "m=3", "--set", "m=3"]),
        2,
        &["given twice"],
    );
    refused(
        &bench.run(&["--set", "m=3", "--out", "x=o.npy"]),
        2,
        &["does not write `x`"],
    );
    refused(
        &bench.run(&["--set", "m=-1"]),
        2,
        &["out[m]", "-1", "negative"],
    );
}

#[test]
fn an_array_that_is_missing_is_asked_for_rather_than_its_size() {
    let bench = Bench::new();
    let outcome = bench.strew(&["run", "k.c", "--set", "m=3", "--in", "x=x.npy"]);
    refused(&outcome, 2, &["no array for `seg`", "--in seg=FILE.npy"]);
    let outcome = bench.strew(&["run", "k.c", "--set", "m=3"]);
    refused(&outcome, 2, &["no array for `seg`", "no array for `x`"]);
    assert!(!outcome.stderr.contains("no value for `n`"));
}

#[test]
fn a_check_finds_pragmas_that_cannot_be_followed() {
    let bench = Bench::new();
    let source =
        |steps: &str| SEGMENT_SUM.replace("  for", &format!("#pragma strew {steps}\n  for"));
    bench.file("j.c", source("unroll(j, 4)").as_bytes());
    let expected = "\
error[E901]: unroll(j, 4) is misaddressed: there is no loop `j`; the loops are `i`
 --> j.c:2:15
  |
2 | #pragma strew unroll(j, 4)
  |               ^^^^^^^^^^^^
";
    let outcome = bench.strew(&["check", "j.c"]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (1, expected));
    bench.file("m.c", source("melt(i) unrol(i, 4)").as_bytes());
    refused(
        &bench.strew(&["check", "m.c"]),
        1,
        &["no step `melt`", "no step `unrol`; did you mean `unroll`?"],
    );
    bench.file("i.c", source("unroll(i, 4)").as_bytes());
    assert_eq!(bench.strew(&["check", "i.c"]).status, 0);
}

#[test]
fn output_files_are_checked_before_the_run() {
    let bench = Bench::new();
    bench.file(
        "k.c",
        b"void two(int64_t n, const int32_t a[n], int32_t b[n], int32_t c[n]) {\n\
          for (int64_t i = 0; i < n; i++) { b[i] = a[i]; c[i] = a[i]; }\n}\n",
    );
    fs::create_dir(bench.path("folder")).expect("a folder");
    let run = |more: &[&str]| bench.strew(&[&["run", "k.c", "--in", "a=seg.npy"], more].concat());
    refused(
        &run(&["--out", "b=o.npy", "--out", "c=o.npy"]),
        2,
        &["o.npy", "--out b", "--out c"],
    );
    refused(
        &run(&["--out", "b=o.npy", "--out", "c=./folder/../o.npy"]),
        2,
        &["--out b", "--out c"],
    );
    refused(&run(&["--out", "b=seg.npy"]), 2, &["seg.npy", "--in a"]);
    refused(
        &run(&["--out", "b=no/such/folder/o.npy"]),
        2,
        &["cannot be written"],
    );
    refused(&run(&["--out", "b=folder"]), 2, &["cannot be written"]);
    assert_eq!(bench.files(), ["folder", "k.c", "seg.npy", "x.npy"]);
    assert_eq!(run(&["--out", "b=b.npy", "--out", "c=c.npy"]).status, 0);
    assert_eq!(read::<i32>(bench.path("c.npy")), [0, 2, 2, 1]);
}

#[test]
fn unusable_sources_are_refused() {
    let bench = Bench::new();
    refused(
        &bench.strew(&["check", "nothing.c"]),
        2,
        &["cannot read nothing.c"],
    );
    refused(&bench.strew(&["check", "."]), 2, &["cannot read"]);
    bench.file("empty.c", b"");
    refused(&bench.strew(&["check", "empty.c"]), 1, &["empty.c:1:1"]);
    bench.file("binary.c", b"\xff\xfe\x00");
    refused(&bench.strew(&["check", "binary.c"]), 2, &["not UTF-8"]);
    bench.file("deep.c", "(".repeat(1 << 20).as_bytes());
    bench.file("deep.nest", "(".repeat(1 << 20).as_bytes());
    for deep in ["deep.c", "deep.nest"] {
        let outcome = bench.strew(&["check", deep]);
        refused(&outcome, 1, &[deep]);
        assert!(
            outcome.stderr.len() < 10_000,
            "{} bytes",
            outcome.stderr.len()
        );
    }
    bench.file("again.c", b"void f(int n, int a[n]) { f(n, a); }\n");
    refused(
        &bench.strew(&["check", "again.c"]),
        1,
        &["again.c:1:27", "recursive"],
    );
}

#[test]
fn kernels_with_nothing_to_do_run() {
    let bench = Bench::new();
    bench.file("none.c", b"void none(void) {}\n");
    assert_eq!(bench.strew(&["run", "none.c"]).status, 0);
    bench.file(
        "no_loop.c",
        b"void no_loop(int32_t v, int32_t out[1]) { out[0] = v; }\n",
    );
    let outcome = bench.strew(&["run", "no_loop.c", "--set", "v=7"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(
        outcome.stdout,
        "out: i32[1]  min 7  max 7  mean 7.000000  [7]\n"
    );
    bench.file("seg.npy", &npy("<i4", "False", "(0,)", &[]));
    bench.file("x.npy", &npy("<f4", "False", "(0,)", &[]));
    let outcome = bench.run(&["--set", "m=0"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "out: f64[0]  []\n");
}

#[test]
fn several_syntax_errors_are_shown_with_their_lines() {
    let bench = Bench::new();
    let broken = "void f(int n, int a[n]) {\n  a[0] = ;\n  a[1] = 1;\n  b[2] = 3;\n}\nvoid g(int n int m) {}\n";
    bench.file("broken.c", broken.as_bytes());
    let outcome = bench.strew(&["check", "broken.c"]);
    refused(
        &outcome,
        1,
        &["broken.c:2:", "  a[0] = ;", "^", "broken.c:6:"],
    );
    let outcome = bench.strew(&["check", "broken.c", "--json"]);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let list = json.as_array().expect("a list");
    assert!(list.len() >= 2, "{json}");
    for key in [
        "severity",
        "code",
        "message",
        "file",
        "line",
        "column",
        "end_line",
        "end_column",
        "help",
    ] {
        assert!(list[0].get(key).is_some(), "no {key} in {json}");
    }
    assert_eq!(list[0]["line"], 2);
}

#[test]
fn kernels_are_chosen_by_name() {
    let bench = Bench::new();
    let two = format!("{SEGMENT_SUM}void other(void) {{}}\n");
    bench.file("k.c", two.as_bytes());
    refused(
        &bench.run(&["--set", "m=3"]),
        2,
        &["several kernels", "segment_sum, other"],
    );
    refused(
        &bench.run(&["--kernel", "sum"]),
        2,
        &["no kernel `sum`", "segment_sum, other"],
    );
    assert_eq!(
        bench
            .run(&["--set", "m=3", "--kernel", "segment_sum"])
            .status,
        0
    );
}

#[test]
fn steps_are_applied_and_refused() {
    let bench = Bench::new();
    let step = "tile_indirection_using_forall(i, reduction(out) = add, chunks = 4)";
    let outcome = bench.strew(&["opt", "k.c", "--step", step]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("scf.forall i_c in 0..4 private("),
        "{}",
        outcome.stdout
    );

    let outcome = bench.strew(&[
        "opt",
        "k.c",
        "--step",
        step,
        "--step",
        "unroll(i, 4)",
        "--print-ir-after-all",
    ]);
    assert_eq!(
        outcome.stdout.matches("// ---- after ").count(),
        2,
        "{}",
        outcome.stdout
    );

    let outcome = bench.strew(&["opt", "k.c", "--step", "unroll(j, 4)"]);
    refused(&outcome, 1, &["unroll(j, 4)", "misaddressed", "`i`"]);
    let outcome = bench.strew(&["opt", "k.c", "--step", "unroll(j, 4)", "--json"]);
    assert_eq!(outcome.status, 1);
    let json: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    assert_eq!(
        (&json["verdict"], &json["reason"]),
        (&"misaddressed".into(), &"NoSuchLoop".into())
    );
    refused(
        &bench.strew(&["opt", "k.c", "--step", "unrol(i, 4)"]),
        1,
        &["--step:1:1", "unroll"],
    );
}

#[test]
fn every_dump_is_valid_input() {
    let bench = Bench::new();
    let first = bench.strew(&["emit", "k.c", "--stage", "scheduled"]);
    assert_eq!(first.status, 0, "{}", first.stderr);
    assert!(first.stdout.contains("scf.forall"), "{}", first.stdout);
    bench.file("k.nest", first.stdout.as_bytes());
    assert_eq!(bench.strew(&["opt", "k.nest"]).stdout, first.stdout);
    let outcome = bench.strew(&[
        "run",
        "k.nest",
        "--in",
        "seg=seg.npy",
        "--in",
        "x=x.npy",
        "--set",
        "m=3",
    ]);
    assert_eq!(outcome.stdout, bench.run(&["--set", "m=3"]).stdout);
}

/// Each kernel by the steps that its source asks for, the others as they are; what is refused stops it.
#[test]
fn without_steps_the_kernels_come_out_as_their_source_says() {
    let bench = Bench::new();
    let source = "void f(long n, double y[n]) {
  #pragma strew unroll(i, 2)
  for (long i = 0; i < n; i++) y[i] = 1.0;
}
void g(long n, double y[n]) { for (long i = 0; i < n; i++) y[i] = 2.0; }
";
    bench.file("k.c", source.as_bytes());
    let outcome = bench.strew(&["opt", "k.c"]);
    assert!(
        outcome.stdout.contains("in 0..n - 1 step 2"),
        "{}",
        outcome.stdout
    );
    assert!(outcome.stdout.contains("y[i] = 2.0"), "{}", outcome.stdout);
    let stages = bench.strew(&["opt", "k.c", "--kernel", "f", "--print-ir-after-all"]);
    assert!(
        stages.stdout.contains("// ---- after unroll(i, 2)"),
        "{}",
        stages.stdout
    );
    let other = source.replace("unroll(i, 2)", "unroll(j, 2)");
    bench.file("k.c", other.as_bytes());
    let refused = bench.strew(&["opt", "k.c"]);
    assert_eq!((refused.status, refused.stdout.as_str()), (1, ""));
    assert!(
        refused.stderr.contains("there is no loop `j`"),
        "{}",
        refused.stderr
    );
}

#[test]
fn all_stages_can_be_seen() {
    let bench = Bench::new();
    for (stage, word) in [
        ("ast", "segment_sum"),
        ("nest", "out[seg[i]] reduce(add) f64(x[i])"),
        ("scheduled", "private("),
        ("clif", "function"),
        ("asm", "ret"),
    ] {
        let outcome = bench.strew(&["emit", "k.c", "--stage", stage]);
        assert_eq!(outcome.status, 0, "{stage}: {}", outcome.stderr);
        assert!(outcome.stdout.contains(word), "{stage}: {}", outcome.stdout);
    }
}

#[test]
fn sources_come_from_standard_input_too() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_strew"))
        .env("STREW_CALIBRATION", "")
        .args(["emit", "-", "--stage", "nest"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(SEGMENT_SUM.as_bytes()).expect("it reads");
    drop(stdin);
    let output = child.wait_with_output().expect("it ends");
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("kernel @segment_sum("));
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_strew"))
        .env("STREW_CALIBRATION", "")
        .args(["emit", "examples/kernels/segment_sum.c", "--stage", "asm"])
        .current_dir(root())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn a_budget_too_small_is_an_error_before_anything_runs() {
    let bench = Bench::new();
    let outcome = bench.run(&["--set", "m=3", "--memory", "0", "--strategy", "dense"]);
    refused(&outcome, 1, &["memory"]);
}

#[test]
fn a_run_says_what_it_saw_and_what_it_expected() {
    let bench = Bench::new();
    let run = |more: &[&str]| {
        let keys = "seg=two(0, 7, seed=1)";
        let sizes = ["run", "k.c", "--set", "n=1200000", "--set", "m=50000"];
        let arrays = ["--in", keys, "--in", "x=fill(1)", "--threads", "2"];
        let outcome = bench.strew(&[&sizes, &arrays, more].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome
    };
    let said = run(&[]).stderr;
    for line in [
        "saw       2048 updates: 5",
        "cache lines each, within 8 elements in one place, to 2 in all, some far more often than others\n",
        "expected  ",
        "binned ",
        "mode      stable, ",
    ] {
        assert!(said.contains(line), "{line}\n{said}");
    }
    let said = run(&["--json"]).stdout;
    let said: serde_json::Value = serde_json::from_str(&said).expect("JSON");
    let saw = &said["saw"];
    assert_eq!(saw["updates"], 2048);
    assert_eq!(saw["span"], 8);
    assert_eq!(saw["elements"], 2);
    assert_eq!(saw["skewed"], true);
    assert_eq!(saw["rises"], false);
    assert!(
        saw["repeated"]
            .as_f64()
            .is_some_and(|it| it > 0.4 && it < 0.6)
    );
    for strategy in ["serial", "dense", "blocked", "binned"] {
        assert!(said["predicted_ns"][strategy].as_u64() > Some(0), "{said}");
    }
    // In order there is nothing better here.
    let said = run(&["--mode", "exact", "--strategy", "serial"]).stderr;
    let mode = "mode      exact by running the loop as it is written, 1 thread\n";
    assert!(said.contains(mode), "{said}");
    // Too little to look at.
    let said = bench.run(&["--set", "m=3"]);
    assert!(!said.stderr.contains("saw "), "{}", said.stderr);
    let said = bench.run(&["--set", "m=3", "--json"]).stdout;
    assert!(said.contains("\"saw\":null"), "{said}");
}

#[test]
fn absurd_sizes_and_budgets_are_no_crash() {
    let bench = Bench::new();
    let outcome = bench.run(&["--set", "m=3", "--memory", "1E", "--strategy", "dense"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let wide = SEGMENT_SUM.replace("int32_t m", "int64_t m");
    bench.file("wide.c", wide.as_bytes());
    for m in ["1000000000000000", "4000000000000000000"] {
        let size = format!("m={m}");
        let usual = [
            "run",
            "wide.c",
            "--in",
            "seg=seg.npy",
            "--in",
            "x=x.npy",
            "--set",
        ];
        let outcome = bench.strew(&[&usual[..], &[&size]].concat());
        refused(&outcome, 1, &["memory"]);
    }
}

#[test]
fn an_index_out_of_range_is_skipped_when_asked_for() {
    let bench = Bench::new();
    let outcome = bench.run(&["--set", "m=2", "--oob", "skip"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("[1, 0.5]"), "{}", outcome.stdout);
    let skipped = "skipped   2 statements with an index out of range";
    assert!(outcome.stderr.contains(skipped), "{}", outcome.stderr);
    let outcome = bench.run(&["--set", "m=2", "--oob", "skip", "--json"]);
    assert!(outcome.stdout.contains("\"skipped\":2"));
    assert_eq!(bench.run(&["--set", "m=2"]).status, 3);
    assert_eq!(bench.run(&["--oob", "wrap"]).status, 2);
}

#[test]
fn flags_that_do_not_exist_are_usage_errors() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["--frobnicate"]).status, 2);
    assert_eq!(bench.run(&["--mode", "quick"]).status, 2);
    refused(
        &bench.run(&["--set", "m=3", "--strategy", "blokced"]),
        2,
        &["blokced", "dense"],
    );
}

#[test]
fn a_returned_value_is_printed() {
    let bench = Bench::new();
    let kernel = "kernel @sum(n: i64, x: f32[n]) -> f32 {\n  var sum: f32 = 0.0\n  affine.for i in 0..n {\n    sum reduce(add) x[i]\n  }\n  return sum\n}\n";
    bench.file("sum.nest", kernel.as_bytes());
    let outcome = bench.strew(&["run", "sum.nest", "--in", "x=x.npy"]);
    assert_eq!((outcome.status, outcome.stdout.as_str()), (0, "6.5\n"));
    let outcome = bench.strew(&["run", "sum.nest", "--in", "x=x.npy", "--json"]);
    assert!(
        outcome.stdout.contains("\"returned\":6.5"),
        "{}",
        outcome.stdout
    );
    let outcome = bench.strew(&[
        "run",
        "sum.nest",
        "--in",
        "x=fill(inf)",
        "--set",
        "n=2",
        "--json",
    ]);
    assert!(
        outcome.stdout.contains("\"returned\":\"inf\""),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
}

#[test]
fn sizes_that_are_inferred_are_not_set_and_assumptions_are_told() {
    let bench = Bench::new();
    let kernel = "kernel @half(infer length: i64, x: f32[length], n: i64, out: f32[n]) assume (2 * n == length) {\n  affine.for i in 0..n {\n    out[i] = x[2 * i]\n  }\n}\n";
    bench.file("half.nest", kernel.as_bytes());
    let run =
        |more: &[&str]| bench.strew(&[&["run", "half.nest", "--in", "x=x.npy"], more].concat());
    let outcome = run(&["--set", "n=2"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("[1, 3]"), "{}", outcome.stdout);
    let outcome = run(&["--set", "n=2", "--set", "length=4"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .contains("has no parameter `length`; its parameters: x, n, out"),
        "{}",
        outcome.stderr
    );
    let outcome = run(&["--set", "n=3"]);
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .contains("the kernel assumes `n * 2 == length`, which does not hold"),
        "{}",
        outcome.stderr
    );
}

/// A process that is to be asked to terminate.
#[cfg(unix)]
struct Started(std::process::Child);

#[cfg(unix)]
impl Started {
    fn new(folder: &Path, arguments: &[&str]) -> Self {
        let started = Command::new(env!("CARGO_BIN_EXE_strew"))
            .env("STREW_CALIBRATION", "")
            .args(arguments)
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        Self(started.expect("the program starts"))
    }

    fn terminate(mut self) -> std::process::ExitStatus {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args(["-TERM", &id]).status();
        assert!(sent.expect("a signal").success());
        self.0.wait().expect("the program ends")
    }

    /// The same with one that may run on, which is ended after `most`.
    fn terminate_within(self, most: Duration) -> Option<std::process::ExitStatus> {
        let id = self.0.id().to_string();
        let (sender, ended) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(move || sender.send(self.terminate()));
            let ended = ended.recv_timeout(most).ok();
            if ended.is_none() {
                let sent = Command::new("kill").args(["-KILL", &id]).status();
                assert!(sent.expect("a signal").success());
            }
            ended
        })
    }
}

#[cfg(unix)]
impl Bench {
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("a pipe").success());
        path
    }
}

#[cfg(unix)]
#[test]
fn a_signal_while_inputs_are_read_ends_the_process() {
    use std::os::unix::process::ExitStatusExt as _;
    let bench = Bench::new();
    let pipe = bench.pipe("seg.pipe");
    let started = Started::new(
        bench.folder.path(),
        &["run", "k.c", "--in", "seg=seg.pipe", "--in", "x=x.npy"],
    );
    // Opens only when the other end is opened too.
    let _writer = fs::File::options().write(true).open(pipe).expect("a pipe");
    assert_eq!(started.terminate().signal(), Some(15));
}

#[cfg(unix)]
#[test]
fn a_signal_while_no_call_runs_ends_the_process_and_leaves_no_files() {
    use std::io::Read as _;
    let bench = Bench::new();
    bench.file(
        "two.c",
        b"void two(int64_t n, double a[n], double b[n]) {\n  for (int64_t i = 0; i < n; i++) {\n    a[i] = 1.0;\n    b[i] = 2.0;\n  }\n}\n",
    );
    let pipe = bench.pipe("b.pipe");
    let before = bench.files();
    // More than a pipe holds, so that the program waits for its reader.
    let flags = [
        "run", "two.c", "--set", "n=100000", "--out", "a=a.npy", "--out", "b=b.pipe",
    ];
    let started = Started::new(bench.folder.path(), &flags);
    let mut reader = fs::File::open(pipe).expect("a pipe");
    reader.read_exact(&mut [0]).expect("the first byte");
    assert_ne!(bench.files(), before);
    assert_eq!(started.terminate().code(), Some(130));
    assert_eq!(bench.files(), before);
}

/// Nothing in these can fail, and each would take hours.
#[cfg(unix)]
const ENDLESS: &str = "
void flat(int64_t n, double out[1]) {
  for (int64_t i = 0; i < n; i++)
    out[0] = out[0] * 0.5 + i;
}
void nest(int64_t n, double out[1]) {
  for (int64_t t = 0; t < 4; t++)
    for (int64_t i = 0; i < n; i++)
      for (int64_t j = 0; j < n; j++)
        out[0] = out[0] * 0.5 + i;
}
void steps(int64_t n, double out[1000]) {
  double next[1000];
  for (int64_t t = 0; t < n; t++) {
    for (int64_t i = 1; i < 999; i++)
      next[i] = out[i - 1] + out[i + 1];
    for (int64_t i = 1; i < 999; i++)
      out[i] = next[i] * 0.5;
  }
}
void lanes(int64_t n, double out[1000]) {
  for (int64_t t = 0; t < n; t++)
    for (int64_t i = 0; i < 1000; i++)
      out[i] = out[i] * 0.5 + t;
}
";

#[cfg(unix)]
#[test]
fn the_first_signal_ends_a_run_that_cannot_fail() {
    use std::io::Read as _;
    let bench = Bench::new();
    bench.file("endless.c", ENDLESS.as_bytes());
    bench.file("out.npy", b"as it was");
    let before = bench.files();
    for (kernel, n) in [
        ("flat", "n=1000000000000"),
        ("nest", "n=1000000"),
        ("steps", "n=1000000000000"),
        ("lanes", "n=1000000000000"),
    ] {
        let set = ["--set", n, "--out", "out=out.npy"];
        let flags = [&["run", "endless.c", "--kernel", kernel][..], &set].concat();
        // One that comes before the loop runs ends the process at once.
        let mut patience = Duration::from_millis(100);
        let (code, said) = loop {
            let mut started = Started::new(bench.folder.path(), &flags);
            std::thread::sleep(patience);
            let mut talk = started.0.stderr.take().expect("a pipe");
            let ended = started.terminate_within(Duration::from_secs(60));
            let ended = ended.unwrap_or_else(|| panic!("{kernel} runs on"));
            let mut said = String::new();
            talk.read_to_string(&mut said).expect("text");
            if said.contains("stopping") || patience > Duration::from_secs(20) {
                break (ended.code(), said);
            }
            patience *= 2;
        };
        assert_eq!(code, Some(3), "{kernel}: {said}");
        assert!(said.contains("stopping: outputs are put back"), "{said}");
        assert!(said.contains("error: stopped as asked"), "{said}");
        assert_eq!(bench.files(), before);
        let kept = fs::read(bench.path("out.npy")).expect("the file");
        assert_eq!(kept, b"as it was");
    }
}

/// `strew emit --stage object --library` where cargo is `script`.
#[cfg(unix)]
fn library_by(script: &str) -> (Bench, Outcome) {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new();
    let cargo = bench.path("cargo");
    bench.file("cargo", format!("#!/bin/sh\n{script}\n").as_bytes());
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).expect("a program");
    let output = Command::new(env!("CARGO_BIN_EXE_strew"))
        .args(["emit", "k.c", "--stage", "object", "-o", "k.o"])
        .args(["--library", "library.a"])
        .env("CARGO", &cargo)
        .env("MADE", bench.path("made"))
        .current_dir(bench.folder.path())
        .output();
    let outcome = Outcome::from(output.expect("the program starts"));
    (bench, outcome)
}

#[cfg(unix)]
#[test]
fn an_object_comes_with_the_library_that_cargo_makes() {
    let makes = r#"mkdir "$MADE"; echo "$@" > "$MADE/libstrew_runtime.a"; pwd >> "$MADE/libstrew_runtime.a"
echo "{\"filenames\": [\"$MADE/libother.a\", \"$MADE/libstrew_runtime.a\"]}""#;
    let (bench, outcome) = library_by(makes);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let said = fs::read_to_string(bench.path("library.a")).expect("a library");
    let expected = "rustc --release -p strew-runtime --crate-type staticlib --locked";
    assert!(said.starts_with(expected), "{said}");
    assert!(said.ends_with(concat!(env!("CARGO_MANIFEST_DIR"), "\n")));
    assert!(bench.path("k.o").exists() && bench.path("k.h").exists());

    for (script, why) in [
        (
            "echo 'no network' >&2; exit 1",
            "made no library: no network; `cargo rustc",
        ),
        ("exit 0", "names no library; `cargo rustc"),
    ] {
        let (bench, outcome) = library_by(script);
        assert_eq!(outcome.status, 1, "{}", outcome.stderr);
        assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
        assert!(!bench.path("library.a").exists());
    }
    let alone = Bench::new().strew(&["emit", "k.c", "--stage", "nest", "--library", "l.a"]);
    assert_eq!(alone.status, 2);
    assert!(alone.stderr.contains("--library goes with --stage object"));
}

/// Runs the program with the file of costs named `costs` in the bench's folder.
fn strew_with_costs(bench: &Bench, arguments: &[&str]) -> Outcome {
    let output = Command::new(env!("CARGO_BIN_EXE_strew"))
        .env("STREW_CALIBRATION", "kept/costs.json")
        .args(arguments)
        .current_dir(bench.folder.path())
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    Outcome::from(output)
}

const RUN: [&str; 9] = [
    "run",
    "k.c",
    "--in",
    "seg=seg.npy",
    "--in",
    "x=x.npy",
    "--set",
    "m=3",
    "--json",
];

#[test]
fn costs_are_measured_and_kept() {
    let bench = Bench::new();
    let dry = strew_with_costs(&bench, &["calibrate", "--dry-run", "--json"]);
    assert_eq!((dry.status, dry.stderr.as_str()), (0, ""));
    assert!(!bench.path("kept").exists());
    let costs: serde_json::Value = serde_json::from_str(&dry.stdout).expect("JSON");
    for cost in ["update", "sort", "merge"] {
        assert!(costs[cost].as_f64() > Some(0.0), "{costs}");
    }
    let lines = costs["lines"].as_array().expect("a list");
    let lines: Vec<f64> = lines.iter().filter_map(|it| it.as_f64()).collect();
    assert!(lines.len() == 10 && lines.is_sorted(), "{lines:?}");

    let kept = strew_with_costs(&bench, &["calibrate"]);
    assert_eq!(kept.status, 0, "{}", kept.stderr);
    assert_eq!(kept.stderr, "kept in kept/costs.json\n");
    for cost in ["update", "wait", "run", "line", "sort", "merge", "share"] {
        assert!(kept.stdout.contains(&format!("\n{cost} ")) || kept.stdout.starts_with(cost));
    }
    let run = strew_with_costs(&bench, &RUN);
    assert_eq!(run.status, 0, "{}", run.stderr);
    assert!(!run.stderr.contains("warning"), "{}", run.stderr);
}

#[test]
fn costs_of_a_file_decide_and_a_bad_file_is_told_of() {
    let bench = Bench::new();
    fs::create_dir(bench.path("kept")).expect("a folder");
    let predicted = |text: &str| {
        fs::write(bench.path("kept/costs.json"), text).expect("a file");
        let run = strew_with_costs(&bench, &RUN);
        assert_eq!(run.status, 0, "{}", run.stderr);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
        (report["predicted_ns"]["binned"].clone(), run.stderr)
    };
    let costs = |version: u32, share: f64| {
        let lines = [1.0; 10];
        serde_json::json!({"version": version, "update": 1.0, "wait": 0.0, "run": 0.0, "lines": lines, "sort": 2.0, "merge": 1.0, "share": share})
            .to_string()
    };
    let (binned, told) = predicted(&costs(1, 5e6));
    assert!(binned.as_u64() >= Some(5_000_000), "{binned}");
    assert!(!told.contains("warning"), "{told}");
    for (text, why) in [
        ("{", "not what `strew calibrate` writes"),
        (&costs(7, 5e6), "of version 7, and this strew takes 1"),
        (&costs(1, -1.0), "a cost is negative"),
    ] {
        let (binned, told) = predicted(text);
        assert!(binned.as_u64() < Some(1_000_000), "{binned}");
        let expected = format!("warning: kept/costs.json: {why}");
        assert!(told.contains(&expected), "{told}");
        assert!(told.contains("usual costs are taken"), "{told}");
    }
}

#[test]
fn costs_need_a_place() {
    let nowhere = strew(&["calibrate"]);
    assert_eq!(nowhere.status, 2);
    assert!(
        nowhere.stderr.contains("nowhere to keep costs"),
        "{}",
        nowhere.stderr
    );
}
