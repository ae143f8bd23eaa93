//! Kernels that are checked, scheduled and emitted.

use crate::{Bench, Outcome, SEGMENT_SUM, refused, root};
use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

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

/// A program with two kernels in it.
const PROGRAM: &str = "
#include <stdio.h>
#include <stdlib.h>
#define SIZE 4
static FILE *results;
static int twice(int a) { return 2 * a; }
static void count(int n, const int k[n], int h[SIZE]) { for (int i = 0; i < n; i++) h[k[i]] += twice(1); }
void scale(int n, double x[n]) { for (int i = 0; i < n; i++) x[i] *= 2; }
void show(const int *h) { for (int i = 0; i < SIZE; i++) fprintf(results, \"%d\\n\", h[i]); }
int main(int argc, char **argv) { results = stdout; return argc > 1 ? atoi(argv[1]) : 0; }
";

#[test]
fn a_kernel_is_taken_out_of_a_program() {
    let bench = Bench::new();
    bench.file("p.c", PROGRAM.as_bytes());
    let data = ["--set", "n=3", "--in", "k=sorted(4)"];
    let choice = ["p.c", "--kernel", "count"];
    let outcome = bench.strew(&[&["run"], &choice[..], &data].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(bench.strew(&[&["check"], &choice[..]].concat()).status, 0);
    let rounds = ["--rounds", "1", "--csv"];
    let outcome = bench.strew(&[&["bench"], &choice[..], &data, &rounds].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("declines"), "{}", outcome.stderr);

    let note = "note: alone, count, scale could be compiled: choose with --kernel";
    refused(
        &bench.strew(&["check", "p.c"]),
        1,
        &["there is no type `FILE`", "`fprintf` cannot be called"],
    );
    refused(
        &bench.strew(&["run", "p.c"]),
        1,
        &["`fprintf` cannot", note],
    );
    let refusal = bench.strew(&["run", "p.c", "--kernel", "show"]);
    refused(&refusal, 1, &["`fprintf` cannot be called"]);
    assert!(!refusal.stderr.contains("alone"), "{}", refusal.stderr);
}

#[test]
fn strategies_that_there_are_not_are_refused_where_they_stand() {
    let bench = Bench::new();
    let tile = "tile_indirection_using_forall(i, strategy = bogus)";
    let why = "there is no strategy `bogus`";
    let source = SEGMENT_SUM.replace("  for", &format!("  #pragma strew {tile}\n  for"));
    bench.file("pragma.c", source.as_bytes());
    let text = "kernel @k(n: i64, x: f64[n]) {\n  scf.forall i in 0..n strategy(bogus) {\n    x[i] = 1.0\n  }\n}\n";
    bench.file("k.nest", text.as_bytes());
    let step = ["opt", "k.c", "--step", tile];
    refused(&bench.strew(&step), 1, &[why, "the strategies are `auto`"]);
    let pragma = ["check", "pragma.c"];
    refused(
        &bench.strew(&pragma),
        1,
        &[why, "pragma.c:2:", "strategy = bogus"],
    );
    let text = ["check", "k.nest"];
    refused(
        &bench.strew(&text),
        1,
        &[why, "there are auto, serial", "k.nest:2:"],
    );
    let named = ["opt", "k.c", "--step", &tile.replace("bogus", "binned")];
    assert!(bench.strew(&named).stdout.contains("strategy(binned)"));
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

/// Each kernel by the steps that its source asks for, the others as they are; what is refused stops
/// it.
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

#[test]
fn a_dash_is_standard_output_for_text_and_no_file() {
    let bench = Bench::new();
    let data = ["--in", "seg=seg.npy", "--in", "x=x.npy", "--set", "m=3"];
    let stages = ["emit", "k.c", "--stage", "nest"];
    let shown = bench.strew(&stages).stdout;
    let dashed = bench.strew(&[&stages[..], &["-o", "-"]].concat());
    assert_eq!((dashed.status, dashed.stdout), (0, shown));
    let page = bench.strew(&["explain", "k.c", "--html", "-"]);
    assert!(
        page.stdout.starts_with("<!DOCTYPE html>"),
        "{}",
        page.stderr
    );
    let search = ["tune", "k.c", "--seconds", "1e-9", "-o", "-"];
    let found = bench.strew(&[&search[..], &data].concat());
    let head = "# found by strew tune";
    assert!(found.stdout.starts_with(head), "{}", found.stderr);
    let object = ["emit", "k.c", "--stage", "object", "-o", "-"];
    refused(&bench.strew(&object), 2, &["say where with -o NAME.o"]);
    let library = ["emit", "k.c", "--stage", "object", "-o", "k.o"];
    let library = bench.strew(&[&library[..], &["--library", "-"]].concat());
    refused(&library, 2, &["say where with --library"]);
    let plot = bench.strew(&[&["bench", "k.c", "--plot", "-"][..], &data].concat());
    refused(&plot, 2, &["pictures do not go to standard output"]);
    assert_eq!(bench.files(), ["k.c", "seg.npy", "x.npy"]);
}

#[test]
fn accepted_steps_are_explained_before_the_one_that_is_refused() {
    let bench = Bench::new();
    let source = "void k(long n, double x[n][n]) {
  #pragma strew interchange(i, j)
  #pragma strew parallelize(j)
  for (long i = 0; i < n; i++)
    for (long j = 1; j < n; j++) x[i][j] = x[i][j - 1];
}
";
    bench.file("r.c", source.as_bytes());
    let shown = bench.strew(&["explain", "r.c"]);
    assert_eq!(shown.status, 1, "{}", shown.stderr);
    let steps = "  schedule:\n    interchange(i, j)\n    parallelize(j) is illegal: ";
    assert!(shown.stdout.contains(steps), "{}", shown.stdout);
    let json = bench.strew(&["explain", "r.c", "--json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    let kernel = &json["kernels"][0];
    assert_eq!(kernel["schedule"], serde_json::json!(["interchange(i, j)"]));
    assert_eq!(kernel["refused"]["step"], "parallelize(j)");
    assert_eq!(kernel["refused"]["verdict"], "illegal");
    assert!(kernel["refused"]["witness"].is_object(), "{kernel}");
    let page = bench.strew(&["explain", "r.c", "--html", "-"]).stdout;
    let step = page.find("1. <code>interchange(i, j)</code>");
    let refused = page.find("<p>parallelize(j) is illegal");
    assert!(step.is_some() && step < refused, "{page}");
}

#[test]
fn every_refused_kernel_is_told_with_its_place() {
    let bench = Bench::new();
    let kernel = |name: &str| {
        format!(
            "void {name}(long n, double x[n]) {{
  #pragma strew parallelize(i)
  for (long i = 1; i < n; i++) x[i] = x[i - 1];
}}
"
        )
    };
    bench.file("both.c", (kernel("a") + &kernel("b")).as_bytes());
    let shown = bench.strew(&["explain", "both.c"]);
    assert_eq!(shown.status, 1, "{}", shown.stderr);
    for place in ["both.c:3:", "both.c:7:"] {
        assert!(shown.stderr.contains(place), "{}", shown.stderr);
    }
    let refused = shown.stdout.matches("parallelize(i) is illegal").count();
    assert_eq!(refused, 2, "{}", shown.stdout);
}
