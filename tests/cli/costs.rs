//! `strew calibrate` and the costs that it keeps.

use crate::{Bench, Outcome};
use std::fs;
use std::process::{Command, Stdio};

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
    assert_eq!(dry.stdout.lines().count(), 1, "{}", dry.stdout);
    assert!(!bench.path("kept").exists());
    let costs: serde_json::Value = serde_json::from_str(&dry.stdout).expect("JSON");
    for cost in ["update", "sort", "merge"] {
        assert!(costs[cost].as_f64() > Some(0.0), "{costs}");
    }
    // Fewer nanoseconds than a microsecond would be noise.
    assert!(costs["share"].as_f64() >= Some(1000.0), "{costs}");
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
fn a_file_that_is_named_has_to_be_there() {
    let bench = Bench::new();
    let run = strew_with_costs(&bench, &RUN);
    assert_eq!(run.status, 0, "{}", run.stderr);
    let expected = "warning: kept/costs.json: there is no such file, which STREW_CALIBRATION names; usual costs are taken";
    assert!(run.stderr.contains(expected), "{}", run.stderr);
}

#[test]
fn an_empty_name_of_the_file_means_none() {
    let bench = Bench::new();
    let folder = bench.path(".config/strew");
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("calibration.json"), "{").expect("a file");
    let with_name = |name: &str, arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_strew"))
            .env("STREW_CALIBRATION", name)
            .env_remove("XDG_CONFIG_HOME")
            .env("HOME", bench.folder.path())
            .args(arguments)
            .current_dir(bench.folder.path())
            .output();
        Outcome::from(output.expect("the program starts"))
    };
    let run = with_name("", &RUN);
    assert_eq!(
        (run.status, run.stderr.contains("calibration")),
        (0, false),
        "{}",
        run.stderr
    );
    let named = with_name(".config/strew/calibration.json", &RUN);
    assert!(
        named.stderr.contains("not what `strew calibrate` writes"),
        "{}",
        named.stderr
    );
    let nowhere = with_name("", &["calibrate"]);
    assert_eq!(nowhere.status, 2);
    assert!(
        nowhere.stderr.contains("STREW_CALIBRATION is empty"),
        "{}",
        nowhere.stderr
    );
}

#[test]
fn costs_need_a_place() {
    let output = Command::new(env!("CARGO_BIN_EXE_strew"))
        .env_remove("STREW_CALIBRATION")
        .env_remove("XDG_CONFIG_HOME")
        .env_remove("HOME")
        .arg("calibrate")
        .output();
    let nowhere = Outcome::from(output.expect("the program starts"));
    assert_eq!(nowhere.status, 2);
    assert!(
        nowhere.stderr.contains("nowhere to keep costs"),
        "{}",
        nowhere.stderr
    );
}
