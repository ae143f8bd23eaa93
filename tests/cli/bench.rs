//! `strew bench` and `strew tune` within the time that they have.

use crate::{Bench, Outcome};

const DATA: [&str; 8] = [
    "--in",
    "seg=uniform(0, 3)",
    "--in",
    "x=uniform(0, 1)",
    "--set",
    "n=5000",
    "--set",
    "m=3",
];

fn bench(more: &[&str]) -> Outcome {
    let usual = ["bench", "k.c", "--against", "none", "--threads", "2"];
    Bench::new().strew(&[&usual[..], &DATA, more].concat())
}

#[test]
fn one_round_is_made_when_the_time_is_over_and_it_is_told_of() {
    let outcome = bench(&["--seconds", "1e-9", "--json"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let report: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("JSON");
    let rows = report["rows"].as_array().expect("rows");
    assert!(rows.len() > 3 && rows.iter().all(|row| row["rounds"] == 1));
    let note = "note: the 0.000000001 seconds of --seconds were over after 1 round of 15";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);

    let table = bench(&["--seconds", "1e-9"]).stdout;
    assert!(table.contains("bytes of outputs, 1 round\n"), "{table}");
    let all = bench(&["--rounds", "2", "--csv"]);
    assert!(!all.stderr.contains("--seconds"), "{}", all.stderr);
    let mut lines = all.stdout.lines();
    assert!(lines.next().is_some_and(|it| it.ends_with(",rounds")));
    assert!(lines.all(|it| it.ends_with(",2")), "{}", all.stdout);
}

#[test]
fn a_search_without_time_keeps_the_first_schedule() {
    let search = ["tune", "k.c", "--seconds", "1e-9"];
    let outcome = Bench::new().strew(&[&search[..], &DATA].concat());
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let told = "0 schedules tried: none is faster than the first; the 0.000000001 seconds of --seconds are over";
    assert!(outcome.stderr.contains(told), "{}", outcome.stderr);
    let kept = "tile_indirection_using_forall(i, chunks = 8, strategy = auto)";
    assert!(outcome.stdout.contains(kept), "{}", outcome.stdout);
}

#[test]
fn a_size_is_set_or_varies() {
    let outcome = bench(&["--vary", "m=3,4"]);
    assert_eq!(outcome.status, 2);
    let why = "--vary m and --set m both give `m` its value: leave one of them out";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
}

#[test]
fn what_holds_for_all_values_of_a_size_is_said_once() {
    let folder = Bench::new();
    folder.file("t.csv", b"1,5\n2,6\n3,7\n4,8\n");
    let outcome = folder.strew(&[
        "bench",
        "k.c",
        "--in",
        "seg=fill(0)",
        "--in",
        "x=t.csv:5",
        "--vary",
        "m=3,4,5",
        "--rounds",
        "1",
        "--threads",
        "2",
        "--against",
        "none",
    ]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let mut notes: Vec<&str> = outcome.stderr.lines().collect();
    assert!(notes.iter().any(|it| it.contains("t.csv has a first line")));
    let said = notes.len();
    notes.sort_unstable();
    notes.dedup();
    assert_eq!(notes.len(), said, "{}", outcome.stderr);
}

#[test]
fn pictures_are_svg_and_called_so() {
    let outcome = bench(&["--plot", "times.png"]);
    assert_eq!(outcome.status, 2);
    let why = "times.png: pictures are written as SVG: name it times.svg";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
}

/// What a terminal is shown; `None` where nothing here can be one.
#[cfg(target_os = "linux")]
fn on_a_terminal(arguments: &[&str]) -> Option<String> {
    let folder = Bench::new();
    let quoted: Vec<String> = arguments.iter().map(|it| format!("'{it}'")).collect();
    let command = format!("{} {}", env!("CARGO_BIN_EXE_strew"), quoted.join(" "));
    let output = std::process::Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("TERM", "xterm")
        .current_dir(folder.folder.path())
        .output()
        .ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(target_os = "linux")]
#[test]
#[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
fn a_terminal_shows_how_far_it_is() {
    // A bar comes after a second.
    let time = ["--rounds", "1000000", "--seconds", "1.5"];
    let usual = ["bench", "k.c", "--against", "none", "--threads", "2"];
    let arguments = [&usual[..], &DATA, &time].concat();
    let Some(shown) = on_a_terminal(&arguments) else {
        eprintln!("skipped: there is no `script` to make a terminal");
        return;
    };
    // How many thousands depends on the machine.
    assert!(shown.contains("calls/s, "), "{shown}");
    assert!(shown.contains("to go"), "{shown}");
    assert!(!bench(&time).stderr.contains("to go"));
}

#[test]
fn the_compiler_may_have_options() {
    let bench = Bench::new();
    let usual = ["bench", "k.c", "--rounds", "1", "--threads", "1"];
    let by = |compiler: &str| {
        let arguments = [&usual[..], &DATA].concat();
        let mut command = crate::program::strew_in(bench.folder.path(), &arguments);
        let output = command.env("CC", compiler).output();
        Outcome::from(output.expect("the program starts"))
    };
    let outcome = by("cc -std=gnu99");
    assert!(outcome.stdout.contains("cc -O3"), "{}", outcome.stderr);
    let outcome = by("no-such-compiler -O1");
    let why = "cc -O3 is left out: `no-such-compiler -O1` does not start";
    assert!(outcome.stderr.contains(why), "{}", outcome.stderr);
}
