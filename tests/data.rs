//! Arrays from files and into files, by running the real program.

mod program;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

const SUM: &str = "\
void total(int n, const float x[n], double sum[1]) {
  for (int i = 0; i < n; i++)
    sum[0] += x[i];
}
";

const COUNT: &str = "\
void count(int64_t rows, int64_t cols, const uint8_t image[rows][cols], int32_t seen[256]) {
  for (int64_t r = 0; r < rows; r++)
    for (int64_t c = 0; c < cols; c++)
      seen[image[r][c]]++;
}
";

const DOUBLE: &str = "\
void twice(int n, int m, float x[n][m]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++)
      x[i][j] *= 2;
}
";

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(kernel: &str) -> Self {
        let folder = Self(tempfile::tempdir().expect("a folder"));
        folder.write("k.c", kernel.as_bytes());
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.path(name), bytes).expect("a file");
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("text")
    }

    fn command(&self, more: &[&str]) -> Command {
        program::strew_in(self.0.path(), &[&["run", "k.c"], more].concat())
    }

    fn run(&self, more: &[&str]) -> Output {
        self.command(more).output().expect("the program starts")
    }

    fn done(&self, more: &[&str]) -> (String, String) {
        let output = self.run(more);
        let (stdout, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        (stdout, stderr)
    }

    fn refused(&self, more: &[&str], why: &str) {
        let output = self.run(more);
        let (_, stderr) = texts(&output);
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}

fn texts(output: &Output) -> (String, String) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr))
}

fn floats(values: &[f32]) -> Vec<u8> {
    values.iter().flat_map(|it| it.to_le_bytes()).collect()
}

fn npy(values: &[f32], shape: &[u64]) -> Vec<u8> {
    use npyz::WriterBuilder as _;
    let mut bytes = Vec::new();
    let options = npyz::WriteOptions::new().default_dtype().shape(shape);
    let mut writer = options.writer(&mut bytes).begin_nd().expect("a header");
    writer.extend(values.iter().copied()).expect("elements");
    writer.finish().expect("an end");
    bytes
}

fn gray(width: u32, height: u32, samples: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width, height);
    encoder.set_color(png::ColorType::Grayscale);
    let mut writer = encoder.write_header().expect("a header");
    writer.write_image_data(samples).expect("samples");
    writer.finish().expect("an end");
    bytes
}

/// An archive of arrays of floats.
fn npz(members: &[(&str, &[f32])]) -> Vec<u8> {
    use npyz::WriterBuilder as _;
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut archive = npyz::npz::NpzWriter::new(&mut bytes);
    for (name, values) in members {
        let array = archive.array(name, Default::default()).expect("a member");
        let array = array.default_dtype().shape(&[values.len() as u64]);
        let mut array = array.begin_nd().expect("a header");
        array.extend(values.iter().copied()).expect("room");
        array.finish().expect("an end");
    }
    drop(archive);
    bytes.into_inner()
}

#[test]
fn the_only_array_of_an_archive_needs_no_name() {
    let folder = Folder::new(SUM);
    folder.write("one.npz", &npz(&[("x", &[1.0, 0.5])]));
    for source in ["x=one.npz", "x=one.npz:x"] {
        let (stdout, _) = folder.done(&["--in", source]);
        assert!(stdout.contains("[1.5]"), "{stdout}");
    }
    folder.write("two.npz", &npz(&[("x", &[1.0]), ("a", &[2.0, 3.0])]));
    let why = "two.npz: cannot be `x`: has several arrays: name one behind a colon, as in :a; there are `a`, `x`";
    folder.refused(&["--in", "x=two.npz"], why);
    let (stdout, _) = folder.done(&["--in", "x=two.npz:a"]);
    assert!(stdout.contains("[5]"), "{stdout}");
}

#[test]
fn standard_input_has_arrays_in_any_format() {
    const PAIRS: &str = "\
void pairs(int n, const float x[n], const float y[n], double sum[1]) {
  for (int i = 0; i < n; i++)
    sum[0] += x[i] * y[i];
}
";
    let folder = Folder::new(PAIRS);
    folder.write("columns.csv", b"b,a\n2,10\n3,100\n");
    folder.write("x.npy", &npy(&[2.0, 3.0], &[2]));
    folder.write("x.bin", &floats(&[2.0, 3.0]));
    folder.write(
        "two.npz",
        &npz(&[("b", &[2.0, 3.0]), ("a", &[10.0, 100.0])]),
    );
    let piped = |name: &str, arguments: &[&str]| {
        let mut command = folder.command(arguments);
        command.stdin(fs::File::open(folder.path(name)).expect("a file"));
        let output = command.output().expect("the program starts");
        (output.status.code(), texts(&output))
    };
    for (name, x, y) in [
        ("columns.csv", "x=csv:-:b", "y=csv:-:a"),
        ("columns.csv", "x=csv:-:b", "y=columns.csv:a"),
        ("two.npz", "x=npz:-:b", "y=npz:-:a"),
        ("x.npy", "x=-", "y=columns.csv:a"),
        ("x.npy", "x=npy:-", "y=columns.csv:a"),
        ("x.bin", "x=-:f32", "y=columns.csv:a"),
    ] {
        let (status, (stdout, stderr)) = piped(name, &["--in", x, "--in", y]);
        assert_eq!(status, Some(0), "{x}: {stderr}");
        assert!(stdout.contains("[320]"), "{x}: {stdout}");
    }
    let y = "y=columns.csv:a";
    for (name, x, why) in [
        (
            "columns.csv",
            "x=csv:-:c",
            "<stdin>: cannot be `x`: has no column `c`",
        ),
        (
            "columns.csv",
            "x=-",
            "other formats stand before it, as in csv:-:price",
        ),
        ("columns.csv", "x=-:b", "`b` is no type of elements alone"),
        ("columns.csv", "x=csv:-", "as in csv:-:price"),
    ] {
        let (status, (_, stderr)) = piped(name, &["--in", x, "--in", y]);
        assert_eq!(status, Some(2), "{x}: {stderr}");
        assert!(stderr.contains(why), "{x}: {stderr}");
    }
    let (_, (_, stderr)) = piped("x.npy", &["--in", "x=-", "--in", y, "--mmap"]);
    let note = "note: <stdin> is read and not mapped: standard input cannot be mapped";
    assert!(stderr.contains(note), "{stderr}");
    let both = ["run", "-", "--in", "x=csv:-:b", "--in", y];
    let output = program::strew_in(folder.0.path(), &both);
    let output = { output }
        .stdin(fs::File::open(folder.path("k.c")).expect("a file"))
        .output();
    let (_, stderr) = texts(&output.expect("the program starts"));
    let why = "--in x: standard input is the kernel already: give one of both as a file";
    assert!(stderr.contains(why), "{stderr}");
}

#[test]
fn images_are_arrays_of_bytes() {
    let folder = Folder::new(COUNT);
    folder.write("a.png", &gray(3, 2, &[0, 7, 7, 255, 7, 0]));
    folder.done(&["--in", "image=a.png", "--out", "seen=seen.csv"]);
    let seen = folder.text("seen.csv");
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!((seen.len(), seen[0]), (257, "seen"));
    assert_eq!((seen[1], seen[8], seen[256]), ("2", "3", "1"));
    folder.write("cut.png", &gray(3, 2, &[0; 6])[..50]);
    let why = "cut.png: cannot be `image`: is no PNG image";
    folder.refused(&["--in", "image=cut.png"], why);
    let other = Folder::new(SUM);
    other.write("a.png", &gray(1, 1, &[0]));
    let why = "a.png: cannot be `x`: has samples of type u8, expected f32";
    other.refused(&["--in", "x=a.png"], why);
}

#[test]
fn results_are_written_as_tables_and_raw_and_read_again() {
    let folder = Folder::new(DOUBLE);
    folder.write("x.npy", &npy(&[0.5, 1.0, 1e30, -2.0, 0.1, 3.0], &[3, 2]));
    folder.done(&["--in", "x=x.npy", "--out", "x=x.csv"]);
    assert_eq!(
        folder.text("x.csv"),
        "x_0,x_1\n1.0,2.0\n2e30,-4.0\n0.2,6.0\n"
    );
    folder.done(&["--in", "x=x.npy", "--out", "x=x.bin"]);
    let expected = floats(&[1.0, 2.0, 2e30, -4.0, 0.2, 6.0]);
    assert_eq!(fs::read(folder.path("x.bin")).expect("a file"), expected);
    let raw = [
        "--in",
        "x=x.bin:f32",
        "--shape",
        "x=3,2",
        "--out",
        "x=y.npy",
    ];
    folder.done(&raw);
    folder.done(&["--in", "x=x.npy", "--out", "x=x.f32:f32"]);
    assert_eq!(fs::read(folder.path("x.f32")).expect("a file"), expected);
    let again = ["--in", "x=x.f32:f32", "--shape", "x=3,2"];
    folder.done(&[&again[..], &["--out", "x=again.npy"]].concat());
    assert_eq!(
        fs::read(folder.path("again.npy")).expect("a file"),
        fs::read(folder.path("y.npy")).expect("a file")
    );
    let why = "x.f32: cannot be `x`: not a .npy file: it does not begin with \\x93NUMPY; its name has no ending that is known, so a .npy file was expected; elements alone need their type behind a colon, which is one of bool, i8, i16";
    folder.refused(&["--in", "x=x.f32"], why);
    let columns = Folder::new(SUM);
    fs::copy(folder.path("x.csv"), columns.path("x.csv")).expect("a copy");
    columns.done(&["--in", "x=x.csv:x_1", "--out", "sum=sum.csv:all of it"]);
    assert_eq!(columns.text("sum.csv"), "all of it\n4.0\n");
}

#[test]
fn what_a_format_cannot_hold_is_told_before_the_run() {
    let folder = Folder::new(DOUBLE);
    folder.write("x.npy", &npy(&[1.0; 6], &[3, 2]));
    for (out, why) in [
        ("x=y.csv:a", "y.csv: has one name for its column"),
        (
            "x=y.bin:f64",
            "y.bin: would hold elements of type f64, the array has f32",
        ),
        ("x=y.bin:real", "--out x: `real` is no type of raw elements"),
        ("x=y.png", "--out x: y.png: .png files are read alone"),
    ] {
        folder.refused(&["--in", "x=x.npy", "--out", out], why);
    }
    let names: Vec<_> = fs::read_dir(folder.0.path()).expect("a folder").collect();
    assert_eq!(names.len(), 2);
}

/// Whether the system lets files be mapped here.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn can_map(folder: &Folder, more: &[&str]) -> bool {
    let (_, stderr) = folder.done(more);
    let can = !stderr.contains("not mapped");
    if !can {
        eprintln!("skipped: {stderr}");
    }
    can
}

#[test]
fn mapped_files_give_the_same_and_stay_as_they_are() {
    let folder = Folder::new(DOUBLE);
    let stored = npy(&[0.5, 1.0, 4.0, -2.0, 0.25, 3.0], &[3, 2]);
    folder.write("x.npy", &stored);
    let mapped = ["--in", "x=x.npy", "--mmap", "--out", "x=y.npy"];
    if !can_map(&folder, &mapped) {
        return;
    }
    assert_eq!(fs::read(folder.path("x.npy")).expect("the file"), stored);
    let doubled = npy(&[1.0, 2.0, 8.0, -4.0, 0.5, 6.0], &[3, 2]);
    assert_eq!(fs::read(folder.path("y.npy")).expect("a file"), doubled);
    // The file that is read may be the one that is replaced.
    folder.done(&[
        "--in", "x=x.npy", "--mmap", "--out", "x=x.npy", "--repeat", "2",
    ]);
    assert_eq!(fs::read(folder.path("x.npy")).expect("a file"), doubled);
    folder.write("x.bin", &floats(&[1.0, 2.0]));
    let raw = ["--in", "x=x.bin:f32", "--shape", "x=1,2", "--mmap"];
    let (stdout, stderr) = folder.done(&raw);
    assert!(stdout.starts_with("x: f32[1, 2]  min 2  max 4"), "{stdout}");
    assert!(!stderr.contains("not mapped"), "{stderr}");
}

#[test]
fn what_cannot_be_mapped_is_read_and_what_is_cut_off_is_refused() {
    let folder = Folder::new(SUM);
    folder.write("x.csv", b"x\n1\n2\n");
    let (_, stderr) = folder.done(&["--in", "x=x.csv:x", "--mmap"]);
    let note = "note: x.csv is read and not mapped: files of this format cannot be mapped";
    assert!(stderr.contains(note), "{stderr}");
    let whole = npy(&[1.0, 2.0], &[2]);
    folder.write("x.npy", &whole);
    let writer = fs::File::options().append(true).open(folder.path("x.npy"));
    let (_, stderr) = folder.done(&["--in", "x=x.npy", "--mmap"]);
    assert!(
        stderr.contains("x.npy is read and not mapped: "),
        "{stderr}"
    );
    drop(writer);
    folder.write("cut.npy", &whole[..whole.len() - 1]);
    let why = "cut.npy: cannot be `x`: the file is truncated";
    folder.refused(&["--in", "x=cut.npy", "--mmap"], why);
    folder.write("cut.bin", &[0; 7]);
    let why = "cut.bin: cannot be `x`: has 7 bytes";
    folder.refused(&["--in", "x=cut.bin:f32", "--mmap"], why);
    folder.refused(&["--in", "x=none.npy", "--mmap"], "none.npy: cannot be `x`");
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_is_to_be_changed_ends_the_run() {
    let folder = Folder::new(SUM);
    folder.write("x.npy", &npy(&[1.0; 1000], &[1000]));
    if !can_map(&folder, &["--in", "x=x.npy", "--mmap"]) {
        return;
    }
    let long = ["--in", "x=x.npy", "--mmap", "--repeat", "4000000000"];
    let mut command = folder.command(&long);
    command.args(["--out", "sum=sum.npy"]);
    let child = command.stderr(Stdio::piped()).spawn().expect("it starts");
    let output = std::thread::scope(|scope| {
        scope.spawn(|| change_when_leased(&folder.path("x.npy")));
        child.wait_with_output().expect("it ends")
    });
    let (_, stderr) = texts(&output);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    let why = "error: x.npy: somebody opened it for writing while the kernel ran on it";
    assert!(stderr.contains(why), "{stderr}");
    assert!(!folder.path("sum.npy").exists());
}

/// Opening a file for writing takes until its lease is given back.
#[cfg(target_os = "linux")]
fn change_when_leased(path: &Path) {
    use std::os::unix::fs::OpenOptionsExt as _;
    const O_NONBLOCK: i32 = 0o4000;
    loop {
        std::thread::sleep(std::time::Duration::from_millis(20));
        let open = fs::File::options()
            .write(true)
            .custom_flags(O_NONBLOCK)
            .open(path);
        if open.is_err_and(|it| it.kind() == std::io::ErrorKind::WouldBlock) {
            return;
        }
    }
}

#[test]
fn files_and_generators_that_are_mistaken_are_told() {
    let folder = Folder::new(SUM);
    folder.write("x.csv", b"a,b,a\n1,2,3\n");
    folder.write("empty.csv", b"");
    for (source, why) in [
        (
            "x=x.csv:a",
            "x.csv: cannot be `x`: has several columns called `a`",
        ),
        ("x=empty.csv:a", "empty.csv: cannot be `x`: is empty"),
        (
            "x=unifrom(0, 1)",
            "--in x: there is no generator `unifrom`; did you mean `uniform`?",
        ),
        (
            "x=uniform(0, 1, seed=-1)",
            "--in x: `-1` is not a seed, expected a whole number from 0",
        ),
        (
            "x=x.bin",
            "--in x: x.bin does not tell the type of its elements",
        ),
    ] {
        let output = folder.run(&["--in", source, "--set", "n=1"]);
        assert_eq!(output.status.code(), Some(2), "{source}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(why), "{stderr}");
    }
    for (target, why) in [
        ("sum=o.npz:a", "--out sum: o.npz: .npz files are read alone"),
        ("sum=-", "--out sum: results do not go to standard output"),
    ] {
        let output = folder.run(&["--in", "x=fill(1)", "--set", "n=1", "--out", target]);
        assert_eq!(output.status.code(), Some(2), "{target}");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(stderr.contains(why), "{stderr}");
    }
}

#[test]
fn zeros_beyond_memory_are_refused() {
    let folder = Folder::new(SUM);
    let long = SUM
        .replace("int n", "int64_t n")
        .replace("int i", "int64_t i");
    folder.write("k.c", long.as_bytes());
    for size in ["n=100000000000000", "n=4000000000000000000"] {
        let output = folder.run(&["--in", "x=zeros", "--set", size]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains("there is no memory for the"), "{stderr}");
    }
}

#[test]
fn a_quote_that_nothing_closes_is_told_with_its_line_whatever_column_is_read() {
    let folder = Folder::new(SUM);
    let mut table = "a,b\n1,\"2\n".to_owned();
    (0..20_000).for_each(|it| table += &format!("{it},{it}\n"));
    folder.write("open.csv", table.as_bytes());
    for column in ["x=open.csv:a", "x=open.csv:b"] {
        folder.refused(
            &["--in", column],
            "line 2: a quote opens here that nothing closes\n",
        );
    }
    let long = format!("a\n{}\n", "é".repeat(5000));
    folder.write("long.csv", long.as_bytes());
    let shown = format!("line 2: column `a`: `{}…` is not a number", "é".repeat(40));
    folder.refused(&["--in", "x=long.csv:a"], &shown);
    let short = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n";
    folder.write("short.mtx", short.as_bytes());
    let why = "short.mtx: cannot be `x`: has 1 entry, its sizes say 2";
    folder.refused(&["--in", "x=short.mtx:val"], why);
}
