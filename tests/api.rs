//! The host API: what works, what is refused and how it is worded.

use std::sync::Arc;
use std::time::Duration;
use strew::{Compiler, Error, Failure, Kernel, Mode, Oob, Progress, Schedule, StopToken};

const SEGMENT_SUM: &str = "\
void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}
";

fn kernel(source: &str, name: &str) -> Kernel {
    let program = Compiler::new()
        .compile("test.c", source)
        .expect("a program");
    program.kernel(name).expect("a kernel")
}

fn segment_sum() -> Kernel {
    kernel(SEGMENT_SUM, "segment_sum")
}

#[track_caller]
fn message<T: std::fmt::Debug>(outcome: Result<T, Error>) -> String {
    outcome.expect_err("something is wrong").to_string()
}

#[test]
fn typed_handles_are_checked_once_and_can_be_kept() {
    type Signature = (i64, i32, &'static [i32], &'static [f32], &'static mut [f64]);
    struct Host {
        sum: strew::Typed<Signature>,
    }
    let host = Host {
        sum: segment_sum().typed().expect("the signature fits"),
    };
    let mut out = vec![0.0; 2];
    for _ in 0..2 {
        host.sum
            .call((3, 2, &[0, 1, 1], &[1.0, 2.0, 4.0], &mut out))
            .expect("a call");
    }
    assert_eq!(out, [2.0, 12.0]);
}

#[test]
fn handles_can_be_shared_between_threads() {
    fn is_shared<T: Send + Sync + Clone>(_: &T) {}
    let kernel = segment_sum();
    let sum = kernel
        .typed::<(i64, i32, &[i32], &[f32], &mut [f64])>()
        .expect("the signature fits");
    is_shared(&kernel);
    is_shared(&sum);
    drop(kernel);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            let sum = sum.clone();
            scope.spawn(move || {
                for size in 1..40 {
                    let keys: Vec<i32> = (0..size).map(|i| i % 3).collect();
                    let x = vec![1.0; keys.len()];
                    let mut out = [0.0; 3];
                    sum.call((i64::from(size), 3, &keys, &x, &mut out))
                        .expect("a call");
                    assert_eq!(out.iter().sum::<f64>(), f64::from(size));
                }
            });
        }
    });
}

#[test]
fn a_signature_that_does_not_fit_is_refused_by_name() {
    let kernel = segment_sum();
    assert_eq!(
        message(kernel.typed::<(i64, i32, &[i32], &[f64], &mut [f64])>()),
        "kernel `segment_sum`: `x` takes &[f32], the call gives &[f64]"
    );
    assert_eq!(
        message(kernel.typed::<(i32, i32, &[i32], &[f32], &[f64])>()),
        "kernel `segment_sum`: `n` takes i64, the call gives i32; \
         `out` takes &mut [f64], the call gives &[f64]: the kernel writes `out`, so it needs the slice to itself"
    );
    assert_eq!(
        message(kernel.typed::<(i64, i32, &mut [i32], &[f32], &mut [f64])>()),
        "kernel `segment_sum`: `seg` takes &[i32], the call gives &mut [i32]: \
         the kernel does not write `seg`, so hand it a shared slice"
    );
    assert_eq!(
        message(kernel.typed::<(i64,)>()),
        "kernel `segment_sum`: the kernel takes 5 arguments \
         (n: i64, m: i32, seg: &[i32], x: &[f32], out: &mut [f64]), the call gives 1"
    );
}

#[test]
fn lengths_are_checked_at_every_call() {
    let sum = segment_sum();
    let sum = sum
        .typed::<(i64, i32, &[i32], &[f32], &mut [f64])>()
        .expect("the signature fits");
    let mut out = [0.0; 2];
    assert_eq!(
        message(sum.call((3, 2, &[0, 1], &[1.0, 2.0, 4.0], &mut out))),
        "kernel `segment_sum`: `seg` has 2 elements, expected 3 elements for seg[n]"
    );
    let text = message(sum.call((-1, 2, &[], &[], &mut out)));
    assert!(text.contains("seg"), "{text}");
    assert_eq!(out, [0.0, 0.0]);
}

#[test]
fn every_call_has_sizes_of_its_own() {
    let kernel = segment_sum();
    let sum = kernel
        .typed::<(i64, i32, &[i32], &[f32], &mut [f64])>()
        .expect("the signature fits");
    for (n, m) in [(3, 2), (3, 2), (1, 2), (4, 5), (0, 5), (3, 2)] {
        let keys: Vec<i32> = (0..n as i32).map(|i| i % 2).collect();
        let x = vec![1.0; n];
        let expected: Vec<f64> = (0..m)
            .map(|at| keys.iter().filter(|it| **it == at).count() as f64)
            .collect();
        let mut out = vec![0.0; m as usize];
        sum.call((n as i64, m, &keys, &x, &mut out))
            .expect("a call");
        assert_eq!(out, expected);
        let mut out = vec![0.0; m as usize];
        let call = kernel.bind().array("seg", &keys).array("x", &x);
        call.array_mut("out", &mut out).run().expect("a call");
        assert_eq!(out, expected);
        // The sizes are those of the call before, the arrays are not.
        let mut long = vec![0.0; m as usize + 1];
        let refused = sum.call((n as i64, m, &keys, &x, &mut long));
        assert!(message(refused).contains("`out` has"));
        let refused = sum.call((n as i64 + 1, m, &keys, &x, &mut out));
        assert!(message(refused).contains("`seg` has"));
    }
}

#[test]
fn what_is_set_for_one_kernel_or_call_is_set_for_no_other() {
    let kernel = segment_sum();
    let exact = kernel.clone().mode(Mode::Exact);
    let mode = |kernel: &Kernel, asked: Option<Mode>| {
        let mut out = [0.0; 1];
        let call = kernel.bind().array("seg", &[0]).array("x", &[1.0_f32]);
        let call = call.array_mut("out", &mut out);
        let call = match asked {
            Some(mode) => call.mode(mode),
            None => call,
        };
        call.run_with_report().expect("a call").mode
    };
    assert_eq!(mode(&kernel, Some(Mode::Fast)), Mode::Fast);
    assert_eq!(mode(&kernel, None), Mode::Stable);
    assert_eq!(mode(&exact, Some(Mode::Fast)), Mode::Fast);
    assert_eq!(mode(&exact, None), Mode::Exact);
}

#[test]
fn a_call_does_the_same_with_a_report_and_without() {
    let sum = segment_sum()
        .typed::<(i64, i32, &[i32], &[f32], &mut [f64])>()
        .expect("the signature fits");
    let (mut out, mut other) = ([0.5; 2], [0.5; 2]);
    let done = sum.call((3, 2, &[0, 1, 1], &[1.0; 3], &mut out));
    done.expect("a call");
    let report = sum.call_with_report((3, 2, &[0, 1, 1], &[1.0; 3], &mut other));
    assert_eq!(report.expect("a report").record.updates, 3);
    assert_eq!(out, other);
    let fault = message(sum.call((3, 2, &[0, 1, 2], &[1.0; 3], &mut out)));
    let same = message(sum.call_with_report((3, 2, &[0, 1, 2], &[1.0; 3], &mut other)));
    assert_eq!((fault, out), (same, other));
    assert_eq!(out, [1.5, 2.5]);
}

#[test]
fn names_are_bound_and_sizes_found() {
    let kernel = segment_sum();
    let (seg, x) = ([1, 1, 0], [1.0_f32, 2.0, 3.0]);
    let mut out = [0.0; 2];
    kernel
        .bind()
        .array("seg", &seg)
        .array("x", &x)
        .array_mut("out", &mut out)
        .run()
        .expect("a call");
    assert_eq!(out, [3.0, 3.0]);
    let report = kernel
        .bind()
        .scalar("n", 3_i64)
        .scalar("m", 2_i32)
        .array("seg", &seg)
        .array("x", &x)
        .array_mut("out", &mut out)
        .mode(Mode::Exact)
        .run_with_report()
        .expect("a call");
    assert_eq!(
        (report.kernel.as_str(), report.mode),
        ("segment_sum", Mode::Exact)
    );
    assert_eq!(report.record.updates, 3);
    assert!(report.record.total > Duration::ZERO);
}

#[test]
fn all_wrong_names_are_told_at_once() {
    let kernel = segment_sum();
    let mut out = [0.0; 2];
    let outcome = kernel
        .bind()
        .scalar("m", 2_i64)
        .array("seg", &[0_i32])
        .array("seg", &[0_i32])
        .array("y", &[0.0_f32])
        .array("out", &out)
        .run();
    let text = message(outcome);
    for part in [
        "`m` takes i32, the call gives i64",
        "`seg` is given twice",
        "no parameter `y`",
        "`out` takes &mut [f64], the call gives &[f64]",
    ] {
        assert!(text.contains(part), "no {part:?} in {text}");
    }
    let text = message(kernel.bind().array_mut("out", &mut out).run());
    assert!(
        text.contains("no array for `seg` (&[i32]); no array for `x` (&[f32])"),
        "{text}"
    );
    let outcome = kernel
        .bind()
        .array("seg", &[0_i32; 10])
        .array("x", &[0.0_f32; 12])
        .array_mut("out", &mut out);
    assert!(message(outcome.run()).contains("`n` is 10 by `seg`, 12 by `x`"));
}

#[test]
fn shapes_help_where_lengths_do_not_tell() {
    let source = "void fill(int32_t rows, int32_t columns, float x[rows][columns]) {
        for (int32_t i = 0; i < rows; i++)
          for (int32_t j = 0; j < columns; j++)
            x[i][j] = 10 * i + j;
    }";
    let kernel = kernel(source, "fill");
    let mut x = [0.0_f32; 6];
    let text = message(kernel.bind().array_mut("x", &mut x).run());
    assert!(text.contains("no value for `rows`"), "{text}");
    kernel
        .bind()
        .array_mut("x", &mut x)
        .shape("x", &[3, 2])
        .run()
        .expect("a call");
    assert_eq!(x, [0.0, 1.0, 10.0, 11.0, 20.0, 21.0]);
    let text = message(
        kernel
            .bind()
            .array_mut("x", &mut x)
            .shape("x", &[4, 2])
            .run(),
    );
    assert!(text.contains("`x` has 6 elements"), "{text}");
}

#[test]
fn unknown_kernels_list_those_there_are() {
    let two = format!("{SEGMENT_SUM}void other(void) {{}}");
    let program = Compiler::new().compile("two.c", two).expect("a program");
    assert_eq!(
        message(program.kernel("sum")),
        "no kernel `sum` in two.c: there are segment_sum, other"
    );
    assert_eq!(
        program.kernel_names().collect::<Vec<_>>(),
        ["segment_sum", "other"]
    );
}

#[test]
fn a_kernel_without_parameters_is_called_with_nothing() {
    let none = kernel("void none(void) {}", "none");
    none.typed::<()>()
        .expect("it fits")
        .call(())
        .expect("a call");
    none.bind().run().expect("a call");
}

#[test]
fn twelve_parameters_fit_a_tuple() {
    let source = "void many(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k, int out[1]) {
        out[0] = a + b + c + d + e + f + g + h + i + j + k;
    }";
    type Many<'a> = (
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        i32,
        &'a mut [i32],
    );
    let many = kernel(source, "many");
    let many = many.typed::<Many<'_>>().expect("it fits");
    let mut out = [0];
    many.call((1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, &mut out))
        .expect("a call");
    assert_eq!(out, [66]);
}

#[test]
fn errors_of_a_source_show_its_lines() {
    let text = message(Compiler::new().compile("broken.c", "void f(int n) {\n  n = ;\n}\n"));
    assert!(text.contains("broken.c:2:7"), "{text}");
    assert!(text.contains("2 |   n = ;"), "{text}");
    assert!(!text.contains('\u{1b}'), "no colour: {text:?}");
}

type Iteration = &'static [(&'static str, i64)];

/// Kernels over eleven keys of which the fourth is out of range, by the header of their loop, what
/// stands in front of the update, and the iteration that they fail in.
const LOOPS: [(&str, &str, Iteration); 9] = [
    ("for (int i = 0; i < n; i++)", "", &[("i", 3)]),
    ("for (int i = n; i-- > 0;)", "", &[("i", 3)]),
    ("for (int i = n - 1; i >= 0; i--)", "", &[("i", 3)]),
    ("for (int i = n; i > 0;)", "i--;", &[("i", 3)]),
    (
        "for (int s = m; s > 0; s--) for (int i = n - 1; i >= 0; i--)",
        "",
        &[("s", 5), ("i", 3)],
    ),
    (
        "for (unsigned i = 0; i < (unsigned)n; i++)",
        "if (k[i] == 7) return;",
        &[("i", 3)],
    ),
    (
        "for (int i = 0; i < n; i++)",
        "if (k[i] == 7) break;",
        &[("i", 3)],
    ),
    ("for (int i = 0; i < n && h[0] < n; i++)", "", &[("i", 3)]),
    (
        "for (int j = n; j-- > 0;) for (int i = 0; i < n && h[0] < n; i++)",
        "",
        &[("j", 10), ("i", 3)],
    ),
];

#[test]
fn faults_tell_the_variables_of_the_source() {
    let keys: Vec<i32> = (0..11).map(|i| if i == 3 { 999 } else { 2 }).collect();
    for (header, begins, expected) in LOOPS {
        let source = format!(
            "void c(int n, int m, const int k[n], int h[m]) {{ {header} {{ {begins} h[k[i]]++; }} }}"
        );
        let program = Compiler::new().compile("c.c", source).expect("a program");
        let kernel = program.kernel("c").expect("a kernel");
        let mut out = [0; 5];
        let call = kernel.bind().array("k", &keys).array_mut("h", &mut out);
        let outcome = call.run();
        let Err(Error::Fault(fault)) = outcome else {
            panic!("expected a fault, found {outcome:?}");
        };
        let found: Vec<_> = fault
            .iteration()
            .iter()
            .map(|it| (it.0.as_str(), it.1))
            .collect();
        assert_eq!(found, expected, "{header} {begins}");
        assert_eq!(out, [0; 5], "{header} {begins}");
    }
}

#[test]
fn faults_speak_of_the_source_whatever_the_schedule() {
    let keys: Vec<i32> = (0..1003)
        .map(|i| if i == 702 { -7 } else { i % 5 })
        .collect();
    let x = vec![1.0_f32; keys.len()];
    let scheduled = segment_sum();
    let written = scheduled.with_schedule(Schedule::new()).expect("no steps");
    for (kernel, threads) in [(&scheduled, 1), (&scheduled, 4), (&written, 1)] {
        let mut out = vec![0.5; 5];
        let outcome = kernel
            .clone()
            .threads(threads)
            .bind()
            .array("seg", &keys)
            .array("x", &x)
            .array_mut("out", &mut out)
            .run();
        let Err(Error::Fault(fault)) = outcome else {
            panic!("expected a fault, found {outcome:?}");
        };
        assert_eq!(fault.iteration(), [("i".to_owned(), 702)]);
        assert_eq!(fault.position().to_string(), "3:5");
        assert!(
            fault
                .to_string()
                .contains("index -7 is out of range for `out`, whose extent there is 5")
        );
        assert_eq!(out, [0.5; 5]);
    }
}

#[test]
fn a_kernel_that_loops_for_ever_can_be_stopped() {
    let source = "void spin(int32_t out[1]) { for (int32_t i = 0; i < 2; i = i) out[0] += 1; }";
    let stop = StopToken::new();
    let spin = kernel(source, "spin").cancel(stop.clone());
    let mut out = [5];
    let outcome = std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            stop.stop();
        });
        spin.bind().array_mut("out", &mut out).run()
    });
    assert!(
        matches!(outcome, Err(Error::Failure(Failure::Stopped))),
        "{outcome:?}"
    );
    assert_eq!(out, [5]);
}

#[test]
fn memory_has_a_budget() {
    let kernel = segment_sum()
        .memory(0)
        .strategy("dense".parse().expect("a strategy"));
    let mut out = [0.0; 4];
    let outcome = kernel
        .bind()
        .array("seg", &[0_i32; 9])
        .array("x", &[1.0_f32; 9])
        .array_mut("out", &mut out)
        .run();
    assert!(
        matches!(outcome, Err(Error::Failure(Failure::OverBudget { .. }))),
        "{outcome:?}"
    );
    assert_eq!(out, [0.0; 4]);
}

#[test]
fn calls_run_on_a_pool_of_the_caller() {
    let pool = Arc::new(
        rayon::ThreadPoolBuilder::new()
            .num_threads(3)
            .build()
            .expect("a pool"),
    );
    let kernel = segment_sum().pool(pool.clone());
    let keys = vec![1_i32; 200_000];
    let x = vec![1.0_f32; keys.len()];
    let call = || {
        let mut out = [0.0; 2];
        let bound = kernel
            .bind()
            .array("seg", &keys)
            .array("x", &x)
            .array_mut("out", &mut out);
        let report = bound.run_with_report().expect("a call");
        (out, report.record.threads)
    };
    assert_eq!(call(), ([0.0, 200_000.0], 3));
    // From inside of the pool, too.
    assert_eq!(pool.install(call).0, [0.0, 200_000.0]);
}

#[test]
fn float_sums_have_the_same_bits_at_any_number_of_threads() {
    let keys: Vec<i32> = (0..300_000_u32)
        .map(|i| (i.wrapping_mul(2_654_435_761) >> 20) as i32 % 500)
        .collect();
    let x: Vec<f32> = (0..300_000_u32).map(|i| (i as f32).sin()).collect();
    let sum = |threads, mode| {
        let mut out = vec![0.0; 500];
        let kernel = segment_sum().threads(threads).mode(mode);
        kernel
            .bind()
            .array("seg", &keys)
            .array("x", &x)
            .array_mut("out", &mut out)
            .run()
            .expect("a call");
        out
    };
    let mut serial = vec![0.0; 500];
    for (key, x) in keys.iter().zip(&x) {
        serial[*key as usize] += f64::from(*x);
    }
    let first = sum(1, Mode::Stable);
    for threads in [2, 4, 8] {
        assert_eq!(sum(threads, Mode::Stable), first, "{threads} threads");
        assert_eq!(sum(threads, Mode::Exact), serial, "{threads} threads");
    }
    for (stable, serial) in first.iter().zip(&serial) {
        assert!((stable - serial).abs() < 1e-9, "{stable}, {serial}");
    }
}

#[test]
fn pragmas_of_the_source_are_its_schedule() {
    let source = "void histogram(int64_t n, int32_t m, const int32_t key[n], int32_t h[m]) {
#pragma strew tile_indirection_using_forall(i, reduction(h) = add, chunks = 3)
  for (int64_t i = 0; i < n; i++)
    h[key[i]]++;
}";
    let histogram = kernel(source, "histogram");
    assert_eq!(histogram.compiled().steps().steps().len(), 1);
    assert!(
        histogram
            .compiled()
            .kernel()
            .to_string()
            .contains("scf.forall i_c in 0..3")
    );
    let wrong = source.replace("(i,", "(j,");
    let program = Compiler::new()
        .compile("wrong.c", wrong)
        .expect("a program");
    let text = message(program.kernel("histogram"));
    assert!(
        text.contains("misaddressed") && text.contains("`i`"),
        "{text}"
    );
    assert!(text.contains("wrong.c:2:"), "{text}");
    let Err(Error::Refused(refusal)) = program.kernel("histogram") else {
        panic!("a step about no loop is declined");
    };
    assert_eq!(refusal.diagnostic().code, "E901");
    let text = message(Compiler::new().compile("wrong.c", source.replace("tile_", "title_")));
    assert!(text.contains("wrong.c:2:"), "{text}");
}

#[test]
fn a_pragma_is_about_the_loop_below_it_also_when_names_repeat() {
    let source = "\
void twice(int64_t n, const int32_t key[n], int32_t h[n], int32_t g[n]) {
  for (int64_t i = 0; i < n; i++) h[key[i]]++;
#pragma strew unroll(i, 2)
  for (int64_t i = 0; i < n; i++) g[key[i]]++;
#pragma strew unroll(last, 3)
  last: for (int64_t i = 0; i < n; i++) g[i]++;
}
";
    let program = Compiler::new()
        .compile("twice.c", source)
        .expect("a program");
    let kernel = program.parsed().kernel(None).expect("one kernel");
    let steps: Vec<_> = kernel.pragmas().steps().iter().collect();
    let text: Vec<_> = steps.iter().map(ToString::to_string).collect();
    assert_eq!(text, ["unroll(i_2, 2)", "unroll(i_3, 3)"]);
}

#[test]
fn a_pragma_names_loops_as_the_source_does_also_what_steps_make_of_them() {
    let source = "\
void twice(int64_t n, int64_t m, double a[n][n], double b[n][m], double c[n][m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < n; j++) a[i][j] += 1.0;
#pragma strew tile(i = 16, j = 8) parallelize(i_t)
#pragma strew reverse(i/j) vectorize(j_p, 2) unroll(i_2_p, 2)
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = m - 1; j >= 0; j--) b[i][j] += 1.0;
  for (int64_t i = 0; i < n; i++)
#pragma strew interchange(i, j)
    for (int64_t j = 0; j < m; j++) c[i][j] += 1.0;
}
";
    let program = Compiler::new()
        .compile("twice.c", source)
        .expect("a program");
    let kernel = program.parsed().kernel(None).expect("one kernel");
    assert_eq!(
        kernel
            .pragmas()
            .to_string()
            .trim()
            .lines()
            .collect::<Vec<_>>(),
        [
            "tile(i_2 = 16, j_turn = 8)",
            "parallelize(i_2_t)",
            "reverse(i_2/j_turn)",
            "vectorize(j_turn_p, 2)",
            "unroll(i_2_p, 2)",
            "interchange(i_3, j_2)",
        ]
    );
}

const MEAN: &str = "\
kernel @mean(n: i64, x: f32[n], seen: i32[n]) -> f64 {
  var sum: f64 = 0.0
  affine.for i in 0..n {
    sum reduce(add) f64(x[i])
    seen[i] = 1
  }
  return sum / f64(100 / n / (n - 3))
}
";

fn mean() -> Kernel {
    let program = Compiler::new().compile("mean.nest", MEAN);
    let program = program.expect("a program");
    program.kernel("mean").expect("a kernel")
}

#[test]
fn kernels_return_values() {
    let mean = mean();
    assert_eq!(mean.result_type(), Some(strew::Type::F64));
    let handle = mean
        .typed_returning::<(i64, &[f32], &mut [i32]), f64>()
        .expect("it fits");
    let mut seen = [0; 4];
    let value = handle.call((4, &[1.0, 2.0, 3.0, 4.5], &mut seen));
    assert_eq!(value.expect("a value"), 0.42);
    let report = handle.call_with_report((1, &[5.0], &mut seen[..1]));
    let returned = report.expect("a report").returned;
    assert_eq!(returned, Some(strew::Value::f64(-0.1)));
    let call = mean.bind().array("x", &[1.0_f32; 2]);
    let report = call.array_mut("seen", &mut seen[..2]).run_with_report();
    let returned = report.expect("a report").returned;
    assert_eq!(returned, Some(strew::Value::f64(-0.04)));
}

#[test]
fn a_fault_in_a_result_leaves_all_arrays_alone() {
    let mean = mean();
    let mut seen = [0; 3];
    let outcome = mean
        .bind()
        .array("x", &[1.0_f32; 3])
        .array_mut("seen", &mut seen)
        .run();
    assert!(message(outcome).contains("integer division by zero"));
    assert_eq!(seen, [0; 3]);
}

#[test]
fn results_of_other_types_are_refused_by_name() {
    let mean = mean();
    assert_eq!(
        message(mean.typed_returning::<(i64, &[f32], &mut [i32]), f32>()),
        "kernel `mean`: the kernel returns f64, not f32"
    );
    assert!(mean.typed::<(i64, &[f32], &mut [i32])>().is_ok());
    let segment_sum = segment_sum();
    assert_eq!(
        message(segment_sum.typed_returning::<(i64, i32, &[i32], &[f32], &mut [f64]), bool>()),
        "kernel `segment_sum`: the kernel returns nothing, not bool"
    );
}

const TRANSPOSE: &str = "\
kernel @transpose(n: i32, infer x_length: i64, x: f32[x_length], out: f32[n, n]) assume (n * n == x_length) {
  affine.for i in 0..n {
    affine.for j in 0..n {
      out[j, i] = x[i * n + j]
    }
  }
}
";

fn transpose() -> Kernel {
    let program = Compiler::new().compile("transpose.nest", TRANSPOSE);
    let program = program.expect("a program");
    program.kernel("transpose").expect("a kernel")
}

#[test]
fn inferred_sizes_are_not_asked_for() {
    let transpose = transpose();
    let handle = transpose
        .typed::<(i32, &[f32], &mut [f32])>()
        .expect("it fits");
    let mut out = [0.0; 4];
    handle
        .call((2, &[1.0, 2.0, 3.0, 4.0], &mut out))
        .expect("a call");
    assert_eq!(out, [1.0, 3.0, 2.0, 4.0]);
    transpose
        .bind()
        .array("x", &[4.0_f32, 3.0, 2.0, 1.0])
        .scalar("n", 2)
        .array_mut("out", &mut out)
        .run()
        .expect("a call");
    assert_eq!(out, [4.0, 2.0, 3.0, 1.0]);
    assert_eq!(
        message(transpose.bind().scalar("x_length", 4_i64).run()),
        "kernel `transpose`: the kernel has no parameter `x_length`; it takes n: i32, x: &[f32], out: &mut [f32]"
    );
    assert_eq!(
        message(transpose.bind().scalar("n", 2).sizes()),
        "kernel `transpose`: the length of `x` is not known: give the array, or its shape"
    );
}

#[test]
fn an_assumption_of_a_kernel_text_that_does_not_hold_is_an_error() {
    let handle = transpose().typed::<(i32, &[f32], &mut [f32])>();
    let mut out = [7.0; 4];
    let outcome = handle.expect("it fits").call((2, &[0.0; 5], &mut out));
    assert_eq!(
        message(outcome),
        "kernel `transpose`: the kernel assumes `n * n == x_length`, which does not hold for these arguments"
    );
    assert_eq!(out, [7.0; 4]);
}

/// What a schedule assumes that nobody asked for is nothing to refuse arguments for.
#[test]
fn arguments_that_a_found_schedule_does_not_expect_run_without_it() {
    let text = "kernel @nearest(n: i32, k: i32, d: i32, infer xs: i64, x: f32[xs], infer cs: i64, c: f32[cs], infer hs: i64, h: i32[hs])
assume (n * d <= 2147483648, k * d <= 2147483648) {
  affine.for i in 0..n {
    var a: i32 = 0 var best: f32 = f32(inf)
    affine.for l in 0..k {
      var s: f32 = 0.0
      affine.for j in 0..d { let t: f32 = x[i * d + j] - c[l * d + j] s reduce(add) t * t }
      (best, a) reduce(argmin) (s, i32(l))
    }
    h[a] reduce(add) 1
  }
}";
    let source = "void nearest(int n, int k, int d, const float *x, const float *c, int *h) {
  for (int i = 0; i < n; i++) {
    int a = 0;
    float best = INFINITY;
    for (int l = 0; l < k; l++) {
      float s = 0;
      for (int j = 0; j < d; j++) { float t = x[i * d + j] - c[l * d + j]; s += t * t; }
      if (s < best) { best = s; a = l; }
    }
    h[a]++;
  }
}";
    let x: Vec<f32> = (0..41).map(|it| (it % 7) as f32).collect();
    let c = [0.0_f32, 1.0, 5.0, 6.0];
    let nearer = x.chunks_exact(2).filter(|it| it[0] + it[1] > 6.0).count() as i32;
    for (name, text) in [("k.nest", text), ("k.c", source)] {
        let program = Compiler::new().compile(name, text).expect("a program");
        let kernel = program.kernel("nearest").expect("a kernel");
        let steps = kernel.compiled().steps().to_string();
        assert!(steps.contains("pack(x"), "{steps}");
        let called = |n: i32, length: usize| {
            let mut h = [0; 2];
            let call = kernel.bind().scalar("n", n).scalar("k", 2).scalar("d", 2);
            let call = call.array("x", &x[..length]).array("c", &c);
            let report = call.array_mut("h", &mut h).run_with_report();
            (report.map(|it| it.assumption), h)
        };
        let (expected, found) = called(20, 40);
        assert_eq!(expected.expect("a call"), None);
        assert_eq!(found, [20 - nearer, nearer], "{name}");
        // More elements than there are rows belong to none.
        assert_eq!(called(20, 41).1, found, "{name}");
        let (assumption, nothing) = called(-1, 40);
        assert_eq!(assumption.expect("a call").as_deref(), Some("0 <= n"));
        assert_eq!(nothing, [0; 2], "{name}");
        let (outcome, nothing) = called(20, 39);
        let Err(Error::Fault(fault)) = outcome else {
            panic!("an index is out of range");
        };
        assert!(
            fault.iteration().contains(&("i".to_owned(), 19)),
            "{fault:?}"
        );
        assert_eq!(nothing, [0; 2], "{name}");
    }
}

/// A schedule may leave out what never runs; callers see what the source says.
#[test]
fn arrays_that_the_source_writes_are_written() {
    let source = "void k(int n, int *h, double *g) {
  for (int i = 2; i < n; i++) { h[i] = 1; if (i == 0) g[i] = 0.5; }
}";
    let program = Compiler::new().compile("k.c", source).expect("a program");
    let kernel = program.kernel("k").expect("a kernel");
    let handle = kernel.typed::<(i32, &mut [i32], &mut [f64])>();
    let (mut h, mut g) = ([0; 4], [2.0; 4]);
    handle
        .expect("it fits")
        .call((4, &mut h, &mut g))
        .expect("a call");
    assert_eq!((h, g), ([0, 0, 1, 1], [2.0; 4]));
}

/// What is asked before the flag fails where it did, though the flag would end the loop.
#[test]
fn a_turn_that_leaves_its_loop_skips_no_fault() {
    let called = |condition: &str| {
        let source = format!(
            "void k(int n, const int *x, int *out) {{
  _Bool go = 1;
  int w = 0;
  while ({condition}) {{ w++; if (w == n) go = 0; }}
  out[0] = w;
}}"
        );
        let program = Compiler::new().compile("k.c", &source).expect("a program");
        let kernel = program.kernel("k").expect("a kernel");
        let mut out = [0];
        let call = kernel.bind().scalar("n", 3).array("x", &[5, 5, 5]);
        let outcome = call.array_mut("out", &mut out).run();
        (outcome.is_ok(), out)
    };
    assert_eq!(called("go && x[w] > 0"), (true, [3]));
    assert_eq!(called("x[w] > 0 && go"), (false, [0]));
}

#[test]
fn arrays_that_may_be_longer_are_no_shorter() {
    let text = "kernel @k(n: i64, infer length: i64, x: f64[n, 2] infer length) {
  affine.for i in 0..n { x[i, 1] = f64(length) }
}";
    let program = Compiler::new().compile("k.nest", text).expect("a program");
    let kernel = program.kernel("k").expect("a kernel");
    let handle = kernel.typed::<(i64, &mut [f64])>().expect("it fits");
    let mut x = [0.0; 5];
    handle.call((2, &mut x)).expect("a call");
    assert_eq!(x, [0.0, 5.0, 0.0, 5.0, 0.0]);
    assert_eq!(
        message(handle.call((3, &mut x))),
        "kernel `k`: `x` has 5 elements, expected shape [3, 2] for x[n, 2] or more"
    );
    let mut call = kernel.bind().array_mut("x", &mut x);
    call = call.scalar("n", 2_i64);
    call.run().expect("a call");
    let short = kernel.bind().array_mut("x", &mut x).scalar("n", 3_i64);
    assert_eq!(
        message(short.run()),
        "kernel `k`: `x` has 5 elements, expected shape [3, 2] for x[n, 2] or more"
    );
}

#[test]
fn what_is_out_of_range_is_skipped_when_asked_for() {
    let (seg, x) = ([0, 7, 1, -1, 1], [1.0_f32, 2.0, 4.0, 8.0, 16.0]);
    let once = |kernel: &Kernel, oob: Option<Oob>| {
        let mut out = [0.5; 2];
        let mut call = kernel.bind().array("seg", &seg).array("x", &x);
        if let Some(oob) = oob {
            call = call.oob(oob);
        }
        let report = call.array_mut("out", &mut out).run_with_report();
        (report.map(|it| it.record), out)
    };
    let skips = |(record, out): (Result<strew::Record, Error>, [f64; 2])| {
        let record = record.expect("a call");
        assert_eq!((record.skipped, record.updates), (2, 3));
        assert_eq!(out, [1.5, 20.5]);
    };
    let faults = |(record, out): (Result<strew::Record, Error>, [f64; 2])| {
        assert!(matches!(record, Err(Error::Fault(_))));
        assert_eq!(out, [0.5; 2]);
    };
    let compiler = Compiler::new();
    let kernel = |compiler: Compiler| {
        let program = compiler.compile("k.c", SEGMENT_SUM).expect("a program");
        program.kernel("segment_sum").expect("a kernel")
    };
    let plain = kernel(compiler.clone());
    let skipping = kernel(compiler.oob(Oob::Skip));
    faults(once(&plain, None));
    skips(once(&plain, Some(Oob::Skip)));
    skips(once(&plain.clone().oob(Oob::Skip), None));
    skips(once(&skipping, None));
    faults(once(&skipping, Some(Oob::Error)));
    let unscheduled = skipping.with_schedule(strew::Schedule::new());
    skips(once(&unscheduled.expect("a schedule"), None));
}

const HALVES: &str = "\
double halves(int64_t n, int64_t m, const int32_t key[n], double x[n]) {
  double sum = 0;
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) {
      sum = sum * 0.5 + x[key[i]];
      x[key[i]] = sum;
    }
  return sum;
}
";

#[test]
fn progress_is_told_to_other_threads() {
    const COUNT: usize = 3 << 20;
    let key: Vec<i32> = (0..COUNT as i32).map(|it| it % 1000).collect();
    let x = vec![1.0_f32; COUNT];
    for strategy in ["auto", "serial", "dense", "blocked", "binned"] {
        let strategy = strategy.parse().expect("a strategy");
        let kernel = segment_sum().strategy(strategy).threads(2);
        let progress = Progress::new();
        let mut out = vec![0.0; 1000];
        let call = || {
            let call = kernel.bind().array("seg", &key).array("x", &x);
            let call = call.array_mut("out", &mut out).progress(progress.clone());
            call.run().expect("a call");
        };
        std::thread::scope(|scope| {
            let running = scope.spawn(call);
            let mut before = 0;
            while !running.is_finished() {
                let done = progress.done();
                assert!(before <= done && done <= progress.total());
                before = done;
            }
        });
        let counts = (progress.done(), progress.total());
        assert_eq!(counts, (COUNT as u64, COUNT as u64), "{strategy}");
    }
    // A loop in order counts its turns, all of them.
    let program = Compiler::new().compile("halves.c", HALVES);
    let halves = program.expect("a program").kernel("halves");
    let progress = Progress::new();
    let halves = halves.expect("a kernel").progress(progress.clone());
    let mut x = vec![1.0; 1000];
    let call = halves
        .bind()
        .array("key", &[5; 1000])
        .scalar("m", 7_i64)
        .array_mut("x", &mut x);
    call.run().expect("a call");
    assert_eq!((progress.done(), progress.total()), (7000, 7000));
}

#[test]
fn a_call_that_is_stopped_on_its_way_has_done_a_part() {
    let program = Compiler::new().compile("halves.c", HALVES);
    let halves = program.expect("a program").kernel("halves");
    let (progress, stop) = (Progress::new(), StopToken::new());
    let halves = halves.expect("a kernel").progress(progress.clone());
    let halves = halves.cancel(stop.clone());
    let (key, mut x) = (vec![5; 1 << 20], vec![1.0; 1 << 20]);
    std::thread::scope(|scope| {
        // Hours of work.
        let call = halves.bind().array("key", &key);
        let call = call.scalar("m", 10_000_000_i64);
        let call = scope.spawn(|| call.array_mut("x", &mut x).run());
        while progress.done() == 0 {
            std::thread::yield_now();
        }
        stop.stop();
        let outcome = call.join().expect("no panic");
        assert!(matches!(outcome, Err(Error::Failure(Failure::Stopped))));
    });
    assert!(progress.done() < progress.total());
    assert!(x.iter().all(|it| *it == 1.0));
}

#[test]
fn costs_choose_the_strategy_and_never_the_bits() {
    // Updates beyond the caches, in mode `exact`: in their order, or sorted.
    const OUTPUTS: usize = 1 << 21;
    const UPDATES: usize = 1 << 20;
    let place = |number: usize| (number * 0x9E37_79B1 % OUTPUTS) as i32;
    let seg: Vec<i32> = (0..UPDATES).map(place).collect();
    let x: Vec<f32> = (0..UPDATES).map(|it| 1.0 / (it + 1) as f32).collect();
    let of = |sort: f64| {
        let costs = strew::Calibration {
            sort,
            ..strew::Calibration::default()
        };
        let mut out = vec![0.0; OUTPUTS];
        let kernel = segment_sum().mode(Mode::Exact).calibration(costs);
        let call = kernel.bind().array("seg", &seg).array("x", &x);
        let report = call.array_mut("out", &mut out).run_with_report();
        (report.expect("a call").record.strategy, out)
    };
    let (cheap, dear) = (of(0.0), of(1e9));
    assert_eq!((cheap.0, dear.0), ("binned", "serial"));
    assert!(cheap.1 == dear.1);
    // Nor do numbers that are no costs do harm.
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert!(of(odd).1 == dear.1);
    }
}
