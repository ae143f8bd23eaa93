//! The tools of MLIR, which may not be there.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// From what strew prints to what `mlir-cpu-runner` runs.
pub(crate) const LOWERING: [&str; 14] = [
    "--convert-linalg-to-loops",
    "--scf-forall-to-for",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-math-to-llvm",
    "--convert-math-to-libm",
    "--finalize-memref-to-llvm",
    "--arith-expand",
    "--convert-func-to-llvm",
    "--convert-arith-to-llvm",
    "--convert-cf-to-llvm",
    "--convert-index-to-llvm",
    "--reconcile-unrealized-casts",
];

/// What a program says that ends as it should.
pub(crate) fn done(output: Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{stderr}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// A tool of MLIR's, as Debian calls it or by its own name; `None`, visibly, where there is none.
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
pub(crate) fn tool(name: &str) -> Option<String> {
    let mut names = [format!("{name}-19"), name.to_owned()].into_iter();
    let is_there = |it: &String| Command::new(it).arg("--version").output().is_ok();
    let found = names.find(is_there);
    if found.is_none() {
        eprintln!("skipped: there is no {name}");
    }
    found
}

/// What `program` makes of `text`.
pub(crate) fn piped(program: &str, arguments: &[&str], text: &str) -> Output {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(text.as_bytes()).expect("it reads");
    drop(input);
    child.wait_with_output().expect("it ends")
}
