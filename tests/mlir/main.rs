//! Kernels as MLIR, verified by `mlir-opt` and run by `mlir-cpu-runner`: the results have the bits
//! of those of strew, sums in private copies being of whole numbers, which no order rounds.

#[path = "../mlir_tools/mod.rs"]
mod mlir_tools;
mod read;

use mlir_tools::{LOWERING, done, piped, tool};
use std::fmt::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn strew(folder: &Path, arguments: &[String]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("STREW_CALIBRATION", "");
    command
        .stdin(Stdio::null())
        .output()
        .expect("the program starts")
}

fn emitted(folder: &Path, file: &str, kernel: Option<&str>, steps: &[&str]) -> Output {
    let mut arguments: Vec<String> = ["emit", file, "--stage", "mlir"].map(str::to_owned).into();
    arguments.extend(
        kernel
            .iter()
            .flat_map(|it| ["--kernel".to_owned(), (*it).to_owned()]),
    );
    arguments.extend(
        steps
            .iter()
            .flat_map(|it| ["--step".to_owned(), (*it).to_owned()]),
    );
    strew(folder, &arguments)
}

/// An argument of a kernel.
enum Argument {
    Scalar(&'static str, &'static str, i64),
    /// Name, type in kernel text, shape, elements, whether it is written.
    Array(&'static str, &'static str, Vec<usize>, Vec<i64>, bool),
}
use Argument::{Array, Scalar};

fn mlir_type(ty: &str) -> String {
    ty.replace('u', "i")
}

fn bytes_of(ty: &str, value: i64) -> Vec<u8> {
    match ty {
        "f64" => (value as f64).to_le_bytes().into(),
        "f32" => (value as f32).to_le_bytes().into(),
        "i64" | "u64" => value.to_le_bytes().into(),
        "i32" | "u32" => (value as i32).to_le_bytes().into(),
        other => panic!("{other}"),
    }
}

/// Lists in lists.
fn nested(shape: &[usize], texts: &[String]) -> String {
    let Some((first, rest)) = shape.split_first() else {
        return texts[0].clone();
    };
    let size = texts.len() / first;
    let parts: Vec<_> = texts.chunks(size).map(|it| nested(rest, it)).collect();
    format!("[{}]", parts.join(", "))
}

/// A number of all that the kernel writes.
fn hash(bits: impl Iterator<Item = u64>) -> u64 {
    bits.fold(0, |hash, it| hash.wrapping_mul(31).wrapping_add(it))
}

/// A main function that calls `kernel` with the arguments and returns the [`hash`] of what it
/// writes.
fn main_function(kernel: &str, arguments: &[Argument]) -> String {
    let (mut globals, mut body, mut after) = (String::new(), String::new(), String::new());
    let (mut names, mut types) = (Vec::new(), Vec::new());
    let mut count = 0;
    for argument in arguments {
        match argument {
            Scalar(name, ty, value) => {
                let _ = writeln!(body, "%{name} = arith.constant {value} : {ty}");
                names.push(format!("%{name}"));
                types.push(mlir_type(ty));
            }
            Array(name, ty, shape, values, is_written) => {
                let element = mlir_type(ty);
                let text = |it: &i64| {
                    if ty.starts_with('f') {
                        format!("{it}.0")
                    } else {
                        it.to_string()
                    }
                };
                let texts: Vec<String> = values.iter().map(text).collect();
                let extents: String = shape.iter().map(|it| format!("{it}x")).collect();
                let fixed = format!("memref<{extents}{element}>");
                let dynamic = format!("memref<{}{element}>", "?x".repeat(shape.len()));
                let _ = writeln!(
                    globals,
                    "memref.global \"private\" @g_{name} : {fixed} = dense<{}>",
                    nested(shape, &texts)
                );
                let _ = writeln!(body, "%s_{name} = memref.get_global @g_{name} : {fixed}");
                let _ = writeln!(
                    body,
                    "%{name} = memref.cast %s_{name} : {fixed} to {dynamic}"
                );
                names.push(format!("%{name}"));
                types.push(dynamic);
                for place in (0..values.len()).filter(|_| *is_written) {
                    let mut rest = place;
                    let mut at: Vec<String> = Vec::new();
                    for extent in shape.iter().rev() {
                        let _ = writeln!(
                            after,
                            "%x{count}_{} = arith.constant {} : index",
                            at.len(),
                            rest % extent
                        );
                        at.insert(0, format!("%x{count}_{}", at.len()));
                        rest /= extent;
                    }
                    let _ = writeln!(
                        after,
                        "%l{count} = memref.load %s_{name}[{}] : {fixed}",
                        at.join(", ")
                    );
                    let wide = match element.as_str() {
                        "f64" => format!("arith.bitcast %l{count} : f64 to i64"),
                        "f32" => {
                            let _ =
                                writeln!(after, "%b{count} = arith.bitcast %l{count} : f32 to i32");
                            format!("arith.extui %b{count} : i32 to i64")
                        }
                        "i32" => format!("arith.extui %l{count} : i32 to i64"),
                        _ => format!("arith.ori %l{count}, %l{count} : i64"),
                    };
                    let _ = writeln!(after, "%w{count} = {wide}");
                    let _ = writeln!(after, "%m{count} = arith.muli %h{count}, %factor : i64");
                    let _ = writeln!(
                        after,
                        "%h{} = arith.addi %m{count}, %w{count} : i64",
                        count + 1
                    );
                    count += 1;
                }
            }
        }
    }
    format!(
        "{globals}func.func @main() -> i64 {{\n{body}func.call @{kernel}({}) : ({}) -> ()\n\
         %h0 = arith.constant 0 : i64\n%factor = arith.constant 31 : i64\n{after}return %h{count} : i64\n}}\n",
        names.join(", "),
        types.join(", ")
    )
}

/// What strew says: the [`hash`] of what its run writes.
fn expected(folder: &Path, file: &str, steps: &[&str], arguments: &[Argument]) -> u64 {
    let mut flags: Vec<String> = vec!["run".to_owned(), file.to_owned()];
    flags.extend(
        steps
            .iter()
            .flat_map(|it| ["--step".to_owned(), (*it).to_owned()]),
    );
    let mut flag = |name: &str, text: String| flags.extend([name.to_owned(), text]);
    for argument in arguments {
        match argument {
            Scalar(name, _, value) => flag("--set", format!("{name}={value}")),
            Array(name, ty, shape, values, is_written) => {
                let bytes: Vec<u8> = values.iter().flat_map(|it| bytes_of(ty, *it)).collect();
                std::fs::write(folder.join(format!("{name}.bin")), bytes).expect("a file");
                let shape: Vec<_> = shape.iter().map(usize::to_string).collect();
                flag("--in", format!("{name}={name}.bin:{ty}"));
                flag("--shape", format!("{name}={}", shape.join(",")));
                if *is_written {
                    flag("--out", format!("{name}=out_{name}.bin"));
                }
            }
        }
    }
    done(strew(folder, &flags));
    let written = arguments.iter().filter_map(|it| match it {
        Array(name, ty, _, _, true) => Some((name, ty)),
        _ => None,
    });
    let bits = written.flat_map(|(name, ty)| {
        let bytes = std::fs::read(folder.join(format!("out_{name}.bin"))).expect("a file");
        let width = if ty.ends_with("64") { 8 } else { 4 };
        let elements: Vec<u64> = bytes
            .chunks_exact(width)
            .map(|it| {
                it.iter()
                    .rev()
                    .fold(0, |all, byte| all << 8 | u64::from(*byte))
            })
            .collect();
        elements
    });
    hash(bits)
}

/// Runs `kernel` of `file` in both ways, and compares.
fn check(file: &str, kernel: &str, steps: &[&str], arguments: &[Argument]) {
    let folder = tempfile::tempdir().expect("a folder");
    let text = std::fs::read_to_string(root().join(file)).unwrap_or_else(|_| file.to_owned());
    std::fs::write(folder.path().join("k.c"), text).expect("a file");
    let module = done(emitted(folder.path(), "k.c", None, steps));
    let (Some(opt), Some(runner)) = (tool("mlir-opt"), tool("mlir-cpu-runner")) else {
        return;
    };
    let (functions, _) = module.rsplit_once('}').expect("a module");
    let program = format!("{functions}{}}}\n", main_function(kernel, arguments));
    let lowered = done(piped(&opt, &LOWERING, &program));
    let result = done(piped(
        &runner,
        &["-e", "main", "-entry-point-result=i64"],
        &lowered,
    ));
    let result: i64 = result.trim().parse().unwrap_or_else(|_| panic!("{result}"));
    let expected = expected(folder.path(), "k.c", steps, arguments);
    assert_eq!(
        result.cast_unsigned(),
        expected,
        "{kernel} {steps:?}: {module}"
    );
}

fn numbers(count: usize, modulo: i64) -> Vec<i64> {
    (0..count as i64)
        .map(|it| (it * it * 7 + it * 3 + 1) % modulo)
        .collect()
}

#[test]
fn scattered_sums_and_maxima_are_the_same() {
    let arguments = |kind: &'static str| {
        vec![
            Scalar("n", "i64", 37),
            Scalar("m", "i32", 9),
            Array("seg", "i32", vec![37], numbers(37, 9), false),
            Array("x", "f32", vec![37], numbers(37, 23), false),
            Array("out", kind, vec![9], numbers(9, 5), true),
        ]
    };
    let file = "examples/kernels/segment_sum.c";
    check(file, "segment_sum", &[], &arguments("f64"));
    let tiled = "tile_indirection_using_forall(i, reduction(out) = add, chunks = 4)";
    check(
        file,
        "segment_sum",
        &[tiled, "unroll(i, 4)"],
        &arguments("f64"),
    );
    let max = "void best(int64_t n, int32_t m, const int32_t seg[n], const float x[n], float out[m], int64_t at[m]) {
  for (int64_t i = 0; i < n; i++)
    if (x[i] > out[seg[i]]) { out[seg[i]] = x[i]; at[seg[i]] = i; }
}";
    let mut pairs = arguments("f32");
    pairs.push(Array("at", "i64", vec![9], vec![-1; 9], true));
    check(max, "best", &[], &pairs);
    check(
        max,
        "best",
        &["tile_indirection_using_forall(i, chunks = 3)"],
        &pairs,
    );
}

#[test]
fn nests_are_the_same_under_schedules() {
    let product = || {
        vec![
            Scalar("n", "i64", 5),
            Scalar("m", "i64", 7),
            Scalar("p", "i64", 6),
            Array("a", "f64", vec![5, 6], numbers(30, 11), false),
            Array("b", "f64", vec![6, 7], numbers(42, 13), false),
            Array("c", "f64", vec![5, 7], numbers(35, 3), true),
        ]
    };
    let file = "examples/kernels/product.c";
    check(file, "product", &[], &product());
    check(
        file,
        "product",
        &["tile(i = 4, j = 4)", "interchange(j_p, k)", "unroll(k, 2)"],
        &product(),
    );
    check(
        file,
        "product",
        &["interchange(j, k)", "parallelize(i)", "vectorize(j, 4)"],
        &product(),
    );
    let grid = || {
        vec![
            Scalar("n", "i64", 9),
            Array("x", "f64", vec![9, 9], numbers(81, 17), true),
        ]
    };
    let file = "examples/kernels/smooth.c";
    check(file, "smooth", &[], &grid());
    let waves = ["skew(j by i, 1)", "interchange(i, j_s)", "parallelize(i)"];
    check(file, "smooth", &waves, &grid());
}

#[test]
fn expressions_are_calculated_as_in_c() {
    let kernel = "#include <math.h>
static int gcd(int a, int b) { while (b != 0) { int t = a % b; a = b; b = t; } return a; }
void all(int n, const int a[n], const int b[n], const double x[n], int64_t out[n], double y[n]) {
  for (int i = 0; i < n; i++) {
    int64_t r = gcd(a[i], b[i]);
    r += (a[i] << b[i]) ^ (a[i] >> 2) ^ (~b[i] | 5);
    r += (unsigned)a[i] / 7u + (unsigned char)a[i] % 3;
    if (b[i] != 0 && a[i] / b[i] > 1) r *= -3;
    for (int k = 0; k < 10; k++) {
      if (k == a[i] % 5) continue;
      if (k > 6) break;
      r += k * i;
    }
    r += (int)(x[i] * 1e9) + (int8_t)(x[i] * 100.0) + (x[i] > 2.5 ? 1 : -1);
    out[i] = r;
    y[i] = sqrt(fabs(x[i] - 4.0)) + floor(x[i] / 3.0) + fmax(x[i], 2.0) + (float)a[i] * 0.1f;
  }
}";
    let numbers = |modulo: i64, less: i64| {
        numbers(24, modulo)
            .into_iter()
            .map(|it| it - less)
            .collect()
    };
    let arguments = [
        Scalar("n", "i32", 24),
        Array("a", "i32", vec![24], numbers(101, 50), false),
        Array("b", "i32", vec![24], numbers(13, 6), false),
        Array("x", "f64", vec![24], numbers(9, 4), false),
        Array("out", "i64", vec![24], vec![0; 24], true),
        Array("y", "f64", vec![24], vec![0; 24], true),
    ];
    check(kernel, "all", &[], &arguments);
}

#[test]
fn every_kernel_of_the_examples_is_verified() {
    let Some(opt) = tool("mlir-opt") else {
        return;
    };
    for folder in ["examples/kernels", "tests/kernels"] {
        for entry in std::fs::read_dir(root().join(folder)).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|it| it != "c") {
                continue;
            }
            let path = path.to_str().expect("a path");
            let nest = strew(
                root(),
                &["emit", path, "--stage", "nest"].map(str::to_owned),
            );
            if !nest.status.success() {
                // It makes data for others and is no kernel.
                continue;
            }
            let nest = done(nest);
            let heads = nest
                .lines()
                .filter_map(|line| line.strip_prefix("kernel @"));
            for name in heads.filter_map(|it| it.split('(').next()) {
                let module = done(emitted(root(), path, Some(name), &[]));
                done(piped(&opt, &[], &module));
            }
        }
    }
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let structs = "struct point { float x, y; };
void move(int n, struct point p[n]) { for (int i = 0; i < n; i++) p[i].x += 1; }";
    std::fs::write(folder.path().join("k.c"), structs).expect("a file");
    let output = emitted(folder.path(), "k.c", None, &[]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        stderr.contains("move: `p` is an array of structs"),
        "{stderr}"
    );
}

#[test]
fn an_index_out_of_range_ends_the_program() {
    let (Some(opt), Some(runner)) = (tool("mlir-opt"), tool("mlir-cpu-runner")) else {
        return;
    };
    let module = done(emitted(root(), "examples/kernels/histogram.c", None, &[]));
    let (functions, _) = module.rsplit_once('}').expect("a module");
    let arguments = [
        Scalar("n", "i64", 3),
        Scalar("m", "i32", 2),
        Array("key", "i32", vec![3], vec![0, -1, 1], false),
        Array("h", "i32", vec![2], vec![0, 0], true),
    ];
    let program = format!("{functions}{}}}\n", main_function("histogram", &arguments));
    let lowered = done(piped(&opt, &LOWERING, &program));
    let output = piped(
        &runner,
        &["-e", "main", "-entry-point-result=i64"],
        &lowered,
    );
    assert!(!output.status.success());
    assert!(module.contains("\"index out of range for h\""));
}
