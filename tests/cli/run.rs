//! `strew run`: results, reports and faults.

use crate::{Bench, SEGMENT_SUM, bytes, npy, read, refused};
use std::fs;

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
        "dropped",
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
    assert_eq!(outcome.stdout, "out: i32[1]  min 7  max 7  mean 7  [7]\n");
    bench.file("seg.npy", &npy("<i4", "False", "(0,)", &[]));
    bench.file("x.npy", &npy("<f4", "False", "(0,)", &[]));
    let outcome = bench.run(&["--set", "m=0"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stdout, "out: f64[0]  []\n");
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
        "cache lines each, 0.0 % leap to others, within 8 elements in one place, to 2 in all, some far more often than others\n",
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

#[test]
fn a_schedule_that_sizes_rule_out_is_told_to_be_dropped() {
    let bench = Bench::new();
    let far = "split(i, at = n * n * n * n * n * n * n * n)";
    let data = "--in seg=zeros --in x=iota --set m=3 --json --step";
    let run = |n: &str| {
        let data: Vec<_> = data.split(' ').collect();
        let outcome = bench.strew(&[&["run", "k.c", "--set", n], &data[..], &[far]].concat());
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
        let steps = report["schedule"].as_array().map(Vec::len);
        (steps, report["dropped"].clone(), outcome.stderr)
    };
    let (steps, dropped, _) = run("n=4");
    assert_eq!((steps, dropped), (Some(1), serde_json::Value::Null));
    let (steps, dropped, told) = run("n=1000");
    let why = "with these sizes or keys it ends in a fault where the kernel as it was written does \
               not: a bound or a subscript may leave its type on the way";
    assert_eq!((steps, dropped), (Some(0), why.into()));
    let expected = format!("; the schedule was dropped: {why}\n");
    assert!(told.contains(&expected), "{told}");
}

#[test]
fn a_strategy_that_has_no_part_in_a_run_is_told() {
    let bench = Bench::new();
    let told = |step: &str| {
        let outcome = bench.run(&["--set", "m=3", "--strategy", "dense", "--step", step]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome.stderr
    };
    let note = "note: --strategy dense has no part in this run: there is no parallel loop\n";
    assert!(told("unroll(i, 2)").ends_with(note));
    assert!(!told("tile_indirection_using_forall(i)").contains("note:"));
}

#[test]
fn small_and_large_floats_are_shown_in_few_digits() {
    let bench = Bench::new();
    let kernel = "double scale(long n, double factor, double y[n]) {
  for (long i = 0; i < n; i++) y[i] = factor * (double)i;
  return factor;
}
";
    bench.file("scale.c", kernel.as_bytes());
    let shown = |factor: &str| {
        let factor = format!("factor={factor}");
        bench
            .strew(&["run", "scale.c", "--set", "n=3", "--set", &factor])
            .stdout
    };
    assert_eq!(
        shown("1e-300"),
        "1e-300\ny: f64[3]  min 0  max 2e-300  mean 1e-300  [0, 1e-300, 2e-300]\n"
    );
    assert_eq!(
        shown("1.6e-19"),
        "1.6e-19\ny: f64[3]  min 0  max 3.2e-19  mean 1.6e-19  [0, 1.6e-19, 3.2e-19]\n"
    );
    assert_eq!(
        shown("1e200"),
        "1e200\ny: f64[3]  min 0  max 2e200  mean 1e200  [0, 1e200, 2e200]\n"
    );
    assert_eq!(
        shown("3"),
        "3\ny: f64[3]  min 0  max 6  mean 3  [0, 3, 6]\n"
    );
}

#[test]
fn records_are_shown_with_their_fields() {
    let bench = Bench::new();
    let kernel = "struct Point { float at[2]; int32_t hits; };
void count(int64_t n, struct Point p[n]) {
  for (int64_t i = 0; i < n; i++) {
    p[i].at[1] = 0.5f * (float)i;
    p[i].hits = (int32_t)i;
  }
}
";
    bench.file("points.c", kernel.as_bytes());
    let shown = |n: &str| {
        let outcome = bench.strew(&["run", "points.c", "--shape", &format!("p={n}")]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome.stdout
    };
    let two = shown("2");
    assert!(
        two.ends_with("}[2]  [{[0, 0], 0}, {[0, 0.5], 1}]\n"),
        "{two}"
    );
    let many = shown("9");
    assert!(many.ends_with("{[0, 2.5], 5}, …]\n"), "{many}");
    let given = ["run", "points.c", "--shape", "p=2", "--in", "p=zeros"];
    let zeros = bench.strew(&given);
    assert_eq!((zeros.status, zeros.stdout), (0, two));
    let ones = ["run", "points.c", "--shape", "p=2", "--in", "p=fill(1)"];
    refused(&bench.strew(&ones), 2, &["an array of records", "`zeros`"]);
}
