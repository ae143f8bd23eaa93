//! What shells see of strew: help, completions, manual pages, versions, measurements, statuses.

mod program;

use std::path::Path;
use std::process::{Command, Output};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn strew(arguments: &[&str]) -> Output {
    strew_in(root(), arguments)
}

fn strew_in(folder: &Path, arguments: &[&str]) -> Output {
    let output = program::strew_in(folder, arguments).output();
    output.expect("the program starts")
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
    let output = strew(&["man", "run", "walk"]);
    assert_eq!(output.status.code(), Some(2));
    let expected = "there is no command `walk`; `run` has no commands of its own";
    assert!(text(&output.stderr).contains(expected));
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

#[cfg(target_os = "linux")]
#[test]
fn what_a_full_device_does_not_take_is_told() {
    for arguments in [
        "--help",
        "run -h",
        "help map",
        "map simplify --help",
        "--version",
        "completions fish",
        "man run",
        "opt examples/kernels/smooth.c",
    ] {
        let arguments: Vec<&str> = arguments.split(' ').collect();
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = program::strew_in(root(), &arguments);
        command.stdout(full.expect("a device that is full"));
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let why = text(&output.stderr);
        let expected = "error: cannot write to standard output: ";
        assert!(why.starts_with(expected), "{arguments:?}: {why}");
    }
}

#[test]
fn names_of_strategies_and_bodies_are_listed_and_completed() {
    let names: Vec<&str> = strew::Strategy::named().map(|it| it.name()).collect();
    assert!(names.len() > 5);
    let listed = format!("[possible values: auto, {}]", names.join(", "));
    for command in ["run", "bench", "tune"] {
        let help = done(&[command, "--help"]);
        let words: Vec<&str> = help.split_whitespace().collect();
        assert!(words.join(" ").contains(&listed), "{command}: {help}");
    }
    let script = done(&["completions", "bash"]);
    let proposed = format!("compgen -W \"auto {}\"", names.join(" "));
    assert!(script.contains(&proposed), "{script}");
    let bodies = strew::Body::ALL.map(|it| it.name()).join(" ");
    let proposed = format!("compgen -W \"{bodies}\"");
    assert!(script.contains(&proposed), "{script}");
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
fn a_picture_that_cannot_be_written_is_told_before_anything_is_measured() {
    let folder = checkout();
    let mut arguments = vec!["bench"];
    arguments.extend(HISTOGRAM);
    arguments.extend(["3", "--set", "n=20000", "--plot", "nowhere/p.svg"]);
    let output = strew_in(folder.path(), &arguments);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(&output.stdout), "");
    assert!(text(&output.stderr).contains("nowhere/p.svg"));
}

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

#[test]
fn manual_pages_say_what_options_take() {
    let page = done(&["man", "run"]);
    for part in [
        r"[\fB\-\-set\fR \fI<NAME=VALUE>\fR]",
        r"[\fB\-\-mode\fR \fI<MODE>\fR]",
        r"[\fB\-\-json\fR]",
    ] {
        assert!(page.contains(part), "{page}");
    }
    let folder = tempfile::tempdir().expect("a folder");
    let written = strew_in(folder.path(), &["man", "--folder", "pages"]);
    assert!(written.status.success());
    let page = std::fs::read_to_string(folder.path().join("pages/strew-map-evaluate.1"));
    assert!(page.expect("a page").contains(r"\-\-at\fR \fI<"));
}

#[test]
fn a_search_whose_schedule_cannot_be_written_does_not_begin() {
    let folder = tempfile::tempdir().expect("a folder");
    let kernel = root().join("examples/kernels/histogram.c");
    let kernel = kernel.to_str().expect("a path");
    let flags = [
        "--in",
        "key=uniform(0, m)",
        "--set",
        "n=100",
        "--set",
        "m=5",
    ];
    let search = |path: &str| {
        let mut all = vec!["tune", kernel, "--seconds", "100000", "-o", path];
        all.extend(flags);
        strew_in(folder.path(), &all)
    };
    let output = search("missing/k.schedule");
    assert_eq!(output.status.code(), Some(2));
    let stderr = text(&output.stderr);
    assert!(
        stderr.starts_with("error: missing/k.schedule: cannot be written"),
        "{stderr}"
    );
}

#[test]
fn results_that_are_not_those_of_the_compiler_are_told() {
    if Command::new("cc").arg("--version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // The compiler sees another loop.
    let kernel = "\
#ifdef __GNUC__
#define STEP 2
#else
#define STEP 1
#endif
void count(int64_t n, int32_t m, const int32_t key[n], int32_t h[m]) {
  for (int64_t i = 0; i < n; i++)
    h[key[i]] += STEP;
}
";
    std::fs::write(folder.path().join("k.c"), kernel).expect("a file");
    let bench = |file: &str| {
        let flags = [
            "--in",
            "key=uniform(0, m)",
            "--set",
            "n=1000",
            "--set",
            "m=1",
        ];
        let mut all = vec!["bench", file, "--rounds", "3", "--threads", "2", "--json"];
        all.extend(flags);
        let output = strew_in(folder.path(), &all);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        output
    };
    let output = bench("k.c");
    let stderr = text(&output.stderr);
    let warning = "warning: cc -O3 on 1 threads computes something else: element 0 of `h`, row by row, is 2000, where the loop as it is written has 1000";
    assert!(stderr.contains(warning), "{stderr}");
    assert_eq!(stderr.matches("warning").count(), 1, "{stderr}");
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("a report");
    let rows = report["rows"].as_array().expect("rows");
    let differing = rows.iter().filter(|it| it["differs"].is_string());
    assert_eq!(differing.count(), 1);
    let same = kernel.replace("#define STEP 2", "#define STEP 1");
    std::fs::write(folder.path().join("same.c"), same).expect("a file");
    assert!(!text(&bench("same.c").stderr).contains("warning"));
}

/// What `strew bench --against openmp` says of the kernel `k` of `source`: whether OpenMP was
/// measured, and what went to standard error.
fn against_openmp(source: &str, n: &str, m: &str) -> (bool, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.c"), source).expect("a file");
    let (n, m) = (format!("n={n}"), format!("m={m}"));
    let mut all = vec!["bench", "k.c", "--rounds", "3", "--threads", "2"];
    all.extend(["--strategy", "serial", "--against", "openmp"]);
    all.extend(["--set", &n, "--set", &m, "--in", "key=uniform(0, m)"]);
    let output = strew_in(folder.path(), &all);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{source}: {stderr}");
    (text(&output.stdout).contains("openmp"), stderr)
}

/// Loops beside themselves under OpenMP, by their own pragmas and by those that they get.
#[test]
fn openmp_computes_the_same() {
    if Command::new("cc").arg("--version").output().is_err() {
        return;
    }
    let own = "#pragma omp parallel for reduction(+ : h[:m])\n";
    for (pragma, signature, before, update) in [
        (own, "double h[m]", "", "h[key[i]] += 1.5;"),
        ("", "double h[m]", "", "h[key[i]] += 1.5;"),
        ("", "int32_t h[m]", "", "h[key[i]]++;"),
        (
            "",
            "int64_t h[m]",
            "",
            "h[key[i]] ^= i; h[key[i] / 2] ^= 7 * i;",
        ),
        (
            "",
            "float h[m]",
            "",
            "if (0.5f * key[i] > h[key[i]]) h[key[i]] = 0.5f * key[i];",
        ),
        (
            "",
            "double h[m][3]",
            "",
            "for (int j = 0; j < 3; j++) h[key[i]][j] += j;",
        ),
        (
            "",
            "double h[n]",
            "double t;",
            "t = 0.5 * key[i]; h[i] = t * t;",
        ),
        (
            "",
            "double h[1]",
            "double sum = 0;",
            "sum += 0.25 * key[i];",
        ),
    ] {
        let after = if before.contains("sum") {
            "h[0] = sum;"
        } else {
            ""
        };
        let kernel = format!(
            "/* once for all: */\nvoid k(int64_t n, int32_t m, const int32_t key[n], {signature}) {{\n{before}\n{pragma}\
             for (int64_t i = 0; i < n; i++) {{ {update} }}\n{after}\n}}\n"
        );
        let (is_measured, stderr) = against_openmp(&kernel, "20000", "50");
        assert!(is_measured, "{kernel}: {stderr}");
        assert!(!stderr.contains("warning"), "{stderr}");
    }
    // Copies of 32 MB would take longer than to update in place.
    let large = "void k(int64_t n, int32_t m, const int32_t key[n], double h[m]) {\n\
                 for (int64_t i = 0; i < n; i++)\n    if (key[i] > 3) h[key[i]] += 1.5;\n}\n";
    let (is_measured, stderr) = against_openmp(large, "20000", "4000000");
    assert!(is_measured && !stderr.contains("warning"), "{stderr}");
}

#[test]
fn what_openmp_cannot_express_is_told() {
    for (update, why) in [
        (
            "h[key[i]] = i;",
            "openmp is left out: iterations of `i` cannot run at once",
        ),
        (
            "if (h[key[i]] < 100) h[key[i]]++;",
            "openmp is left out: `h` is updated by `add_sat`, which OpenMP has no reduction for",
        ),
        (
            "h[key[i]] += 2; h[key[i] / 2] ^= i;",
            "openmp is left out: iterations of `i` cannot run at once",
        ),
    ] {
        let kernel = format!(
            "void k(int64_t n, int32_t m, const int32_t key[n], int32_t h[m]) {{\n\
             for (int64_t i = 0; i < n; i++) {{ {update} }}\n}}\n"
        );
        let (is_measured, stderr) = against_openmp(&kernel, "100", "50");
        assert!(!is_measured && stderr.contains(why), "{kernel}: {stderr}");
    }
}
