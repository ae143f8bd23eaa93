//! What is printed is read back, also when `mlir-opt` has printed it again; what is not printed so
//! is refused.

use crate::mlir_tools::{done, piped, tool};
use crate::{emitted, root};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// The kernels of all files in `folders`, each with its name and as it is under the schedule that
/// is found for it.
fn kernels(folders: &[&str]) -> Vec<(String, Vec<strew::Scheduled>)> {
    let mut found = Vec::new();
    for folder in folders {
        let entries = std::fs::read_dir(root().join(folder)).expect("a folder");
        let mut paths: Vec<_> = entries.map(|it| it.expect("an entry").path()).collect();
        paths.sort();
        for path in paths
            .iter()
            .filter(|it| it.extension().is_some_and(|it| it == "c"))
        {
            let text = std::fs::read_to_string(path).expect("a file");
            // One of them makes data for others and is no kernel.
            let Ok(parsed) = strew::Source::new("k.c", text).parse() else {
                continue;
            };
            for kernel in parsed.kernels() {
                let plans = [
                    strew::Plan::Explicit(strew::Schedule::new()),
                    strew::Plan::Auto,
                ];
                let scheduled = plans.iter().map(|plan| kernel.schedule(plan, &mut ()));
                let scheduled: Result<Vec<_>, _> = scheduled.collect();
                let name = format!("{}: {}", path.display(), kernel.kernel().name);
                found.push((name, scheduled.expect("a schedule")));
            }
        }
    }
    found
}

#[test]
#[expect(clippy::print_stderr, reason = "how many were tried must be seen")]
fn what_is_printed_is_read_back_as_the_same_kernel() {
    let (mut same, mut refused) = (0, 0);
    let mut printed = Vec::new();
    for (name, schedules) in kernels(&["examples/kernels", "tests/kernels", "tests/nests"]) {
        for scheduled in schedules {
            let module = match scheduled.to_mlir() {
                Ok(module) => module,
                Err(why) => {
                    eprintln!("{name} is not printed: {why}");
                    refused += 1;
                    continue;
                }
            };
            assert_eq!(
                read(&name, &module),
                scheduled.kernel().to_string(),
                "{name}"
            );
            printed.push((name.clone(), module));
            same += 1;
        }
    }
    eprintln!("{same} kernels are read back as they were, {refused} are not printed");
    assert!(same > 100, "{same}");
}

/// The kernel text of a module.
#[track_caller]
fn read(name: &str, module: &str) -> String {
    let read = strew::Source::new("k.mlir", module).parse();
    let read = read.unwrap_or_else(|error| panic!("{name}: {error}\n{module}"));
    read.kernel(None).expect("one kernel").kernel().to_string()
}

/// What `mlir-opt` makes of all `modules` without a pass.
fn rewritten(opt: &str, modules: &[String]) -> Vec<String> {
    const APART: &str = "// -----";
    let all = modules.join(&format!("\n{APART}\n"));
    let done = done(piped(opt, &["--split-input-file"], &all));
    done.split(APART).map(str::to_owned).collect()
}

/// Values have other names then, maps and sets are apart from where they are used, and conditions
/// in another form.
#[test]
fn what_mlir_opt_rewrites_is_read_as_the_same_kernel() {
    let Some(opt) = tool("mlir-opt") else {
        return;
    };
    let kernels = kernels(&["examples/kernels", "tests/kernels", "tests/nests"]);
    let mut modules = Vec::new();
    for scheduled in kernels.iter().flat_map(|it| &it.1) {
        modules.extend(scheduled.to_mlir());
    }
    let rewritten = rewritten(&opt, &modules);
    assert_eq!(rewritten.len(), modules.len());
    for (module, rewritten) in modules.iter().zip(&rewritten) {
        let (before, after) = (read("printed", module), read("rewritten", rewritten));
        assert_eq!(before, after, "{rewritten}");
    }
    assert!(modules.len() > 100);
}

/// Examples that declare what they read before they set elements of it.
const UNREAD: [&str; 7] = [
    "counting_sort.c",
    "deposit.c",
    "keep.c",
    "neighbour_forces.c",
    "pair_forces.c",
    "vertex_normals.c",
    "words.c",
];

/// Constants are in front then, bounds and dimensions are numbers where they can be, maps have
/// symbols, and nothing has a name that only stands for another value.
#[test]
#[expect(clippy::print_stderr, reason = "how many were read must be seen")]
fn what_canonicalize_makes_of_the_examples_is_read() {
    let Some(opt) = tool("mlir-opt") else {
        return;
    };
    let entries = std::fs::read_dir(root().join("examples/kernels")).expect("a folder");
    let files = entries.map(|it| it.expect("an entry").path());
    let files = files.filter(|it| it.extension().is_some_and(|it| it == "c"));
    let (mut all, mut read) = (0, 0);
    for file in files {
        let name = file.file_name().and_then(|it| it.to_str()).expect("a name");
        let path = format!("examples/kernels/{name}");
        let module = done(emitted(root(), &path, None, &[]));
        let module = done(piped(&opt, &["--canonicalize"], &module));
        let output = read_back(&module);
        all += 1;
        if output.status.success() {
            read += 1;
            continue;
        }
        // Its `let` values are gone, and what they stood for is read before elements are set.
        assert!(UNREAD.contains(&name), "{name}");
        let why = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(why.contains("` was read before something was set"), "{why}");
    }
    eprintln!("{read} of {all} examples are read");
    assert_eq!(read + UNREAD.len(), all);
}

/// Forms that strew does not print and reads all the same.
#[test]
fn folded_constants_static_dimensions_and_sizes_that_nothing_needs_are_read() {
    let text = "\
module {
  func.func @k(%arg0: i64, %arg1: i32, %arg2: memref<?xi32>) attributes {strew.kernel = \"kernel @k(n: i64, m: i32, x: i32[m])\"} {
    %c3_i32 = arith.constant 3 : i32
    %c0_i32 = arith.constant 0 : i32
    %0 = arith.index_cast %arg1 : i32 to index
    %alloc = memref.alloc(%0) : memref<?x2x3xi32>
    linalg.fill ins(%c0_i32 : i32) outs(%alloc : memref<?x2x3xi32>)
    affine.for %arg3 = 0 to %0 {
      %1 = affine.load %arg2[%arg3] : memref<?xi32>
      %2 = arith.divsi %1, %c3_i32 : i32
      %3 = arith.shli %2, %c3_i32 : i32
      affine.store %3, %alloc[-%arg3 + symbol(%0) - 1, 1, 2] : memref<?x2x3xi32>
    }
    return
  }
}
";
    let text = done(read_back(text));
    for expected in [
        "alloc `alloc`: i32[m, 2, 3]",
        "affine.for arg3 in 0..m {",
        "[-arg3 + m - 1, 1, 2] = x[arg3] / 3 << 3",
    ] {
        assert!(text.contains(expected), "{expected}: {text}");
    }
}

/// Every form of a condition, a `let` that is read before its element is set, and a target that is
/// local.
const REWRITTEN: &str = "\
kernel @rewritten(n: i64, m: i64, x: f64[n + 1], out: f64[n + 1]) {
  alloc t: f64[n + 1]
  affine.for i in 0..n {
    let before: f64 = x[i]
    out[i] = before + 1.0
    affine.if (i * 2 + 5 < n, i == 3) {
      out[i] = before
    } else {
      affine.if (0 < i - 7, m + 4 == n) {
        out[i + 1] = before / out[i]
      }
    }
  }
  scf.forall c in 0..4 private(p: f64[n + 1] = identity(add)) merge(t reduce(add) p) strategy(auto) {
    p[c] reduce(add) out[c]
  }
}
";

#[test]
fn conditions_names_and_targets_survive_mlir_opt() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.nest"), REWRITTEN).expect("a file");
    let module = done(emitted(folder.path(), "k.nest", None, &[]));
    assert_eq!(
        read("printed", &module),
        REWRITTEN.replace("0 < i - 7", "7 < i")
    );
    let Some(opt) = tool("mlir-opt") else {
        return;
    };
    let rewritten = done(piped(&opt, &[], &module));
    for changed in ["#set = ", "%arg4", "%alloc_", "%c4"] {
        assert!(rewritten.contains(changed), "{rewritten}");
    }
    assert_eq!(done(read_back(&rewritten)), read("printed", &module));
}

#[test]
fn values_that_may_have_changed_are_refused() {
    let module = done(emitted(root(), "examples/kernels/smooth.c", None, &[]));
    let store = module.find("affine.store").expect("a store");
    let (before, rest) = module.split_at(store);
    let (store, rest) = rest.split_once('\n').expect("a line");
    let again = format!("{before}{store}\n      {store}\n{rest}");
    let output = read_back(&again);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    let why = "was read before something was set: strew names such values by `strew.name`";
    assert!(stderr.contains(why), "{stderr}");
}

/// Labels of loops and of all kinds of statements, and views.
const LABELLED: &str = "\
kernel @labelled(n: i64, m: i64, k: i64, row: i64[n + 1], key: i64[n], a: f64[n, m, k], out: f64[n * m]) -> f64 {
  view rows = collapse(a, [[0, 1], [2]])
  var sum: f64 = 0.0
  first: second: affine.for i in 0..n * m {
    L2: affine.for j in 0..k {
      add_up: out[i] reduce(add) rows[i, j]
    }
    twice: out[i] = out[i] * 2.0
  }
  lists: scf.for r in row[0]..row[1] {
    kept: let x: i64 = key[r]
    started: var y: f64 = 0.0
    y = y + f64(x)
    L5: sum reduce(add) y
  }
  return sum
}
";

#[test]
fn labels_and_views_come_back() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.nest"), LABELLED).expect("a file");
    let module = done(emitted(folder.path(), "k.nest", None, &[]));
    assert_eq!(done(read_back(&module)), LABELLED);
    let source = strew::Source::new("k.nest", LABELLED).parse();
    let source = source.expect("a source");
    let kernel = source.kernel(None).expect("one kernel");
    let auto = kernel.schedule(&strew::Plan::Auto, &mut ());
    let auto = auto.expect("a schedule");
    let read = done(read_back(&auto.to_mlir().expect("a module")));
    assert_eq!(read, auto.kernel().to_string());
    assert!(read.contains("first: second: "), "{read}");
    if let Some(opt) = tool("mlir-opt") {
        let verified = done(piped(&opt, &[], &module));
        for kept in [
            r#"strew.labels = "first\0Asecond""#,
            r#"strew.labels = "add_up""#,
            r#"strew.labels = "kept""#,
            r#"strew.views = "view rows = collapse(a, [[0, 1], [2]])"#,
        ] {
            assert!(verified.contains(kept), "{kept}: {verified}");
        }
    }
}

/// The kernel text that `strew opt` makes of a module on standard input.
fn read_back(module: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
    command.args(["opt", "-"]).stdin(Stdio::piped());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(module.as_bytes()).expect("it reads");
    drop(input);
    child.wait_with_output().expect("it ends")
}

#[test]
fn opt_reads_what_is_printed_and_what_was_changed_in_it() {
    let module = done(emitted(root(), "examples/kernels/histogram.c", None, &[]));
    let text = done(read_back(&module));
    assert!(text.contains("h[key[i]] reduce(add) 1\n"), "{text}");
    let changed = module.replace("arith.constant 1 : i32", "arith.constant 3 : i32");
    let text = done(read_back(&changed));
    assert!(text.contains("h[key[i]] reduce(add) 3\n"), "{text}");
    let changed = module.replace("%i = 0 to", "%i = 5 to");
    let text = done(read_back(&changed));
    assert!(text.contains("affine.for i in 5..n {"), "{text}");
}

#[test]
fn what_grows_without_end_is_refused() {
    let module = done(emitted(root(), "examples/kernels/histogram.c", None, &[]));
    let sums = (1..200).fold("%00 = arith.addi %m, %m : i32\n".to_owned(), |text, k| {
        text + &format!("%0{k} = arith.addi %0{0}, %0{0} : i32\n", k - 1)
    });
    let at = module.find("    affine.for").expect("a loop");
    for (inserted, why) in [
        ("(".repeat(1 << 20), "nested deeper than strew reads"),
        (sums, "larger than strew reads"),
    ] {
        let changed = format!("{}{inserted}{}", &module[..at], &module[at..]);
        let output = read_back(&changed);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{stderr}");
        assert!(stderr.contains(why), "{stderr}");
    }
}

#[test]
fn what_is_not_printed_so_is_refused_with_its_place() {
    let module = done(emitted(root(), "examples/kernels/histogram.c", None, &[]));
    for (from, to, line, why) in [
        (
            "arith.addi",
            "arith.maxui",
            12,
            "strew does not read `arith.maxui`",
        ),
        (
            "arith.addi",
            "arith.muli",
            11,
            "this does not combine by `add`",
        ),
        (
            "memref.load %h[%4]",
            "memref.load %h[%3]",
            11,
            "`%3` is no index",
        ),
        (
            "memref.store %7",
            "memref.store %9",
            13,
            "`%9` is not known",
        ),
        (
            "affine.for",
            "tensor.empty",
            5,
            "strew does not read `tensor.empty`",
        ),
        (
            "attributes {strew.kernel",
            "attributes {other.kernel",
            2,
            "no attribute `strew.kernel`",
        ),
        (
            "%m: i32",
            "%m: i64",
            2,
            "`strew.kernel` says another parameter than `%m`",
        ),
        (
            "h: i32[m]",
            "h: i32[",
            2,
            "`strew.kernel` does not say a kernel",
        ),
        ("0 to", "0 until", 5, "expected `to` here"),
        ("(d0) -> (d0)", "(d0) -> (d1)", 5, "`d1` is no index here"),
        ("{\n", "{ ^\n", 1, "this is not part of MLIR"),
    ] {
        assert!(module.contains(from), "{from}");
        let changed = module.replacen(from, to, 1);
        let output = read_back(&changed);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{changed}{stderr}");
        assert!(stderr.contains(why), "{stderr}");
        assert!(
            stderr.contains(&format!("--> <stdin>:{line}:")),
            "{line} {stderr}"
        );
    }
}

#[test]
fn no_part_of_a_module_makes_reading_fail_in_another_way() {
    let steps = ["tile_indirection_using_forall(i, reduction(out) = add, chunks = 4)"];
    let file = "examples/kernels/segment_sum.c";
    let module = done(emitted(root(), file, None, &steps));
    let words: Vec<&str> = module.split_inclusive(' ').collect();
    for left_out in 0..words.len() {
        let rest = [&words[..left_out], &words[left_out + 1..]]
            .concat()
            .concat();
        let _ = strew::Source::new("k.mlir", rest).parse();
        let start = words[..left_out].concat();
        assert!(strew::Source::new("k.mlir", start).parse().is_err());
    }
}
