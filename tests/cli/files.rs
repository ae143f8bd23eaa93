//! Files that are read and files that are written: their languages, standard input in their place,
//! and that none is overwritten.

use crate::{Bench, Outcome, SEGMENT_SUM, program, refused};
use std::fs;
use std::io::Write;
use std::process::Stdio;

const DATA: [&str; 6] = ["--in", "seg=seg.npy", "--in", "x=x.npy", "--set", "m=3"];

const KERNEL_TEXT: &str = "kernel @k(n: i64, x: f64[n]) {
  affine.for i in 0..n {
    x[i] = 1.0
  }
}
";

/// The program with `text` on its standard input.
fn reading(bench: &Bench, arguments: &[&str], text: &str) -> Outcome {
    let mut command = program::strew_in(bench.folder.path(), arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    // It may end before it has read all.
    let _ = stdin.write_all(text.as_bytes());
    drop(stdin);
    Outcome::from(child.wait_with_output().expect("it ends"))
}

#[test]
fn what_is_read_is_not_overwritten() {
    let bench = Bench::new();
    for name in ["s.schedule", "s.svg"] {
        bench.file(name, b"unroll(i, 2)\n");
    }
    let kernel = "but the kernel is read from it";
    let schedule = "but the schedule is read from it";
    for (arguments, flag, why) in [
        ("emit k.c --stage nest -o k.c", "-o", kernel),
        ("emit ./k.c --stage asm -o k.c", "-o", kernel),
        (
            "emit k.c --stage asm --schedule s.schedule -o s.schedule",
            "-o",
            schedule,
        ),
        (
            "emit k.c --stage object -o k.o --library k.c",
            "--library",
            kernel,
        ),
        ("explain k.c --html k.c", "--html", kernel),
        ("tune k.c --seconds 1e-9 -o k.c", "-o", kernel),
        (
            "tune k.c --seconds 1e-9 -o x.npy",
            "-o",
            "but --in x is read from it",
        ),
        (
            "bench k.c --schedule s.svg --plot s.svg",
            "--plot",
            schedule,
        ),
        ("run k.c --out out=k.c", "--out out", kernel),
    ] {
        let mut all: Vec<_> = arguments.split(' ').collect();
        if !["emit", "explain"].contains(&all[0]) {
            all.extend(DATA);
        }
        let parts = [flag, why];
        refused(&bench.strew(&all), 2, &parts);
    }
    assert_eq!(
        fs::read_to_string(bench.path("k.c")).expect("text"),
        SEGMENT_SUM
    );
    let found = [
        "tune",
        "k.c",
        "--seconds",
        "1e-9",
        "--schedule",
        "s.schedule",
    ];
    let found = [&found[..], &["-o", "s.schedule"], &DATA].concat();
    assert_eq!(bench.strew(&found).status, 0);
}

#[test]
fn a_stage_refuses_flags_that_it_does_not_look_at() {
    let bench = Bench::new();
    for (stage, flags, why) in [
        (
            "nest",
            "--step unroll(i,2)",
            "--step goes with --stage scheduled, clif, asm, mlir, object",
        ),
        (
            "ast",
            "--schedule s",
            "--schedule goes with --stage scheduled",
        ),
        (
            "ast",
            "--mode exact",
            "--mode goes with --stage clif, asm, object",
        ),
        ("mlir", "--mode exact", "--mode goes with"),
        ("asm", "--oob skip", "--oob goes with --stage object"),
        (
            "ast",
            "--cpu baseline",
            "--cpu goes with --stage object; it has no part in the stage `ast`",
        ),
    ] {
        let flags = flags.split(' ').collect::<Vec<_>>();
        let outcome = bench.strew(&[&["emit", "k.c", "--stage", stage], &flags[..]].concat());
        refused(&outcome, 2, &[why]);
    }
    for mode in ["exact", "fast"] {
        let outcome = bench.strew(&["emit", "k.c", "--stage", "asm", "--mode", mode]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    }
}

#[test]
fn a_schedule_comes_from_standard_input_too() {
    let bench = Bench::new();
    let stage = ["emit", "k.c", "--stage", "scheduled", "--schedule", "-"];
    let outcome = reading(&bench, &stage, "unroll(i, 2)\n");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("step 2"), "{}", outcome.stdout);
    let outcome = reading(&bench, &stage, "unrol(i, 2)\n");
    refused(&outcome, 1, &["<stdin>:1:1", "did you mean `unroll`?"]);
    let twice = ["opt", "-", "--schedule", "-"];
    let both = "give one of both as a file";
    refused(&reading(&bench, &twice, SEGMENT_SUM), 2, &[both]);
    let data = ["run", "k.c", "--schedule", "-", "--in", "seg=-"];
    let outcome = reading(&bench, &data, "unroll(i, 2)");
    refused(
        &outcome,
        2,
        &["standard input is the schedule already", both],
    );
}

#[test]
fn kernel_text_is_known_without_its_ending_and_behind_a_byte_order_mark() {
    let bench = Bench::new();
    let marked = format!("\u{feff}{KERNEL_TEXT}");
    bench.file("plain", KERNEL_TEXT.as_bytes());
    bench.file("k.txt", format!("// a comment\n\n{KERNEL_TEXT}").as_bytes());
    bench.file("marked.nest", marked.as_bytes());
    bench.file("marked", marked.as_bytes());
    for file in ["plain", "k.txt", "marked.nest", "marked"] {
        let outcome = bench.strew(&["opt", file]);
        assert_eq!(outcome.status, 0, "{file}: {}", outcome.stderr);
        assert_eq!(outcome.stdout, KERNEL_TEXT, "{file}");
    }
    assert_eq!(reading(&bench, &["opt", "-"], &marked).stdout, KERNEL_TEXT);
    bench.file("sum", SEGMENT_SUM.as_bytes());
    assert_eq!(bench.strew(&["check", "sum"]).status, 0);
}
