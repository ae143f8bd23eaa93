//! Calls at the edge of what there is: many at once, from inside of pools, of nothing at all, and
//! with faults late in the run.

use rayon::prelude::*;
use std::sync::Arc;
use strew::{
    Body, Compiler, Error, Failure, FaultKind, Kernel, Mode, Progress, StopToken, Strategy,
};

const SOURCE: &str = "
void sums(int64_t n, int64_t m, const int32_t key[n], const double x[n], double out[m], int32_t count[m]) {
  for (int64_t i = 0; i < n; i++) {
    out[key[i]] += x[i];
    count[key[i]]++;
  }
}
void rows(int64_t n, int64_t m, int64_t d, const int32_t key[n], const double x[n][d], double out[m][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < d; j++)
      out[key[i]][j] += x[i][j];
}
";

fn kernel(name: &str) -> Kernel {
    let program = Compiler::new().compile("limits.c", SOURCE);
    program.expect("a program").kernel(name).expect("a kernel")
}

/// Every way to run `kernel`. Some are refused.
fn ways(kernel: &Kernel) -> Vec<(String, Kernel)> {
    let mut ways = Vec::new();
    for strategy in [Strategy::Auto].into_iter().chain(Strategy::named()) {
        for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
            for body in [Body::Auto, Body::RunLength, Body::Partials, Body::Tables] {
                let kernel = kernel.clone().strategy(strategy).mode(mode).body(body);
                ways.push((format!("{strategy} {mode:?} {body}"), kernel));
            }
        }
    }
    ways
}

#[derive(Clone, Debug, PartialEq)]
struct Arrays {
    key: Vec<i32>,
    x: Vec<f64>,
    out: Vec<f64>,
    count: Vec<i32>,
}

impl Arrays {
    fn new(n: usize, m: usize) -> Self {
        let key = |it: usize| (it.wrapping_mul(0x9E37_79B9) >> 7) % m.max(1);
        Self {
            key: (0..n).map(|it| key(it) as i32).collect(),
            x: (0..n).map(|it| 1.0 / (it + 3) as f64).collect(),
            out: vec![0.25; m],
            count: vec![7; m],
        }
    }

    fn call(&mut self, kernel: &Kernel) -> Result<(), Error> {
        let call = kernel.bind().array("key", &self.key).array("x", &self.x);
        call.array_mut("out", &mut self.out)
            .array_mut("count", &mut self.count)
            .run()
    }
}

/// Whether a strategy just does not fit.
fn is_refused(outcome: &Result<(), Error>) -> bool {
    let refused = |it: &strew::Failure| matches!(it, strew::Failure::Refused(_));
    matches!(outcome, Err(Error::Failure(failure)) if refused(failure))
}

#[test]
fn a_kernel_is_called_from_many_threads_at_once_and_from_inside_of_pools() {
    let kernel = kernel("sums").threads(3);
    let mine = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let mine = Arc::new(mine.expect("a pool"));
    let case = Arrays::new(30_000, 700);
    for (way, kernel) in ways(&kernel) {
        if !way.ends_with("auto") || way.contains("Fast") {
            continue;
        }
        let mut alone = case.clone();
        if is_refused(&alone.call(&kernel)) {
            continue;
        }
        let check = |kernel: &Kernel| {
            let mut case = case.clone();
            case.call(kernel).expect("a call");
            assert_eq!(case, alone, "{way}");
        };
        std::thread::scope(|scope| {
            for _ in 0..6 {
                scope.spawn(|| (0..4).for_each(|_| check(&kernel)));
            }
        });
        let on_mine = kernel.clone().pool(mine.clone());
        for kernel in [&kernel, &on_mine] {
            mine.install(|| (0..12).into_par_iter().for_each(|_| check(kernel)));
        }
        // The pool that all programs have.
        (0..12).into_par_iter().for_each(|_| check(&on_mine));
    }
}

#[test]
fn nothing_is_done_to_nothing() {
    for (way, kernel) in ways(&kernel("sums")) {
        for threads in [1, 2, 16] {
            let kernel = kernel.clone().threads(threads);
            for m in [0, 1, 5] {
                let mut case = Arrays::new(0, m);
                let before = case.clone();
                let outcome = case.call(&kernel);
                assert!(
                    outcome.is_ok() || is_refused(&outcome),
                    "{way}: {outcome:?}"
                );
                assert_eq!(case, before, "{way}");
            }
            // Every key is out of range where there are no outputs.
            let outcome = Arrays::new(5, 0).call(&kernel);
            let is_first = matches!(&outcome, Err(Error::Fault(it)) if it.iteration()[0].1 == 0);
            assert!(is_first || is_refused(&outcome), "{way}: {outcome:?}");
        }
    }
}

#[test]
fn empty_dimensions_have_no_elements() {
    for (way, kernel) in ways(&kernel("rows")) {
        for (n, m, d) in [
            (0, 0, 0),
            (0, 4, 3),
            (3, 4, 0),
            (3, 0, 0),
            (0, 0, 5),
            (1, 1, 1),
        ] {
            let (x, mut out) = (vec![0.5; n * d], vec![1.0; m * d]);
            let key = vec![0; n];
            let call = kernel.bind().array("key", &key).array("x", &x);
            let call = call.shape("x", &[n as u64, d as u64]);
            let call = call.shape("out", &[m as u64, d as u64]);
            let outcome = call.array_mut("out", &mut out).run();
            assert!(
                outcome.is_ok() || is_refused(&outcome),
                "{way}: {outcome:?}"
            );
            let added = if outcome.is_ok() && n * d > 0 {
                0.5
            } else {
                0.0
            };
            assert_eq!(out, vec![1.0 + added; m * d], "{way}");
        }
    }
    let text = "kernel @none(n: i64, out: f64[n]) {
        scf.forall c in 0..0 private(p: f64[n] = identity(add)) merge(out reduce(add) p) {
          affine.for i in 0..n { p[i] reduce(add) 1.0 } } }";
    let program = Compiler::new().compile("none.nest", text);
    let none = program.expect("a program").kernel("none");
    for (way, kernel) in ways(&none.expect("a kernel")) {
        let mut out = [0.5; 9];
        let outcome = kernel.bind().array_mut("out", &mut out).run();
        assert!(
            outcome.is_ok() || is_refused(&outcome),
            "{way}: {outcome:?}"
        );
        assert_eq!(out, [0.5; 9], "{way}");
    }
}

#[test]
fn the_first_fault_is_told_however_late_and_wherever_it_is() {
    const COUNT: usize = 60_000;
    let kernel = kernel("sums");
    for first in [COUNT - 1, COUNT - 700, COUNT / 2 + 3, 0] {
        let mut case = Arrays::new(COUNT, 900);
        // Others behind it, in its part of the loop and in those behind.
        for position in [first, first + 1, first + 300, COUNT - 2] {
            if (first..COUNT).contains(&position) {
                case.key[position] = -1 - position as i32;
            }
        }
        let before = case.clone();
        for (way, kernel) in ways(&kernel) {
            for threads in [1, 2, 3, 8, 16] {
                let outcome = case.call(&kernel.clone().threads(threads));
                assert_eq!(case, before, "{way}, {threads} threads");
                if is_refused(&outcome) {
                    break;
                }
                let Err(Error::Fault(fault)) = outcome else {
                    panic!("{way}, {threads} threads: {outcome:?}");
                };
                let index = -1 - first as i128;
                let is_it = matches!(fault.kind(), FaultKind::OutOfRange { array, index: at, .. } if array == "out" && *at == index);
                assert!(is_it, "{way}, {threads} threads: {fault}");
                assert_eq!(fault.iteration(), [("i".to_owned(), first as i64)]);
            }
        }
    }
}

#[test]
fn a_stop_by_what_progress_says_leaves_outputs_alone() {
    let mut case = Arrays::new(3 << 20, 900);
    let before = case.clone();
    for (way, kernel) in ways(&kernel("sums").threads(2)) {
        if !way.ends_with("Stable auto") {
            continue;
        }
        let (stop, progress) = (StopToken::new(), Progress::new());
        let kernel = kernel.cancel(stop.clone()).progress(progress.clone());
        let outcome = std::thread::scope(|scope| {
            let call = scope.spawn(|| case.call(&kernel));
            while progress.done() < progress.total() / 4 && !call.is_finished() {
                std::thread::yield_now();
            }
            stop.stop();
            call.join().expect("no panic")
        });
        match outcome {
            // It was faster.
            Ok(()) => case = before.clone(),
            Err(_) => assert_eq!(case, before, "{way}"),
        }
    }
}

#[test]
fn what_cannot_fail_is_put_back_when_it_is_stopped_unless_it_is_abandoned() {
    const STEPS: &str = "
void steps(int64_t t, int64_t n, double x[n]) {
  for (int64_t k = 0; k < t; k++)
    for (int64_t i = 1; i < n; i++)
      x[i] = x[i] + 0.5 * x[i - 1] + 1.0;
}
";
    let program = Compiler::new().compile("steps.c", STEPS);
    let kernel = program.expect("a program").kernel("steps");
    let kernel = kernel.expect("a kernel").threads(2);
    for (stop, is_abandoned) in [(StopToken::new(), false), (StopToken::abandoning(), true)] {
        let kernel = kernel.clone().cancel(stop.clone());
        let mut x = vec![1.0; 5000];
        std::thread::scope(|scope| {
            // Days of work.
            let call = kernel.bind().value("t", strew::Value::i64(1 << 40));
            let call = scope.spawn(|| call.array_mut("x", &mut x).run());
            while !stop.is_heard() {
                std::thread::yield_now();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            stop.stop();
            let outcome = call.join().expect("no panic");
            assert!(matches!(outcome, Err(Error::Failure(Failure::Stopped))));
        });
        assert_eq!(x.iter().all(|it| *it == 1.0), !is_abandoned);
    }
}

/// All lanes make each turn of the loops inside together, which are long whether sizes say so or an
/// array does.
#[test]
fn loops_inside_of_lanes_stop() {
    const CHAINS: &str = "
void sized(int64_t t, int64_t n, const int64_t end[1], const float x[n], float y[n]) {
  for (int64_t i = 0; i < n; i++) {
    float s = 0;
    for (int64_t j = 0; j < t; j++)
      for (int64_t k = 0; k < t; k++)
        s = s * 0.5f + x[i];
    y[i] = s;
  }
}
void stored(int64_t t, int64_t n, const int64_t end[1], const float x[n], float y[n]) {
  for (int64_t i = 0; i < n; i++) {
    float s = 0;
    for (int64_t j = 0; j < end[0]; j++)
      s = s * 0.5f + x[i];
    y[i] = s;
  }
}
";
    let program = Compiler::new().compile("chains.c", CHAINS);
    let program = program.expect("a program");
    for name in ["sized", "stored"] {
        let kernel = program.kernel(name).expect("a kernel");
        let lanes = kernel.compiled().steps().to_string();
        assert!(lanes.contains("vectorize(i"), "{lanes}");
        let stop = StopToken::new();
        let kernel = kernel.threads(1).cancel(stop.clone());
        let (x, mut y) = (vec![1.0_f32; 64], vec![0.0_f32; 64]);
        let outcome = std::thread::scope(|scope| {
            // Hours of work.
            let call = kernel.bind().value("t", strew::Value::i64(1 << 25));
            let call = call.array("end", &[1_i64 << 50]).array("x", &x);
            let call = scope.spawn(|| call.array_mut("y", &mut y).run());
            while !stop.is_heard() {
                std::thread::yield_now();
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
            stop.stop();
            call.join().expect("no panic")
        });
        assert!(matches!(outcome, Err(Error::Failure(Failure::Stopped))));
    }
}

#[test]
fn what_was_found_not_to_fail_is_not_left_half_done() {
    const LISTS: &str = "
void lists(int64_t n, int64_t e, int64_t m, const int64_t row[n + 1], const int32_t key[e], double out[m]) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = row[i]; j < row[i + 1]; j++)
      out[key[j]] += 1.5;
}
";
    let program = Compiler::new().compile("lists.c", LISTS);
    let kernel = program.expect("a program").kernel("lists");
    let kernel = kernel.expect("a kernel").threads(2);
    // Each list is longer than a loop runs between two looks at the token.
    let (rows, each, outputs) = (8_i64, 2_500_000_i64, 7_000_000);
    let row: Vec<_> = (0..=rows).map(|it| it * each).collect();
    let key: Vec<_> = (0..rows * each).map(|it| (it / 3) as i32).collect();
    for strategy in ["serial", "apart", "colored"] {
        let (stop, progress) = (StopToken::new(), Progress::new());
        let kernel = kernel
            .clone()
            .strategy(strategy.parse().expect("a strategy"));
        let kernel = kernel.cancel(stop.clone()).progress(progress.clone());
        let mut out = vec![0.0; outputs];
        let outcome = std::thread::scope(|scope| {
            let call = scope.spawn(|| {
                let call = kernel.bind().array("row", &row).array("key", &key);
                call.array_mut("out", &mut out).run().is_ok()
            });
            while progress.done() == 0 && !call.is_finished() {
                std::thread::yield_now();
            }
            stop.stop();
            call.join().expect("no panic")
        });
        let done = out.iter().filter(|it| **it != 0.0).count();
        let expected = if outcome { key.len().div_ceil(3) } else { 0 };
        assert_eq!(done, expected, "{strategy}");
    }
}

#[test]
fn only_what_may_be_written_is_copied_to_be_put_back() {
    const WINDOW: &str = "
void window(int64_t n, int64_t m, int64_t b, const int32_t key[n], const double x[100], double y[m]) {
  for (int64_t i = 0; i < n; i++)
    y[i + b] = x[key[i]];
}
";
    let program = Compiler::new().compile("window.c", WINDOW);
    let kernel = program.expect("a program").kernel("window");
    let kernel = kernel.expect("a kernel");
    let (n, m, b) = (100_i64, 1_000_000_usize, 700_i64);
    let x: Vec<f64> = (0..100).map(f64::from).collect();
    let run = |key: &[i32], y: &mut [f64], bytes: u64| {
        let kernel = kernel.clone().memory(bytes);
        let call = kernel.bind().scalar("b", b).array("key", key);
        let call = call.array("x", &x).array_mut("y", y);
        call.run().map(|_| ())
    };
    let mut key: Vec<i32> = (0..n as i32).collect();
    let mut y = vec![-1.0; m];
    // All keys are in range, so nothing can fail and nothing is copied.
    run(&key, &mut y, 0).expect("no memory is needed");
    let mut expected = vec![-1.0; m];
    expected[700..800].copy_from_slice(&x);
    assert!(y == expected);
    key.reverse();
    *key.last_mut().expect("a key") = 100;
    let too_little = run(&key, &mut y, 799);
    assert!(!matches!(too_little, Ok(()) | Err(Error::Fault(_))));
    assert!(matches!(run(&key, &mut y, 800), Err(Error::Fault(_))));
    assert!(y == expected);
}

#[test]
fn what_keys_and_rows_in_range_cannot_fail_is_not_copied() {
    const TIMES_ROWS: &str = "
void times_rows(int n, int m, int e, const int row[n + 1], const uint16_t col[e], const float x[m][8], float y[n][8]) {
  for (int i = 0; i < n; i++)
    for (int k = row[i]; k < row[i + 1]; k++)
      for (int j = 0; j < 8; j++)
        y[i][j] += x[col[k]][j];
}
";
    let program = Compiler::new().compile("times_rows.c", TIMES_ROWS);
    let kernel = program.expect("a program").kernel("times_rows");
    let kernel = kernel.expect("a kernel");
    let (row, x) = ([0, 2, 2, 5], [1.0_f32; 6 * 8]);
    let run = |col: &[u16], memory: u64| {
        let mut y = [0.5_f32; 3 * 8];
        let kernel = kernel.clone().memory(memory);
        let call = kernel.bind().array("row", &row).array("col", col);
        let call = call.shape("x", &[6, 8]).array("x", &x);
        let call = call.shape("y", &[3, 8]).array_mut("y", &mut y);
        let outcome = call.run().map(|_| ());
        (outcome, y.map(|it| it - 0.5))
    };
    let (outcome, y) = run(&[5, 0, 3, 1, 5], 0);
    outcome.expect("no memory is needed");
    let sums: Vec<_> = y.chunks(8).map(|it| it[0]).collect();
    assert_eq!(sums, [2.0, 0.0, 3.0]);
    for col in [[6, 0, 3, 1, 5], [5, 0, 3, 1, 6], [5, 0, u16::MAX, 1, 5]] {
        let (outcome, y) = run(&col, 1000);
        assert!(matches!(outcome, Err(Error::Fault(_))), "{col:?}");
        assert_eq!(y, [0.0; 24]);
    }
}

/// A scatter, what stands in front of it without writing anything, and what stands behind it.
const FIRST: &str = "
double first(int64_t n, int64_t m, int64_t w, const int32_t k[n], const int32_t later[w], const float x[n], float o[m], float y[n], float z[w], double t[1]) {
  double sum = 0, most[4] = {0};
  for (int64_t i = 0; i < 4; i++) most[i] = m - 1;
  for (int64_t i = 0; i < n; i++) { o[k[i]] += x[i]; sum += x[i]; }
  for (int64_t i = 0; i < n; i++) y[i] = x[i] / 2;
  for (int64_t i = 0; i < w; i++) z[i] = o[later[i]];
  t[0] = sum + most[3];
  return sum;
}
";

#[test]
fn a_scatter_before_all_else_is_put_back_and_what_is_behind_it_runs_to_its_end() {
    let program = Compiler::new().compile("first.c", FIRST);
    let kernel = program.expect("a program").kernel("first");
    let kernel = kernel.expect("a kernel").threads(2);
    let (n, m) = (2000_usize, 60_000);
    let keys: Vec<i32> = (0..n).map(|it| (it * 7919 % m) as i32).collect();
    let x = vec![1.0_f32; n];
    let run = |kernel: &Kernel, keys: &[i32], later: &[i32]| {
        let outputs = (
            vec![0.5_f32; m],
            vec![0.5_f32; n],
            vec![0.5_f32; 9],
            vec![0.5_f64],
        );
        let (mut o, mut y, mut z, mut t) = outputs.clone();
        let call = kernel.bind().array("k", keys).array("later", later);
        let call = call.array("x", &x).array_mut("o", &mut o);
        let call = call.array_mut("y", &mut y).array_mut("z", &mut z);
        let outcome = call.array_mut("t", &mut t).run().map(|_| ());
        let is_whole = (&o, &y, &z, &t) == (&outputs.0, &outputs.1, &outputs.2, &outputs.3);
        assert_eq!(is_whole, outcome.is_err());
        (outcome, z[0], t[0])
    };
    let stopped = StopToken::new();
    stopped.stop();
    for (name, way) in ways(&kernel) {
        let mut late = keys.clone();
        late[n - 1] = m as i32;
        let later = |last| [keys[0], 0, 1, 2, 3, 4, 5, 6, last];
        let (outcome, z, t) = run(&way, &keys, &later(0));
        if is_refused(&outcome) {
            continue;
        }
        outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!((z, t), (1.5, n as f64 + m as f64 - 1.0), "{name}");
        for (keys, last) in [(&late, 0), (&keys, m as i32), (&keys, -1)] {
            let (outcome, ..) = run(&way, keys, &later(last));
            assert!(matches!(outcome, Err(Error::Fault(_))), "{name}");
        }
        let (outcome, ..) = run(&way.clone().cancel(stopped.clone()), &keys, &later(0));
        assert!(outcome.is_err(), "{name}");
        // Whatever it has memory for, it is done or not.
        for memory in [0, 1000, 100_000, 240_000, 300_000] {
            let (_outcome, ..) = run(&way.clone().memory(memory), &keys, &later(0));
        }
    }
    let in_order = kernel.strategy(Strategy::named().next().expect("the loop in order"));
    let (outcome, ..) = run(&in_order.memory(20_000), &keys, &[7; 9]);
    outcome.expect("no copy of the outputs");
}

#[test]
fn what_divides_behind_a_scatter_is_guarded_by_a_copy() {
    const DIVIDES: &str = "
void shares(int64_t n, int64_t m, const int32_t k[n], const int32_t by[n], int32_t o[m], int32_t y[n]) {
  for (int64_t i = 0; i < n; i++) o[k[i]] += 1;
  for (int64_t i = 0; i < n; i++) y[i] = 100 / by[i];
}
";
    let program = Compiler::new().compile("shares.c", DIVIDES);
    let kernel = program.expect("a program").kernel("shares");
    let kernel = kernel.expect("a kernel").threads(2);
    let keys: Vec<i32> = (0..5000).collect();
    for (_, way) in ways(&kernel) {
        for zero in [None, Some(4999)] {
            let mut by = vec![7_i32; 5000];
            zero.into_iter().for_each(|it| by[it] = 0);
            let (mut o, mut y) = (vec![1_i32; 5000], vec![1_i32; 5000]);
            let call = way.bind().array("k", &keys).array("by", &by);
            let outcome = call.array_mut("o", &mut o).array_mut("y", &mut y).run();
            let (first, last) = if outcome.is_ok() { (2, 14) } else { (1, 1) };
            assert!(o.iter().all(|it| *it == first) && y.iter().all(|it| *it == last));
            assert!(zero.is_none() || outcome.is_err());
        }
    }
}

/// Rows by way of one that the caller lends, of which each thread then has its own.
const SMOOTH: &str = "
void smooth(int64_t n, int64_t m, double a[n][m], double row[m]) {
  for (int64_t i = 0; i < n; i++) {
    for (int64_t j = 0; j < m; j++) row[j] = a[i][j];
    for (int64_t j = 1; j < m - 1; j++) a[i][j] = (row[j - 1] + row[j] + row[j + 1]) / 3;
  }
}
";

/// A picture of so many rows and columns, and what comes of it.
struct Smooth {
    rows: usize,
    columns: usize,
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Smooth {
    fn new(rows: usize, columns: usize) -> Self {
        let before: Vec<f64> = (0..rows * columns).map(|it| (it % 101) as f64).collect();
        let mut after = before.clone();
        for (new, old) in after.chunks_mut(columns).zip(before.chunks(columns)) {
            for (new, old) in new[1..].iter_mut().zip(old.windows(3)) {
                *new = (old[0] + old[1] + old[2]) / 3.0;
            }
        }
        Self {
            rows,
            columns,
            before,
            after,
        }
    }

    fn kernel() -> Kernel {
        let program = Compiler::new().compile("smooth.c", SMOOTH);
        program
            .expect("a program")
            .kernel("smooth")
            .expect("a kernel")
    }

    /// The picture and the row after a call, and what came of it.
    fn run(&self, kernel: &Kernel) -> (Vec<f64>, Vec<f64>, Result<(), Error>) {
        let (mut a, mut row) = (self.before.clone(), vec![0.0; self.columns]);
        let call = kernel
            .bind()
            .scalar("n", self.rows as i64)
            .scalar("m", self.columns as i64)
            .array_mut("a", &mut a);
        let outcome = call.array_mut("row", &mut row).run();
        (a, row, outcome.map(drop))
    }

    #[track_caller]
    fn check(&self, kernel: &Kernel) {
        let (a, row, outcome) = self.run(kernel);
        assert!(outcome.is_ok(), "{outcome:?}");
        assert!(a == self.after);
        assert_eq!(row, self.before[(self.rows - 1) * self.columns..]);
    }
}

#[test]
fn memory_for_local_arrays_is_there_before_anything_is_written() {
    let case = Smooth::new(500, 3000);
    let row = case.columns as u64 * 8;
    for threads in [1, 2, 3] {
        let kernel = Smooth::kernel().threads(threads);
        // What is enough for them has no room for a copy of the outputs.
        case.check(&kernel.clone().memory(threads as u64 * row + 4096));
        let (a, last, outcome) = case.run(&kernel.memory(threads as u64 * row - 1));
        let is_over = matches!(outcome, Err(Error::Failure(Failure::OverBudget { .. })));
        assert!(is_over, "{outcome:?}");
        assert!(a == case.before);
        assert!(last.iter().all(|it| *it == 0.0));
    }
}

/// Each call has memory of its own for them, whoever calls.
#[test]
fn calls_with_local_arrays_do_not_meet() {
    let case = Smooth::new(200, 1000);
    let kernel = Smooth::kernel().threads(3);
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| (0..8).for_each(|_| case.check(&kernel)));
        }
    });
    let mine = rayon::ThreadPoolBuilder::new().num_threads(3).build();
    let mine = Arc::new(mine.expect("a pool"));
    let on_mine = kernel.clone().pool(mine.clone());
    // As much as three threads want: nobody else works for a call.
    let on_mine = on_mine.memory(3 * case.columns as u64 * 8 + 4096);
    for kernel in [&kernel, &on_mine] {
        mine.install(|| (0..24).into_par_iter().for_each(|_| case.check(kernel)));
    }
    (0..24).into_par_iter().for_each(|_| case.check(&on_mine));
}

/// What nests compute first is kept in an array of an element a point.
#[test]
fn exact_results_do_without_the_arrays_of_a_schedule() {
    const NEAREST: &str = include_str!("kernels/k11_kmeans.c");
    let program = Compiler::new().mode(Mode::Exact).compile("k11.c", NEAREST);
    let kernel = program.expect("a program").kernel("k11_kmeans");
    let kernel = kernel.expect("a kernel");
    let (n, k, d) = (3000, 5, 3);
    let x: Vec<f32> = (0..n * d).map(|it| ((it * it) % 101) as f32).collect();
    let centers: Vec<f32> = (0..k * d).map(|it| (it * 7) as f32).collect();
    let run = |memory: u64| {
        let (mut sum, mut count) = (vec![0.1; k * d], vec![0_i64; k]);
        let kernel = kernel.clone().memory(memory);
        let call = kernel.bind().scalar("n", n as i64);
        let call = call.scalar("k", k as i32).scalar("d", d as i32);
        let call = call.shape("x", &[n as u64, d as u64]).array("x", &x);
        let call = call
            .shape("cen", &[k as u64, d as u64])
            .array("cen", &centers);
        let call = call
            .shape("sum", &[k as u64, d as u64])
            .array_mut("sum", &mut sum);
        let report = call.array_mut("cnt", &mut count).run_with_report();
        (report, sum, count)
    };
    let (report, sum, count) = run(1 << 20);
    let schedule = report.expect("there is room").schedule.join("; ");
    assert!(schedule.contains("expand(a, i)"), "{schedule}");
    let (report, sparing, counted) = run(1 << 10);
    let dropped = report
        .expect("no room is needed")
        .dropped
        .expect("a reason");
    assert!(
        dropped.contains("no room for the local arrays"),
        "{dropped}"
    );
    assert_eq!((sum, count), (sparing, counted));
}
