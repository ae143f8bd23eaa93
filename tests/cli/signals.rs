//! What a signal does.

use crate::Bench;
use std::fs;
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
