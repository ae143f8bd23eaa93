//! Arguments and files that are refused by name.

use crate::{Bench, bytes, npy, read, refused};
use std::fs;

#[test]
fn unusable_npy_files_are_refused_by_name() {
    let four = bytes(&[0_i32, 2, 2, 1]);
    let cases: [(&str, Vec<u8>, &str); 9] = [
        ("empty", vec![], "the file is empty"),
        ("text", b"hello".to_vec(), "not a .npy file"),
        (
            "truncated",
            npy("<i4", "False", "(9,)", &four),
            "truncated: its header announces 36 bytes of elements, found 16",
        ),
        (
            "header only",
            b"\x93NUMPY\x01\x00\xff\xff{".to_vec(),
            "header",
        ),
        (
            "long",
            npy("<i4", "False", "(2,)", &four),
            "longer than its header says",
        ),
        ("fortran", npy("<i4", "True", "(2, 2)", &four), "Fortran"),
        (
            "big-endian",
            npy(">i4", "False", "(4,)", &four),
            "big-endian",
        ),
        (
            "other type",
            npy("<f4", "False", "(4,)", &four),
            "type f32, expected i32",
        ),
        ("object", npy("|O", "False", "(4,)", &four), "|O"),
    ];
    for (what, contents, message) in cases {
        let bench = Bench::new();
        bench.file("seg.npy", &contents);
        let outcome = bench.run(&["--set", "m=3", "--out", "out=o.npy"]);
        refused(&outcome, 2, &["seg.npy", "`seg`", message]);
        assert!(!bench.path("o.npy").exists(), "{what}");
    }
}

#[test]
fn ranks_are_never_changed() {
    let bench = Bench::new();
    bench.file(
        "seg.npy",
        &npy("<i4", "False", "(2, 2)", &bytes(&[0_i32, 2, 2, 1])),
    );
    refused(
        &bench.run(&["--set", "m=3"]),
        2,
        &["`seg`", "shape [2, 2]", "seg[n]"],
    );
}

#[test]
fn sizes_that_contradict_each_other_are_refused() {
    let bench = Bench::new();
    refused(
        &bench.run(&["--set", "m=3", "--set", "n=5"]),
        2,
        &["`n` is 5 as given, 4 by `seg`"],
    );
    bench.file("x.npy", &npy("<f4", "False", "(3,)", &bytes(&[1.0_f32; 3])));
    refused(
        &bench.run(&["--set", "m=3"]),
        2,
        &["`n` is 4 by `seg`, 3 by `x`"],
    );
}

#[test]
fn missing_and_unknown_arguments_are_named() {
    let bench = Bench::new();
    refused(&bench.run(&[]), 2, &["`m`", "i32", "--set m=VALUE"]);
    let outcome = bench.strew(&["run", "k.c", "--in", "seg=seg.npy", "--set", "m=3"]);
    refused(&outcome, 2, &["`x`", "--in x=FILE.npy"]);
    refused(
        &bench.run(&["--set", "q=3"]),
        2,
        &["no parameter `q`", "n, m, seg, x, out"],
    );
    refused(
        &bench.run(&["--set", "m=3.5"]),
        2,
        &["--set m", "3.5", "i32"],
    );
    refused(
        &bench.run(&["--set", "m=9999999999"]),
        2,
        &["out of range for i32"],
    );
    refused(&bench.run(&["--set", "x=1"]), 2, &["`x` is an array"]);
    refused(&bench.run(&["--in", "m=seg.npy"]), 2, &["`m` is a scalar"]);
    refused(
        &bench.run(&["--set", "m=3", "--set", "m=3"]),
        2,
        &["given twice"],
    );
    refused(
        &bench.run(&["--set", "m=3", "--out", "x=o.npy"]),
        2,
        &["does not write `x`"],
    );
    refused(
        &bench.run(&["--set", "m=-1"]),
        2,
        &["out[m]", "-1", "negative"],
    );
}

#[test]
fn an_array_that_is_missing_is_asked_for_rather_than_its_size() {
    let bench = Bench::new();
    let outcome = bench.strew(&["run", "k.c", "--set", "m=3", "--in", "x=x.npy"]);
    refused(&outcome, 2, &["no array for `seg`", "--in seg=FILE.npy"]);
    let outcome = bench.strew(&["run", "k.c", "--set", "m=3"]);
    refused(&outcome, 2, &["no array for `seg`", "no array for `x`"]);
    assert!(!outcome.stderr.contains("no value for `n`"));
}

#[test]
fn output_files_are_checked_before_the_run() {
    let bench = Bench::new();
    bench.file(
        "k.c",
        b"void two(int64_t n, const int32_t a[n], int32_t b[n], int32_t c[n]) {\n\
          for (int64_t i = 0; i < n; i++) { b[i] = a[i]; c[i] = a[i]; }\n}\n",
    );
    fs::create_dir(bench.path("folder")).expect("a folder");
    let run = |more: &[&str]| bench.strew(&[&["run", "k.c", "--in", "a=seg.npy"], more].concat());
    refused(
        &run(&["--out", "b=o.npy", "--out", "c=o.npy"]),
        2,
        &["o.npy", "--out b", "--out c"],
    );
    refused(
        &run(&["--out", "b=o.npy", "--out", "c=./folder/../o.npy"]),
        2,
        &["--out b", "--out c"],
    );
    refused(&run(&["--out", "b=seg.npy"]), 2, &["seg.npy", "--in a"]);
    refused(
        &run(&["--out", "b=no/such/folder/o.npy"]),
        2,
        &["cannot be written"],
    );
    refused(&run(&["--out", "b=folder"]), 2, &["cannot be written"]);
    assert_eq!(bench.files(), ["folder", "k.c", "seg.npy", "x.npy"]);
    assert_eq!(run(&["--out", "b=b.npy", "--out", "c=c.npy"]).status, 0);
    assert_eq!(read::<i32>(bench.path("c.npy")), [0, 2, 2, 1]);
}

#[test]
fn flags_that_do_not_exist_are_usage_errors() {
    let bench = Bench::new();
    assert_eq!(bench.run(&["--frobnicate"]).status, 2);
    assert_eq!(bench.run(&["--mode", "quick"]).status, 2);
    refused(
        &bench.run(&["--set", "m=3", "--strategy", "blokced"]),
        2,
        &["blokced", "dense"],
    );
}

#[test]
fn shapes_that_do_not_fit_are_told_with_where_they_come_from() {
    let bench = Bench::new();
    bench.file(
        "x3.npy",
        &npy("<f4", "False", "(3,)", &bytes(&[1.0_f32; 3])),
    );
    bench.file("x.bin", &bytes(&[1.0_f32; 4]));
    let run = |more: &[&str]| {
        let usual = ["run", "k.c", "--in", "seg=seg.npy", "--set", "m=3"];
        bench.strew(&[&usual[..], more].concat())
    };
    let seg = "\n  note: `seg` is --in seg=seg.npy, of shape [4]\n";
    refused(
        &run(&["--in", "x=x3.npy"]),
        2,
        &[seg, "\n  note: `x` is --in x=x3.npy, of shape [3]\n"],
    );
    refused(
        &run(&["--in", "x=fill(1)", "--shape", "x=7"]),
        2,
        &[seg, "\n  note: `x` has shape [7] by --shape\n"],
    );
    let divided = run(&["--in", "x=x.bin:f32", "--shape", "x=2,2"]);
    refused(
        &divided,
        2,
        &["\n  note: `x` is --in x=x.bin, of shape [2, 2] by --shape\n"],
    );
    bench.file("square.c", b"void square(int n, float x[n][n]) {\n  for (int i = 0; i < n; i++)\n    x[i][i] = 0;\n}\n");
    let flat = bench.strew(&["run", "square.c", "--in", "x=x.bin:f32"]);
    refused(&flat, 2, &["of shape [4], which --shape x=D,D divides"]);
}

#[test]
fn sources_that_are_no_files_are_told_what_they_lack() {
    let bench = Bench::new();
    let of = |source: &str| bench.run(&["--set", "m=3", "--in", &format!("out={source}")]);
    refused(
        &of("uniform(0"),
        2,
        &["--in out: the bracket of `uniform(` is not closed"],
    );
    let endings = "files that end in .npz, .csv and .mtx have parts";
    let told = of("data.txt:key");
    refused(&told, 2, &["--in out: data.txt", "`key`", endings]);
    assert!(!told.stderr.contains("No such file"), "{}", told.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn standard_input_is_a_file() {
    use std::process::{Command, Stdio};
    let bench = Bench::new();
    for (source, name, contents) in [
        ("x=/dev/stdin", "x.npy", None),
        (
            "x=/dev/stdin:f32",
            "x.bin",
            Some(bytes(&[1.0_f32, 0.5, 2.0, 3.0])),
        ),
    ] {
        if let Some(contents) = contents {
            bench.file(name, &contents);
        }
        let file = std::fs::File::open(bench.path(name)).expect("a file");
        let output = Command::new(env!("CARGO_BIN_EXE_strew"))
            .args([
                "run",
                "k.c",
                "--set",
                "m=3",
                "--in",
                "seg=seg.npy",
                "--in",
                source,
            ])
            .current_dir(bench.folder.path())
            .stdin(Stdio::from(file))
            .output()
            .expect("the program starts");
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(String::from_utf8_lossy(&output.stdout).starts_with("out: f64[3]"));
    }
}

#[test]
fn tables_without_names_have_numbers_for_columns() {
    let bench = Bench::new();
    bench.file("t.csv", b"1,5\n2,6\n3,7\n4,8\n");
    let run = |column: &str, command: &str| {
        let x = format!("x=t.csv:{column}");
        let usual = [
            command,
            "k.c",
            "--in",
            "seg=fill(0)",
            "--set",
            "m=1",
            "--in",
            &x,
        ];
        bench.strew(&usual)
    };
    let all = run("#2", "run");
    assert!(all.stdout.contains("[26]"), "{}{}", all.stdout, all.stderr);
    assert!(!all.stderr.contains("note"), "{}", all.stderr);
    let note =
        "note: t.csv has a first line of numbers, which are taken for the names of the columns";
    for command in ["run", "tune"] {
        let rest = run("5", command);
        assert!(rest.stderr.contains(note), "{}", rest.stderr);
    }
    refused(&run("x", "run"), 2, &["no column `x`", "#1, #2 and so on"]);
}
