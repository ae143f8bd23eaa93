//! What shells see of strew: help, completions, manual pages, versions, measurements, statuses.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn strew(arguments: &[&str]) -> Output {
    strew_in(root(), arguments)
}

fn strew_in(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
    command.args(arguments).current_dir(folder);
    command.env("STREW_CALIBRATION", "").stdin(Stdio::null());
    command.output().expect("the program starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// What a command prints that is done.
fn done(arguments: &[&str]) -> String {
    let output = strew(arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    text(&output.stdout)
}

const COMMANDS: [&str; 13] = [
    "run",
    "check",
    "opt",
    "emit",
    "explain",
    "indexing",
    "bench",
    "tune",
    "calibrate",
    "map",
    "completions",
    "man",
    "help",
];

/// A folder with the examples, where commands may leave files.
fn checkout() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    #[cfg(unix)]
    std::os::unix::fs::symlink(root().join("examples"), folder.path().join("examples"))
        .expect("a link");
    folder
}

#[cfg(unix)]
#[test]
fn the_examples_of_every_help_work() {
    let folder = checkout();
    let program = Path::new(env!("CARGO_BIN_EXE_strew"));
    let path = format!(
        "{}:{}",
        program.parent().expect("a folder").display(),
        std::env::var("PATH").unwrap_or_default()
    );
    // Costs are measured for seconds, and a test of their own does that.
    let commands = COMMANDS
        .iter()
        .filter(|it| !["help", "calibrate"].contains(it));
    for command in std::iter::once("").chain(commands.copied()) {
        let arguments: Vec<_> = [command, "--help"]
            .into_iter()
            .filter(|it| !it.is_empty())
            .collect();
        let help = done(&arguments);
        let (_, examples) = help
            .split_once("\nExample")
            .unwrap_or_else(|| panic!("no example: {help}"));
        let joined = examples.replace(
            "\\
", " ",
        );
        let lines = joined.lines().filter(|line| line.starts_with("  strew "));
        for line in lines {
            let mut shell = Command::new("sh");
            shell
                .args(["-c", line])
                .current_dir(folder.path())
                .env("PATH", &path);
            let output = shell
                .env("STREW_CALIBRATION", "")
                .output()
                .expect("a shell");
            assert!(output.status.success(), "{line}: {}", text(&output.stderr));
        }
    }
    for left in ["levels.csv", "histogram.s", "sizes.svg", "product.schedule"] {
        assert!(folder.path().join(left).is_file(), "{left}");
    }
}

#[test]
fn every_shell_gets_completions_with_all_commands() {
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = done(&["completions", shell]);
        for command in COMMANDS {
            assert!(script.contains(command), "{shell}: {command}");
        }
    }
    let output = strew(&["completions", "tcsh"]);
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = tempfile::tempdir().expect("a folder");
    // Which need not be there yet.
    let pages = folder.path().join("man/man1");
    done(&["man", "--folder", pages.to_str().expect("a path")]);
    for command in COMMANDS.iter().filter(|it| **it != "help") {
        assert!(
            pages.join(format!("strew-{command}.1")).is_file(),
            "{command}"
        );
    }
    assert!(!pages.join("strew-help-run.1").exists());
    let page = done(&["man", "run"]);
    assert!(
        page.contains(".TH strew-run 1") && page.contains("mmap"),
        "{page}"
    );
    assert!(done(&["man"]).contains(".TH strew 1"));
    let output = strew(&["man", "walk"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("there is no command `walk`; there are run, check"));
}

#[test]
fn the_version_tells_what_was_found() {
    for flag in ["--version", "-V"] {
        let version = done(&[flag]);
        assert!(version.starts_with(concat!(
            "strew ",
            env!("CARGO_PKG_VERSION"),
            "\nfeatures   cli"
        )));
        assert!(version.contains("\nfound      "), "{version}");
    }
    assert_eq!(strew(&[]).status.code(), Some(2));
    assert_eq!(strew(&["--version", "run"]).status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn closed_pipes_end_quietly() {
    let program = env!("CARGO_BIN_EXE_strew");
    for arguments in ["completions zsh", "man", "--version", "--help"] {
        let line = format!("{program} {arguments} | true");
        let output = Command::new("sh")
            .args(["-c", &line])
            .output()
            .expect("a shell");
        assert_eq!(text(&output.stderr), "", "{arguments}");
    }
}

#[cfg(unix)]
#[test]
fn colours_are_for_terminals_and_for_those_who_want_them() {
    let coloured = |variable: (&str, &str)| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
        command
            .args(["check", "none.c"])
            .env(variable.0, variable.1);
        let output = command.output().expect("the program starts");
        output.stderr.contains(&0x1b)
    };
    assert!(!coloured(("NO_COLOR", "1")));
    assert!(!coloured(("TERM", "dumb")));
}

const HISTOGRAM: [&str; 6] = [
    "examples/kernels/histogram.c",
    "--in",
    "key=uniform(0, m)",
    "--set",
    "m=50",
    "--rounds",
];

#[test]
fn a_bench_measures_all_variants_by_turns() {
    let folder = checkout();
    let mut arguments = vec!["bench"];
    arguments.extend(HISTOGRAM);
    arguments.extend([
        "3",
        "--set",
        "n=20000",
        "--threads",
        "2",
        "--json",
        "--plot",
        "p.svg",
    ]);
    let output = strew_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(
        (&report["kernel"], &report["updates"]),
        (&"histogram".into(), &20_000.into())
    );
    let rows = report["rows"].as_array().expect("rows");
    let of = |variant: &str, threads: u64| {
        let is = |row: &&serde_json::Value| row["variant"] == variant && row["threads"] == threads;
        rows.iter()
            .find(is)
            .unwrap_or_else(|| panic!("{variant}: {report}"))
    };
    assert_eq!(of("serial", 1)["speedup_over_serial"], 1.0);
    assert_eq!(of("dense", 2)["strategy"], "dense");
    for row in [
        of("serial", 1),
        of("auto", 1),
        of("auto", 2),
        of("dense", 1),
    ] {
        let number = |key: &str| row[key].as_f64().expect(key);
        assert!(
            number("low") <= number("median_seconds") && number("median_seconds") <= number("high")
        );
        let each = number("median_seconds") * 1e9 / 20_000.0;
        assert!((number("ns_per_update") / each - 1.0).abs() < 1e-9);
    }
    if Command::new("cc").arg("--version").output().is_ok() {
        assert!(of("cc -O3", 1)["mode"].is_null());
    }
    let modes: Vec<_> = rows
        .iter()
        .filter(|it| it["variant"] == "auto")
        .map(|it| &it["mode"])
        .collect();
    for mode in ["fast", "stable", "exact"] {
        assert!(modes.contains(&&mode.into()), "{mode}");
    }
    let picture = std::fs::read_to_string(folder.path().join("p.svg")).expect("a picture");
    assert!(
        picture.contains("<svg") && picture.contains("dense stable"),
        "{picture}"
    );
}

#[test]
fn sizes_vary_and_tables_are_for_spreadsheets() {
    let mut arguments = vec!["bench"];
    arguments.extend([
        "examples/kernels/histogram.c",
        "--in",
        "key=uniform(0, m)",
        "--set",
        "n=5000",
    ]);
    arguments.extend([
        "--vary",
        "m=10,1000",
        "--rounds",
        "3",
        "--against",
        "none",
        "--strategy",
        "dense",
        "--csv",
    ]);
    let table = done(&arguments);
    let rows: Vec<Vec<&str>> = table
        .lines()
        .map(|line| line.split(',').collect())
        .collect();
    assert_eq!((rows[0][0], rows[0][10]), ("variant", "at"));
    let found: Vec<_> = rows[1..]
        .iter()
        .map(|row| (row[0], row[10], row[12]))
        .collect();
    let expected = [
        ("serial", "10", "40"),
        ("dense", "10", "40"),
        ("serial", "1000", "4000"),
        ("dense", "1000", "4000"),
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_cannot_be_measured_is_told() {
    let refused = |arguments: &[&str], status: i32, why: &str| {
        let output = strew(arguments);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(status), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    };
    let file = "examples/kernels/histogram.c";
    refused(&["bench", file], 2, "no array for `key`");
    refused(&["bench", file, "--vary", "m=0"], 2, "expected NAME=V,V");
    refused(
        &["bench", file, "--seconds", "-1"],
        2,
        "expected a number of seconds",
    );
    let mut openmp = vec!["bench"];
    openmp.extend(HISTOGRAM);
    openmp.extend(["1", "--set", "n=100", "--against", "openmp"]);
    refused(
        &openmp,
        0,
        "openmp is left out: examples/kernels/histogram.c has no `#pragma omp`",
    );
    let out_of_range = [
        "bench",
        file,
        "--in",
        "key=fill(7)",
        "--set",
        "n=10",
        "--set",
        "m=5",
        "--against",
        "none",
    ];
    refused(&out_of_range, 3, "index 7 is out of range");
    refused(
        &["tune", file, "--seconds", "0"],
        2,
        "expected a number of seconds",
    );
}

#[test]
fn a_schedule_that_was_found_is_one_that_runs() {
    let folder = checkout();
    let data = [
        "examples/kernels/product.c",
        "--set",
        "n=24",
        "--set",
        "m=24",
        "--set",
        "p=24",
        "--in",
        "a=iota",
        "--in",
        "b=iota",
    ];
    let with = |command: &'static str, more: &[&'static str]| {
        let arguments: Vec<&str> = [command]
            .into_iter()
            .chain(data)
            .chain(more.iter().copied())
            .collect();
        let output = strew_in(folder.path(), &arguments);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        output
    };
    let found = with("tune", &["--seconds", "0.5", "-o", "found.schedule"]);
    assert!(
        text(&found.stderr).contains(" schedules tried: "),
        "{}",
        text(&found.stderr)
    );
    let tuned = with("run", &["--schedule", "found.schedule"]);
    let plain = with("run", &["--mode", "exact"]);
    assert_eq!(tuned.stdout, plain.stdout);
}
