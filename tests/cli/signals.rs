//! What a signal does.

use crate::Bench;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

/// A process that is to be asked to terminate.
struct Started(std::process::Child);

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

    fn send(&self, signal: &str) {
        let id = self.0.id().to_string();
        let sent = Command::new("kill").args([signal, &id]).status();
        assert!(sent.expect("a signal").success());
    }

    fn terminate(mut self) -> std::process::ExitStatus {
        self.send("-TERM");
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

impl Bench {
    fn pipe(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("a pipe").success());
        path
    }
}

#[test]
fn a_signal_while_inputs_are_read_ends_the_process() {
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

/// Two arrays, so that a run has one in a file when it writes the other into a pipe.
const TWO: &[u8] = b"void two(int64_t n, double a[n], double b[n]) {
  for (int64_t i = 0; i < n; i++) {
    a[i] = 1.0;
    b[i] = 2.0;
  }
}
";

#[test]
fn a_signal_while_no_call_runs_ends_the_process_and_leaves_no_files() {
    use std::io::Read as _;
    let bench = Bench::new();
    bench.file("two.c", TWO);
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
    assert_eq!(started.terminate().signal(), Some(15));
    assert_eq!(bench.files(), before);
}

/// Nothing in these can fail, and each would take hours.
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
        let (signal, said) = loop {
            let mut started = Started::new(bench.folder.path(), &flags);
            std::thread::sleep(patience);
            let mut talk = started.0.stderr.take().expect("a pipe");
            let ended = started.terminate_within(Duration::from_secs(60));
            let ended = ended.unwrap_or_else(|| panic!("{kernel} runs on"));
            let mut said = String::new();
            talk.read_to_string(&mut said).expect("text");
            if said.contains("stopping") || patience > Duration::from_secs(20) {
                break (ended.signal(), said);
            }
            patience *= 2;
        };
        assert_eq!(signal, Some(15), "{kernel}: {said}");
        assert!(said.contains("stopping: outputs are put back"), "{said}");
        assert!(!said.contains("Ctrl-C"), "{said}");
        assert!(said.contains("error: stopped as asked"), "{said}");
        assert_eq!(bench.files(), before);
        let kept = fs::read(bench.path("out.npy")).expect("the file");
        assert_eq!(kept, b"as it was");
    }
}

/// A run of `two` that has begun to write into `pipe`, by this shell text before its name.
fn writing(bench: &Bench, pipe: &Path, before: &str) -> (Started, fs::File) {
    use std::io::Read as _;
    let run = "run two.c --set n=100000 --out a=a.npy --out b=b.pipe";
    let program = env!("CARGO_BIN_EXE_strew");
    let started = Command::new("sh")
        .args(["-c", &format!("{before} '{program}' {run}")])
        .env("STREW_CALIBRATION", "")
        .current_dir(bench.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let started = Started(started.expect("the program starts"));
    let mut reader = fs::File::open(pipe).expect("a pipe");
    reader.read_exact(&mut [0]).expect("the first byte");
    (started, reader)
}

#[test]
fn a_hang_up_ends_a_run() {
    let bench = Bench::new();
    bench.file("two.c", TWO);
    let pipe = bench.pipe("b.pipe");
    let before = bench.files();
    // Whoever runs the tests may ignore it.
    let (mut started, _reader) = writing(&bench, &pipe, "exec env --default-signal=HUP");
    started.send("-HUP");
    let ended = started.0.wait().expect("an end");
    assert_eq!(ended.signal(), Some(1));
    assert_eq!(bench.files(), before);
}

#[cfg(target_os = "linux")]
#[test]
fn signals_that_are_ignored_when_it_starts_stay_ignored() {
    use std::io::Read as _;
    let bench = Bench::new();
    bench.file("two.c", TWO);
    let pipe = bench.pipe("b.pipe");
    let (mut started, mut reader) = writing(&bench, &pipe, "trap '' HUP INT; exec");
    started.send("-HUP");
    started.send("-INT");
    let rest = reader.read_to_end(&mut Vec::new()).expect("the rest");
    assert!(rest > 800_000 - 1, "{rest}");
    assert!(started.0.wait().expect("an end").success());
}

/// How many processes run a program in `folder`.
#[cfg(target_os = "linux")]
fn processes_of(folder: &Path) -> usize {
    let processes = fs::read_dir("/proc").expect("processes").flatten();
    let programs = processes.filter_map(|it| fs::read_link(it.path().join("exe")).ok());
    programs.filter(|it| it.starts_with(folder)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn a_benchmark_that_is_ended_leaves_no_folder_and_no_process() {
    let bench = Bench::new();
    let folder = bench.path("temporary");
    fs::create_dir(&folder).expect("a folder");
    let folder = folder.canonicalize().expect("the folder");
    let flags = "bench k.c --in seg=fill(0) --in x=fill(1) --set n=1000 --set m=3 --rounds 1000000 --seconds 1000";
    let started = Command::new(env!("CARGO_BIN_EXE_strew"))
        .args(flags.split(' '))
        .env("STREW_CALIBRATION", "")
        .env("TMPDIR", &folder)
        .current_dir(bench.folder.path())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let started = Started(started.expect("the program starts"));
    let patience = std::time::Instant::now();
    while processes_of(&folder) == 0 {
        assert!(patience.elapsed() < Duration::from_secs(120), "no peer");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(started.terminate().signal(), Some(15));
    assert_eq!(processes_of(&folder), 0);
    assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 0);
}
