//! Kernels as objects, called from C: what a program that is linked with them and the runtime
//! computes.

use crate::c::{Binary, DRIVER, c_type, encoded, results};
use crate::data::{Data, Outcome};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use strew::ir::{ArrayId, Kernel, Parameter, ScalarId, Value};
use strew::{ObjectSettings, ParsedKernel, Plan, Source};

/// A kernel in a C program, to be called any number of times.
pub(crate) struct Linked {
    binary: Binary,
    kernel: Kernel,
}

/// The runtime as a library for the linker.
fn runtime() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("static");
        let made = Command::new(env!("CARGO"))
            .args(["rustc", "--quiet", "--locked", "-p", "strew-runtime"])
            .args(["--crate-type", "staticlib", "--target-dir"])
            .arg(&folder)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo starts");
        let complaints = String::from_utf8_lossy(&made.stderr).into_owned();
        assert!(made.status.success(), "{complaints}");
        folder.join("debug/libstrew_runtime.a")
    })
}

impl Linked {
    /// Links `kernel` under the schedule that `plan` means with a program that calls it; `None`
    /// where there is no `cc`.
    pub(crate) fn new(
        kernel: &ParsedKernel,
        plan: &Plan,
        settings: &ObjectSettings,
    ) -> Option<Self> {
        let scheduled = kernel.schedule(plan, &mut ()).expect("a schedule");
        let object = scheduled.object(settings).expect("an object");
        let kernel = kernel.kernel().clone();
        let text = program(&kernel, &object.header);
        let library = runtime();
        let binary = Binary::compile_with(&text, &object.code, library)?;
        Some(Self { binary, kernel })
    }

    /// The results of calls with each of `data`; a call that fails gives what its fault says.
    pub(crate) fn run(&self, data: &[&Data]) -> Vec<Outcome> {
        let mut input = Vec::new();
        for data in data {
            input.extend(encoded(0, &self.kernel, data));
            for size in inferred(&self.kernel, data) {
                input.extend(size.to_le_bytes());
            }
        }
        let output = self.binary.run(&input);
        let mut output = output.as_slice();
        let mut outcomes = Vec::new();
        for data in data {
            let (line, rest) = match output.iter().position(|it| *it == b'\n') {
                Some(end) => (&output[..end], &output[end + 1..]),
                None => panic!("the program ends early"),
            };
            output = rest;
            let line = String::from_utf8_lossy(line).into_owned();
            let found = results(&self.kernel, data, &mut output);
            outcomes.push(match line.as_str() {
                "0" => Ok(found),
                _ => {
                    let arrays = data.arrays.iter();
                    let kept = arrays.filter(|(name, _)| found.contains_key(*name));
                    for (name, values) in kept {
                        assert_eq!(&found[name], values, "a fault leaves all arrays alone");
                    }
                    Err(line)
                }
            });
        }
        assert!(output.is_empty(), "the program writes what was asked for");
        outcomes
    }
}

/// The sizes that C hands over and other callers do not.
fn inferred(kernel: &Kernel, data: &Data) -> Vec<i64> {
    let elements = |array: ArrayId| data.arrays[&kernel.arrays[array].name].len() as u64;
    let value = |scalar: ScalarId| {
        let value: Value = *data.scalars.get(&kernel.scalars[scalar].name)?;
        i64::try_from(value.as_integer()?).ok()
    };
    let sizes = kernel.inferred_sizes(&elements, &value).into_iter();
    sizes.map(|(_, size)| size).collect()
}

/// Reads the arguments of a call, makes it, writes what it says and all arrays, and so on.
fn program(kernel: &Kernel, header: &str) -> String {
    let (mut setup, mut sizes, mut finish) = (String::new(), String::new(), String::new());
    let mut arguments = Vec::new();
    for (position, param) in kernel.params.iter().enumerate() {
        let name = format!("driver_{position}");
        // Writing to a `String` does not fail.
        let _ = match param {
            Parameter::Scalar(scalar) => {
                let scalar = &kernel.scalars[*scalar];
                let ty = c_type(scalar.ty);
                let setup = match scalar.inferred {
                    true => &mut sizes,
                    false => &mut setup,
                };
                writeln!(setup, "{ty} {name}; driver_read(&{name}, sizeof {name});")
            }
            Parameter::Array(_) | Parameter::Record(_) => {
                let _ = writeln!(finish, "driver_write({name}, {name}_bytes);");
                writeln!(
                    setup,
                    "uint64_t {name}_bytes; void *{name} = driver_array(&{name}_bytes);"
                )
            }
        };
        arguments.push(name);
    }
    if let Some(ty) = kernel.result_type() {
        let _ = writeln!(setup, "{} driver_result = 0;", c_type(ty));
        arguments.push("&driver_result".to_owned());
        finish += "fwrite(&driver_result, 1, sizeof driver_result, stdout);\n";
    }
    let arguments = arguments.join(", ");
    let tell = r#"struct strew_fault fault;
strew_last_fault(&fault);
if (fault.code != code) exit(4);
if (code == 0) printf("0\n");
else {
  printf("%u at %u:%u %s index %lld extent %lld [", code, fault.line, fault.column, fault.array ? fault.array : "-",
         (long long)fault.index, (long long)fault.extent);
  for (uint32_t depth = 0; depth < fault.depth; depth++) printf("%s%lld", depth ? ", " : "", (long long)fault.iteration[depth]);
  printf("]%s%s\n", *strew_last_message() ? ": " : "", strew_last_message());
}"#;
    format!(
        "{DRIVER}\n{header}\nint main(void) {{\nuint32_t number;\nstrew_threads(2);\n\
         while (fread(&number, sizeof number, 1, stdin) == 1) {{\n{setup}{sizes}\
         uint32_t code = strew_{}({arguments});\n{tell}\n{finish}}}\nreturn 0;\n}}\n",
        kernel.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use strew::{Mode, Oob, Source, Target};

    fn parsed(text: &str) -> ParsedKernel {
        let parsed = Source::new("k.c", text).parse().expect("a source");
        parsed.kernel(None).expect("one kernel").clone()
    }

    fn outcomes(text: &str, settings: &ObjectSettings, data: &[&Data]) -> Option<Vec<Outcome>> {
        Some(Linked::new(&parsed(text), &Plan::Source, settings)?.run(data))
    }

    /// What a call says that fails.
    fn refused(text: &str, data: &[Data]) -> Option<Vec<String>> {
        let data: Vec<_> = data.iter().collect();
        let found = outcomes(text, &ObjectSettings::default(), &data)?;
        Some(
            found
                .into_iter()
                .map(|it| it.expect_err("a fault"))
                .collect(),
        )
    }

    const SUM: &str = "\
void sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}";

    fn sum(seg: &[i32], m: i32) -> Data {
        let size = usize::try_from(m).unwrap_or(0);
        Data::default()
            .scalar("n", seg.len() as i64)
            .scalar("m", m)
            .array("seg", seg)
            .array("x", &vec![0.5_f32; seg.len()])
            .array("out", &vec![1.0_f64; size])
    }

    #[test]
    fn faults_are_codes_with_places_and_leave_everything_as_it_was() {
        let mut late: Vec<i32> = (0..100_000).map(|it| it % 7).collect();
        late[99_000] = 7;
        let cases = [sum(&[0, 1, -1], 4), sum(&late, 7), sum(&[], -1)];
        let Some(found) = refused(SUM, &cases) else {
            return;
        };
        assert_eq!(
            found,
            [
                "1 at 3:5 out index -1 extent 4 [2]",
                "1 at 3:5 out index 7 extent 7 [99000]",
                "4 at 0:0 - index 0 extent 0 []",
            ]
        );
        let divide = "void d(int n, const int a[n], int b[n]) { for (int i = 0; i < n; i++) b[i] = 7 / a[i]; }";
        let data = Data::default()
            .scalar("n", 3)
            .array("a", &[1, 0, 2])
            .array("b", &[4, 5, 6]);
        let found = refused(divide, &[data]);
        let place = "2 at 1:78 - index 0 extent 0 [1]";
        assert_eq!(found.as_deref(), Some(&[place.to_owned()][..]));
    }

    #[test]
    fn the_program_of_the_examples_says_what_it_should() {
        let folder = tempfile::tempdir().expect("a folder");
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let emit = |output: Option<&Path>| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_strew"));
            command.arg("emit");
            command.arg(root.join("examples/kernels/segment_sum.c"));
            command.args(["--stage", "object"]);
            command.args(output.iter().flat_map(|it| [Path::new("-o"), it]));
            command.output().expect("strew starts")
        };
        let nowhere = emit(None);
        assert_eq!(nowhere.status.code(), Some(2));
        let why = String::from_utf8_lossy(&nowhere.stderr).into_owned();
        assert!(why.contains("say where with -o NAME.o"), "{why}");
        let object = folder.path().join("segment_sum.o");
        assert!(emit(Some(&object)).status.success());
        let program = folder.path().join("program");
        let compiler = Command::new("cc")
            .args(["-std=c99", "-Wall", "-Wextra", "-Werror", "-O2", "-I"])
            .arg(folder.path())
            .arg(root.join("examples/call_from_c.c"))
            .args([&object, runtime()])
            .args(["-lpthread", "-ldl", "-lm", "-o"])
            .arg(&program)
            .output();
        let Ok(compiler) = compiler else {
            return skip();
        };
        let complaints = String::from_utf8_lossy(&compiler.stderr).into_owned();
        assert!(compiler.status.success(), "{complaints}");
        let output = Command::new(&program).output().expect("it starts");
        assert_eq!(
            String::from_utf8_lossy(&output.stdout),
            "0 of 1000 sums differ from those of the serial loop\n\
             line 6: index 1000 of out is not below 1000, in iteration 777\n"
        );
        assert!(output.status.success());
    }

    #[expect(clippy::print_stderr, reason = "what was not tested must be seen")]
    fn skip() {
        eprintln!("skipped: there is no cc to link objects with");
    }

    #[test]
    fn what_is_out_of_range_can_be_skipped() {
        let settings = ObjectSettings {
            oob: Oob::Skip,
            mode: Mode::Exact,
            target: Target::Baseline,
        };
        let data = sum(&[0, 9, 1, -1, 0], 2);
        let Some(found) = outcomes(SUM, &settings, &[&data]) else {
            return;
        };
        let found = found[0].as_ref().expect("no fault");
        assert_eq!(found["out"], [2.0, 1.5].map(Value::f64));
    }

    #[test]
    fn sizes_that_an_assumption_excludes_run_without_it() {
        // The loop is affine while `i * 3` does not wrap around.
        let text = "void k(unsigned n, int x[10]) { for (unsigned i = n; i < n + 4u; i++) x[i % 10] += (int)i; }";
        let data = [0_u32, 5, u32::MAX - 1].map(|n| {
            let zeros = [0_i32; 10];
            Data::default().scalar("n", n).array("x", &zeros)
        });
        let expected = data.iter().map(|it| {
            let kernel = parsed(text);
            crate::c::run(text, kernel.kernel(), it)
        });
        let Some(expected) = expected.collect::<Option<Vec<_>>>() else {
            return;
        };
        let found = outcomes(
            text,
            &ObjectSettings::default(),
            &data.iter().collect::<Vec<_>>(),
        );
        assert_eq!(found, Some(expected));
    }

    /// Rows that a schedule gives a flat array are some of its elements, and there may be more.
    #[test]
    fn flat_arrays_have_as_many_elements_as_are_said() {
        let text = "void k(int n, int m, const double *x, double *y) { for (int i = 1; i < n; i++) for (int j = 0; j < m; j++) y[i * m + j] = y[(i - 1) * m + j] + x[i * m + j]; }";
        let steps = parsed(text)
            .schedule(&Plan::Auto, &mut ())
            .expect("a schedule");
        assert!(steps.steps().to_string().contains("delinearize(x, [n, m])"));
        let data = [(3, 12), (3, 14), (1, 0), (-1, 0), (4, 15)].map(|(n, length)| {
            let x: Vec<f64> = (0..length).map(f64::from).collect();
            let data = Data::default().scalar("n", n).scalar("m", 4);
            data.array("x", &x).array("y", &x)
        });
        let expected = data[..4].iter().map(|it| {
            let kernel = parsed(text);
            crate::c::run(text, kernel.kernel(), it)
        });
        let expected: Option<Vec<_>> = expected.collect();
        let data: Vec<_> = data.iter().collect();
        let Some(found) = outcomes(text, &ObjectSettings::default(), &data) else {
            return;
        };
        assert_eq!(Some(&found[..4]), expected.as_deref());
        assert!(found[4].is_err(), "{:?}", found[4]);
    }

    /// The kernel with a schedule that names `strategy`.
    fn by(strategy: &str, text: &str) -> String {
        let pragma = format!(
            "#pragma strew tile_indirection_using_forall(i, reduction(out) = add, chunks = 8, strategy = {strategy})\n  for (int64_t i"
        );
        text.replacen("for (int64_t i", &pragma, 1)
    }

    #[test]
    fn a_strategy_that_a_schedule_names_runs_or_says_why_not() {
        let rows = "\
void rows(int64_t n, int32_t m, const int32_t seg[n], const double x[n][5], double out[m][5]) {
  for (int64_t i = 0; i < n; i++)
    for (int j = 0; j < 5; j++)
      out[seg[i]][j] += x[i][j];
}";
        let counts = "\
void counts(int64_t n, int32_t m, const int32_t seg[n], int64_t out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += 1;
}";
        let seg: Vec<i32> = (0..50_000).map(|it| it * 7 % 30).collect();
        let data = Data::default()
            .scalar("n", seg.len() as i64)
            .scalar("m", 30)
            .array("seg", &seg);
        let of_rows = data
            .clone()
            .array("x", &vec![0.1_f64; seg.len() * 5])
            .array("out", &[0.0_f64; 150]);
        let of_counts = data.array("out", &[0_i64; 30]);
        for (text, strategy, data) in [
            (rows, "columns", &of_rows),
            (rows, "rows", &of_rows),
            (counts, "atomic", &of_counts),
        ] {
            let named = by(strategy, text);
            let settings = ObjectSettings::default();
            let Some(found) = outcomes(&named, &settings, &[data]) else {
                return;
            };
            let expected = crate::c::run(text, parsed(text).kernel(), data);
            assert_eq!(Some(&found[0]), expected.as_ref(), "{strategy}");
        }
        for (strategy, why) in [
            (
                "atomic",
                "the strategy `atomic` makes updates in an order that varies",
            ),
            ("columns", "`columns`"),
            ("rows", "`rows`"),
        ] {
            let found = refused(&by(strategy, SUM), &[sum(&[0; 50_000], 4)]);
            let found = found.expect("there was a cc");
            assert!(found[0].starts_with("7 at 0:0 - index 0 extent 0 []: "));
            assert!(found[0].contains(why), "{}", found[0]);
        }
    }

    #[test]
    fn a_disjoint_forall_tells_which_element_is_written_twice() {
        let text = "\
void put(int64_t n, int32_t m, const int32_t at[n], const double x[n], double out[m]) {
#pragma strew tile_indirection_using_forall(i, reduction(out) = disjoint, chunks = 4)
  for (int64_t i = 0; i < n; i++)
    out[at[i]] = x[i];
}";
        let data = |at: &[i32]| {
            Data::default()
                .scalar("n", at.len() as i64)
                .scalar("m", 5)
                .array("at", at)
                .array("x", &[1.0, 2.0, 3.0])
                .array("out", &[0.0; 5])
        };
        let found = outcomes(
            text,
            &ObjectSettings::default(),
            &[&data(&[4, 0, 2]), &data(&[3, 1, 3])],
        );
        let Some(found) = found else {
            return;
        };
        assert!(found[0].is_ok());
        let fault = found[1].as_ref().expect_err("an element is met twice");
        assert!(fault.starts_with("3 at 4:5 out index 3"), "{fault}");
    }
}

/// Forms that find out about keys alone need no value, and have no scalar for one.
#[test]
fn every_form_does_without_what_it_does_not_need() {
    for choice in [
        "double t = v[i]; if (w[i] > 0.5) t = w[i] * 2.0;",
        "double t = 0.0, u = v[i]; if (w[i] > 0.5) t = w[i]; else t = u;",
        "double t = v[i]; if (key[i] > 3) t = w[i] * 2.0;",
    ] {
        let text = format!(
            "void f(int64_t n, int64_t m, const int32_t key[n], const double w[n], const double v[n], double s[m]) \
             {{ for (int64_t i = 0; i < n; i++) {{ {choice} s[key[i]] += t; }} }}"
        );
        let parsed = Source::new("f.c", &text).parse().expect("a source");
        let parsed = parsed.kernel(None).expect("one kernel");
        for strategy in ["dense", "blocked", "binned", "planned", "rows"] {
            let step =
                format!("tile_indirection_using_forall(i, chunks = 8, strategy = {strategy})");
            let plan = Plan::Explicit(step.parse().expect("a schedule"));
            let scheduled = parsed.schedule(&plan, &mut ()).expect("a schedule");
            let object = scheduled.object(&ObjectSettings::default());
            assert!(object.is_ok(), "{text} {strategy}");
        }
    }
}
