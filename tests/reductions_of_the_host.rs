//! Combiners that are Rust closures.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use strew::{Compiler, Element, Error, FaultKind, Kernel, Mode, Source};

fn source(ty: &str) -> String {
    format!(
        "{ty} own({ty} a, {ty} b);

void scatter(int64_t n, int64_t m, const int32_t key[n], const {ty} x[n], {ty} out[m]) {{
  for (int64_t i = 0; i < n; i++)
    out[key[i]] = own(out[key[i]], x[i]);
}}"
    )
}

fn log_sum(a: f64, b: f64) -> f64 {
    match (a, b) {
        (f64::NEG_INFINITY, other) | (other, f64::NEG_INFINITY) => other,
        _ => a.max(b) + (-(a - b).abs()).exp().ln_1p(),
    }
}

fn scatter<T: Element>(
    identity: T,
    own: impl Fn(T, T) -> T + Send + Sync + 'static,
    ty: &str,
) -> Kernel {
    let compiler = Compiler::new().reduction("own", identity, own);
    let program = compiler.compile("own.c", source(ty)).expect("a program");
    assert_eq!(program.warnings().to_string(), "");
    program.kernel("scatter").expect("a kernel")
}

/// Keys that look like any others.
fn keys(count: usize, outputs: usize) -> Vec<i32> {
    let key = |i: usize| (i.wrapping_mul(2_654_435_761) >> 7) % outputs;
    (0..count).map(|i| key(i) as i32).collect()
}

/// A fold in the order of the loop, and what every strategy, mode and number of threads makes of
/// the same.
fn agrees<T: Element + PartialEq + std::fmt::Debug + strew::ArrayElement>(
    identity: T,
    own: fn(T, T) -> T,
    ty: &str,
    value: impl Fn(usize) -> T,
    is_close: impl Fn(T, T) -> bool,
) {
    let kernel = scatter(identity, own, ty);
    let (count, outputs) = (20_000, 37);
    let key = keys(count, outputs);
    let x: Vec<T> = (0..count).map(&value).collect();
    let before: Vec<T> = (0..outputs).map(&value).collect();
    let mut expected = before.clone();
    for (key, x) in key.iter().zip(&x) {
        let held = &mut expected[*key as usize];
        *held = own(*held, *x);
    }
    for strategy in ["auto", "serial", "dense", "blocked", "apart", "binned"] {
        for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
            for threads in [1, 2, 8] {
                let named = strategy.parse().expect("a strategy");
                let kernel = kernel.clone().strategy(named).mode(mode).threads(threads);
                let mut out = before.clone();
                let call = kernel.bind().array("key", &key).array("x", &x);
                let done = call.array_mut("out", &mut out).run();
                let what = format!("{ty} {strategy} {mode:?} {threads}");
                if matches!(strategy, "dense" | "blocked") && mode == Mode::Exact {
                    assert!(done.is_err(), "{what}");
                    assert_eq!(out, before, "{what}");
                    continue;
                }
                done.unwrap_or_else(|error| panic!("{what}: {error}"));
                for (found, expected) in out.iter().zip(&expected) {
                    let same =
                        found == expected || mode != Mode::Exact && is_close(*found, *expected);
                    assert!(same, "{what}: {found:?}, expected {expected:?}");
                }
            }
        }
    }
}

#[test]
fn closures_combine_in_every_strategy_on_every_type() {
    agrees(
        f64::NEG_INFINITY,
        log_sum,
        "double",
        |i| (i % 19) as f64 - 9.0,
        |a, b| (a - b).abs() < 1e-9,
    );
    let single = |a: f32, b: f32| log_sum(a.into(), b.into()) as f32;
    agrees(
        f32::NEG_INFINITY,
        single,
        "float",
        |i| (i % 19) as f32 - 9.0,
        |a, b| (a - b).abs() < 1e-3,
    );
    agrees(
        0,
        |a: i32, b| a.wrapping_add(b).wrapping_add(a.wrapping_mul(b)),
        "int",
        |i| i as i32 - 100,
        |a, b| a == b,
    );
    agrees(
        0,
        |a: u32, b| a.wrapping_add(b).wrapping_add(a.wrapping_mul(b)),
        "uint32_t",
        |i| i as u32,
        |a, b| a == b,
    );
    agrees(
        i64::MIN,
        |a: i64, b| a.max(b),
        "int64_t",
        |i| -(i as i64),
        |a, b| a == b,
    );
    agrees(
        u64::MAX,
        |a: u64, b| a & b,
        "uint64_t",
        |i| u64::MAX << (i % 7),
        |a, b| a == b,
    );
}

#[test]
fn a_panic_is_a_fault_that_leaves_the_outputs_as_they_were() {
    let kernel = scatter(
        i64::MIN,
        |a: i64, b: i64| {
            assert!(b != 7_777, "seven sevens");
            a.max(b)
        },
        "int64_t",
    );
    let (count, outputs) = (200_000, 1000);
    let mut rising = keys(count, outputs);
    rising.sort_unstable();
    let mut x: Vec<i64> = (0..count as i64).map(|i| i % 5000).collect();
    x[150_000] = 7_777;
    let before: Vec<i64> = (0..outputs as i64).collect();
    let strategies = ["auto", "serial", "dense", "blocked", "apart", "binned"];
    let orders = [keys(count, outputs), rising];
    for (strategy, key) in strategies
        .into_iter()
        .flat_map(|it| orders.iter().map(move |key| (it, key)))
    {
        for threads in [1, 2, 8] {
            let named = strategy.parse().expect("a strategy");
            let kernel = kernel.clone().strategy(named).threads(threads);
            let mut out = before.clone();
            let call = kernel.bind().array("key", key).array("x", &x);
            let error = call.array_mut("out", &mut out).run().expect_err("a panic");
            assert_eq!(out, before, "{strategy} {threads}");
            let Error::Fault(fault) = &error else {
                panic!("{error}");
            };
            assert!(
                matches!(fault.kind(), FaultKind::Combiner(it) if it.message == "seven sevens")
            );
            let text = error.to_string();
            assert!(
                text.contains("the combiner `own` panicked: seven sevens"),
                "{text}"
            );
            // Where updates are applied after they were sorted, no iteration is left to tell.
            if strategy != "binned" && !fault.iteration().is_empty() {
                assert_eq!(fault.iteration(), [("i".to_owned(), 150_000)]);
                assert_eq!(fault.position().line, 5);
            }
        }
    }
    // The threads are as good as before.
    let mut out = [1_i64, 2];
    let call = kernel.bind().array("key", &[0, 1]).array("x", &[5_i64, 1]);
    call.array_mut("out", &mut out).run().expect("no panic");
    assert_eq!(out, [5, 2]);
}

#[test]
fn a_panic_while_copies_are_merged_is_a_fault_too() {
    let is_armed = Arc::new(AtomicBool::new(false));
    let armed = is_armed.clone();
    // No update is large: only copies that are merged are.
    let own = move |a: i64, b: i64| {
        let are_large = a >= 900 && b >= 900;
        assert!(
            !are_large || !armed.load(Ordering::Relaxed),
            "both are large"
        );
        a.wrapping_add(b)
    };
    let kernel = scatter(0, own, "int64_t");
    is_armed.store(true, Ordering::Relaxed);
    let (key, x) = ([0; 8000], [1_i64; 8000]);
    for threads in [1, 2, 8] {
        let dense = "dense".parse().expect("a strategy");
        let kernel = kernel.clone().strategy(dense).threads(threads);
        let mut out = [500_i64];
        let call = kernel.bind().array("key", &key).array("x", &x);
        let error = call.array_mut("out", &mut out).run().expect_err("a panic");
        assert!(
            error
                .to_string()
                .contains("the combiner `own` panicked: both are large"),
            "{error}"
        );
        assert_eq!(out, [500]);
    }
    let mut out = [500_i64];
    let call = kernel
        .strategy("serial".parse().expect("a strategy"))
        .bind();
    let call = call.array("key", &key).array("x", &x);
    call.array_mut("out", &mut out).run().expect("no panic");
    assert_eq!(out, [8500]);
}

#[test]
fn a_closure_may_call_kernels() {
    const SUM: &str = "int64_t sum(int64_t a, int64_t b) { return a + b; }";
    let inner = Compiler::new().compile("sum.c", SUM).expect("a program");
    let inner = inner.kernel("sum").expect("a kernel");
    let inner = inner.typed_returning::<(i64, i64), i64>().expect("it fits");
    let kernel = scatter(
        0,
        move |a: i64, b: i64| inner.call((a, b)).expect("a sum"),
        "int64_t",
    );
    let mut out = [1_i64, 2];
    let (key, x) = ([0, 1, 0], [10_i64, 20, 30]);
    kernel
        .bind()
        .array("key", &key)
        .array("x", &x)
        .array_mut("out", &mut out)
        .run()
        .expect("a call");
    assert_eq!(out, [41, 22]);
}

#[test]
fn what_keeps_no_law_stays_in_order_and_is_told() {
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = calls.clone();
    let compiler = Compiler::new().reduction("own", 0.0, move |a: f64, b: f64| {
        counted.fetch_add(1, Ordering::Relaxed);
        0.5 * a + b
    });
    let program = compiler
        .compile("own.c", source("double"))
        .expect("a program");
    let warnings = program.warnings().to_string();
    assert!(
        warnings.starts_with("warning[W100]: `own` is no reduction: combining 1.0 with the identity 0.0 gives 0.5 and not 1.0\n --> own.c:1:8"),
        "{warnings}"
    );
    assert!(calls.load(Ordering::Relaxed) > 0);
    let kernel = program.kernel("scatter").expect("a kernel");
    // Threads may share the elements among them, but nothing is grouped.
    let text = kernel.compiled().kernel().to_string();
    assert!(
        text.starts_with("reduction @own(a, b: f64)\nkernel"),
        "{text}"
    );
    let dense = kernel
        .clone()
        .strategy("dense".parse().expect("a strategy"));
    let mut out = [8.0];
    let call = dense.bind().array("key", &[0, 0]).array("x", &[1.0, 2.0]);
    let error = call
        .array_mut("out", &mut out)
        .run()
        .expect_err("a refusal");
    assert!(
        error
            .to_string()
            .contains("does not keep the order of the loop"),
        "{error}"
    );
    assert_eq!(out, [8.0]);
    let kernel = kernel.strategy("binned".parse().expect("a strategy"));
    let mut out = [8.0];
    kernel
        .bind()
        .array("key", &[0, 0])
        .array("x", &[1.0, 2.0])
        .array_mut("out", &mut out)
        .run()
        .expect("a call");
    assert_eq!(out, [4.5]);
    let panics = Compiler::new().reduction("own", 0.0, |_: f64, _: f64| -> f64 { panic!("never") });
    let program = panics
        .compile("own.c", source("double"))
        .expect("a program");
    let warnings = program.warnings().to_string();
    assert!(
        warnings.starts_with("warning[W103]: `own` panicked when it was tried: never"),
        "{warnings}"
    );
}

#[test]
fn what_does_not_fit_the_declaration_is_refused() {
    let message = |compiler: &Compiler, text: &str| {
        let outcome = compiler.compile("own.c", text).map(drop);
        let text = outcome.expect_err("an error").to_string();
        text.lines().next().unwrap_or_default().to_owned()
    };
    let of_float = Compiler::new().reduction("own", 0.0_f32, |a: f32, b: f32| a + b);
    assert_eq!(
        message(&of_float, &source("double")),
        "error[E105]: the host combines values of type `float` by `own`, which is declared otherwise"
    );
    assert_eq!(
        message(&Compiler::new(), &source("double")),
        "error[E081]: `own` is declared here, but not defined"
    );
    let compiler = Compiler::new().reduction("own", -0.0, |a: f64, b: f64| a + b);
    let other = |statement: &str| {
        format!(
            "double own(double a, double b);\nvoid f(int n, const double x[n], double out[n], float y[n]) {{ {statement} }}"
        )
    };
    for statement in [
        "out[0] = own(x[0], x[1]);",
        "out[0] = own(out[1], x[1]);",
        "out[0] = 1 + own(out[0], x[1]);",
        "out[0] = own(out[0]);",
        "y[0] = own(y[0], x[1]);",
        "own(x[0], x[1]);",
    ] {
        assert_eq!(
            message(&compiler, &other(statement)),
            "error[E106]: `own` is a function of the host, and this call combines nothing",
            "{statement}"
        );
    }
    // A function that the file defines is its own.
    let defined = "double own(double a, double b) { return a; }\nvoid f(double out[1]) { out[0] = own(2, out[0]); }";
    assert!(compiler.compile("own.c", defined).is_ok());
}

#[test]
fn kernel_texts_leave_combiners_to_the_host() {
    const TEXT: &str = "\
reduction @own(a, b: f64) identity(f64(-inf))
kernel @scatter(n: i64, m: i64, key: i32[n], x: f64[n], out: f64[m]) {
  affine.for i in 0..n {
    out[key[i]] reduce(own) x[i]
  }
}
";
    let program = Compiler::new()
        .compile("own.nest", TEXT)
        .expect("a program");
    assert_eq!(program.parsed().kernels()[0].kernel().to_string(), TEXT);
    let error = program.kernel("scatter").map(drop).expect_err("an error");
    assert_eq!(
        error.to_string(),
        "no host gives the combiner `own`: `Compiler::reduction` does"
    );
    let compiler = Compiler::new().reduction("own", f64::NEG_INFINITY, log_sum);
    let program = compiler.compile("own.nest", TEXT).expect("a program");
    assert_eq!(program.parsed().kernels()[0].kernel().to_string(), TEXT);
    let kernel = program.kernel("scatter").expect("a kernel");
    let mut out = [0.0];
    kernel
        .bind()
        .array("key", &[0])
        .array("x", &[0.0])
        .array_mut("out", &mut out)
        .run()
        .expect("a call");
    assert_eq!(out, [2.0_f64.ln()]);
    let source = Source::new("own.nest", TEXT).reduction("own", f64::NEG_INFINITY, log_sum);
    let parsed = source.parse().expect("a program");
    let scheduled = parsed.kernels()[0].schedule(&strew::Plan::Auto, &mut ());
    assert!(scheduled.and_then(strew::Scheduled::compile).is_ok());
}

/// Rows of a sparse matrix, which take differently long: the loop over them has many parts.
const ROWS: &str = "int64_t own(int64_t a, int64_t b);

void scatter(int n, int64_t e, int m, const int64_t row[n + 1], const int32_t key[e], const int64_t x[e], int64_t out[m]) {
  for (int r = 0; r < n; r++)
    for (int64_t k = row[r]; k < row[r + 1]; k++)
      out[key[k]] = own(out[key[k]], x[k]);
}";

/// Which of two operands stays is told by their order alone, and no grouping changes that.
#[test]
fn operands_keep_their_order_in_loops_of_many_parts() {
    let first = |a: i64, b: i64| if a == 0 { b } else { a };
    let compiler = Compiler::new().reduction("own", 0_i64, first);
    let program = compiler.compile("rows.c", ROWS).expect("a program");
    let kernel = program.kernel("scatter").expect("a kernel");
    let row: Vec<i64> = (0..=1000).map(|r| r * r / 20).collect();
    let count = row[1000] as usize;
    let key = keys(count, 300);
    let x: Vec<i64> = (0..count as i64).map(|k| k % 5 * (k + 1)).collect();
    let mut expected = vec![0; 300];
    for (key, x) in key.iter().zip(&x) {
        let held = &mut expected[*key as usize];
        *held = first(*held, *x);
    }
    for strategy in ["auto", "serial", "dense", "blocked", "binned"] {
        for mode in [Mode::Fast, Mode::Stable] {
            for threads in [1, 2, 8] {
                let named = strategy.parse().expect("a strategy");
                let kernel = kernel.clone().strategy(named).mode(mode).threads(threads);
                let mut out = vec![0; 300];
                let call = kernel
                    .bind()
                    .array("row", &row)
                    .array("key", &key)
                    .array("x", &x);
                let done = call.array_mut("out", &mut out).run();
                done.unwrap_or_else(|error| panic!("{strategy} {mode:?} {threads}: {error}"));
                assert_eq!(out, expected, "{strategy} {mode:?} {threads}");
            }
        }
    }
}
