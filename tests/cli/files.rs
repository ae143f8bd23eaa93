//! Files that are read and files that are written: that none is overwritten.

use crate::{Bench, SEGMENT_SUM, refused};
use std::fs;

const DATA: [&str; 6] = ["--in", "seg=seg.npy", "--in", "x=x.npy", "--set", "m=3"];

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
