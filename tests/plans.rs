//! Calls with plans: the same bits as without, and made again when what decides where updates go is
//! not the same any more.

use strew::{Compiler, Kernel, Mode, Report};

const SEGMENT_SUM: &str = "
void segment_sum(int64_t n, int32_t m, const int32_t seg[n], const float x[n], float out[m]) {
  for (int64_t i = 0; i < n; i++)
    out[seg[i]] += x[i];
}";

const PRODUCT: &str = "
void product(int32_t rows, int32_t columns, int64_t n, const int64_t row[rows + 1], const int32_t col[n],
             const double val[n], const double x[rows], double y[columns], int64_t skipped) {
  for (int32_t r = 0; r < rows; r++)
    for (int64_t k = row[r] + skipped; k < row[r + 1]; k++)
      y[col[k]] += val[k] * x[r];
}";

const RANKS: &str = "
void ranks(int32_t n, int32_t turns, int64_t edges, const int64_t row[n + 1], const int32_t to[edges], float rank[n], float next[n]) {
  for (int32_t t = 0; t < turns; t++) {
    for (int32_t v = 0; v < n; v++) next[v] = 0.15f;
    for (int32_t v = 0; v < n; v++)
      for (int64_t k = row[v]; k < row[v + 1]; k++)
        next[to[k]] += 0.85f * rank[v] / (float)(row[v + 1] - row[v]);
    for (int32_t v = 0; v < n; v++) rank[v] = next[v];
  }
}";

fn kernel(source: &str, name: &str, strategy: &str) -> Kernel {
    let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
    let program = compiler.compile("k.c", source).expect("a program");
    program.kernel(name).expect("a kernel")
}

fn random(count: usize, below: u64) -> Vec<i32> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) % below
    };
    (0..count).map(|_| next() as i32).collect()
}

/// Row pointers of rows with 0, 1, 2, 3, 0, … entries.
fn rows(count: usize) -> Vec<i64> {
    let mut row = vec![0];
    row.extend((0..count as i64).scan(0, |end, it| {
        *end += it % 4;
        Some(*end)
    }));
    row
}

#[test]
fn calls_with_a_plan_give_the_bits_of_calls_without() {
    let seg = random(50_000, 700);
    let weights: Vec<f32> = random(50_000, 1000)
        .iter()
        .map(|it| *it as f32 / 7.0)
        .collect();
    let planned = kernel(SEGMENT_SUM, "segment_sum", "planned");
    let serial = kernel(SEGMENT_SUM, "segment_sum", "serial");
    for threads in [1, 2, 5] {
        let plan = planned.clone().threads(threads).plan(&seg);
        let sum = plan
            .typed::<(i64, i32, &[i32], &[f32], &mut [f32])>()
            .expect("it fits");
        let (mut out, mut expected) = (vec![0.5; 700], vec![0.5; 700]);
        let mut weights = weights.clone();
        for _ in 0..3 {
            let report = sum.call_with_report((50_000, 700, &seg, &weights, &mut out));
            let report: Report = report.expect("a call");
            assert_eq!(
                (report.record.strategy, report.record.updates),
                ("planned", 50_000)
            );
            let bind = serial.bind().array("seg", &seg).array("x", &weights);
            bind.array_mut("out", &mut expected).run().expect("a call");
            assert_eq!(out, expected);
            weights.rotate_left(1);
        }
        assert!(plan.bytes() > 4 * 50_000);
    }
}

#[test]
fn other_scalars_and_other_arrays_make_it_again() {
    let (row, count) = (rows(3000), 4500);
    let col = random(count, 900);
    let col_2 = random(count, 300);
    let val: Vec<f64> = (0..count).map(|it| it as f64 / 3.0).collect();
    let x: Vec<f64> = (0..3000).map(|it| 1.0 + it as f64).collect();
    let planned = kernel(PRODUCT, "product", "planned");
    let serial = kernel(PRODUCT, "product", "serial");
    let plan = planned.plan(&row).and(&col);
    // The last column array is not in the plan, which then is of no use, and changes nothing.
    for (col, columns, skipped) in [
        (&col, 900, 0),
        (&col, 900, 1),
        (&col, 1000, 0),
        (&col_2, 900, 0),
    ] {
        let mut outs = [vec![0.0; columns], vec![0.0; columns]];
        for (bind, out) in [plan.bind(), serial.bind()].into_iter().zip(&mut outs) {
            let bind = bind.array("row", &row).array("col", col).array("val", &val);
            let bind = bind.array("x", &x).scalar("skipped", skipped as i64);
            bind.array_mut("y", out).run().expect("a call");
        }
        assert_eq!(outs[0], outs[1], "{columns} {skipped}");
    }
}

#[test]
fn a_fault_is_told_with_a_plan_too() {
    let mut seg = random(5000, 70);
    seg[4000] = 70;
    let plan = kernel(SEGMENT_SUM, "segment_sum", "planned")
        .plan(&seg)
        .bind();
    let mut out = vec![0.0_f32; 70];
    let call = plan.array("seg", &seg).array("x", &[1.0_f32; 5000][..]);
    let error = call
        .array_mut("out", &mut out)
        .run()
        .expect_err("70 is out of range");
    assert!(error.to_string().contains("i = 4000"), "{error}");
    assert_eq!(out, [0.0; 70]);
}

#[test]
fn a_loop_that_runs_again_gives_the_bits_of_the_serial_one() {
    let n = 20_000;
    let row = rows(n);
    let edges = row[n] as usize;
    let to = random(edges, n as u64);
    let run = |strategy: &str, mode, threads| {
        let (mut rank, mut next) = (vec![1.0_f32; n], vec![0.0_f32; n]);
        let kernel = kernel(RANKS, "ranks", strategy).mode(mode).threads(threads);
        let bind = kernel
            .bind()
            .scalar("turns", 5)
            .array("row", &row)
            .array("to", &to);
        let bind = bind
            .array_mut("rank", &mut rank)
            .array_mut("next", &mut next);
        let report = bind.run_with_report().expect("a call");
        (rank, report.record.strategy.to_owned())
    };
    let (expected, _) = run("serial", Mode::Exact, 1);
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        for threads in [1, 2, 4] {
            assert_eq!(
                run("planned", mode, threads),
                (expected.clone(), "planned".to_owned())
            );
        }
    }
}

#[test]
fn keys_that_the_kernel_changes_are_refused() {
    const MOVING: &str = "
void moving(int n, int turns, int key[n], double out[n]) {
  for (int t = 0; t < turns; t++) {
    for (int i = 0; i < n; i++) out[key[i]] += 1.0;
    for (int i = 0; i < n; i++) key[i] = n - 1 - key[i];
  }
}";
    let kernel = kernel(MOVING, "moving", "planned");
    let (mut key, mut out) = (vec![0, 1, 1], vec![0.0; 3]);
    let bind = kernel.bind().scalar("turns", 2).array_mut("key", &mut key);
    let error = bind
        .array_mut("out", &mut out)
        .run()
        .expect_err("keys change");
    let said = error.to_string();
    assert!(
        said.contains("the kernel changes what these follow from"),
        "{said}"
    );
    assert_eq!((key, out), (vec![0, 1, 1], vec![0.0; 3]));
}

#[test]
fn what_a_loop_writes_beside_its_updates_is_written_once() {
    const BOTH: &str = "
void both(int n, int m, int turns, const int key[n], int done[n], double out[m]) {
  for (int t = 0; t < turns; t++)
    for (int i = 0; i < n; i++) {
      out[key[i]] += 0.5;
      done[i] += 1;
    }
}";
    // As many as strew looks at before it chooses, and as many outputs as it would sort updates
    // for.
    let (n, m) = (1_200_000, 3_000_000);
    let key = random(n, m as u64);
    for (memory, turns) in [(None, 1), (None, 3), (Some(16 << 20), 1)] {
        let (mut done, mut out) = (vec![0; n], vec![0.0; m]);
        let both = kernel(BOTH, "both", "auto").threads(2);
        let both = memory.into_iter().fold(both, Kernel::memory);
        let bind = both.bind().scalar("turns", turns).array("key", &key);
        let bind = bind.array_mut("done", &mut done);
        let outcome = bind.array_mut("out", &mut out).run();
        let expected = if outcome.is_ok() { turns } else { 0 };
        assert!(done.iter().all(|it| *it == expected), "{memory:?} {turns}");
        let sum = 0.5 * f64::from(expected) * n as f64;
        assert_eq!(out.iter().sum::<f64>(), sum, "{memory:?} {turns}");
        assert!(outcome.is_ok() || memory.is_some(), "{outcome:?}");
    }
}

/// Calls with other sizes do not take what was found out for some, nor does code that is made for
/// these.
#[test]
fn plans_tell_sizes_apart_that_have_code_of_their_own() {
    const ROWS: &str = "
void rows(int32_t n, int32_t m, int32_t d, const int32_t r[n], const float v[n], float y[m]) {
  for (int32_t i = 0; i < n; i++)
    for (int32_t j = 0; j < d; j++)
      y[r[i] * d + j] += v[i];
}";
    let (n, groups) = (4000, 50);
    let r = random(n, groups);
    let v: Vec<f32> = random(n, 1000).into_iter().map(|it| it as f32).collect();
    let kernel = kernel(ROWS, "rows", "planned").threads(2);
    let plan = kernel.plan(&r);
    let mut had_own = 0;
    // Eight sizes have code of their own, at most.
    for d in [3_usize, 8, 5, 4, 7, 6, 12, 16, 2, 3, 5] {
        let mut expected = vec![0.0_f32; 16 * groups as usize];
        for (row, value) in r.iter().zip(&v) {
            let first = *row as usize * d;
            expected[first..first + d]
                .iter_mut()
                .for_each(|it| *it += value);
        }
        for _ in 0..2000 {
            let mut y = vec![0.0_f32; expected.len()];
            let call = plan
                .bind()
                .scalar("d", d as i32)
                .array("r", &r)
                .array("v", &v);
            let report = call
                .array_mut("y", &mut y)
                .run_with_report()
                .expect("a run");
            assert_eq!(y, expected, "{d}");
            if !report.sizes.is_empty() {
                had_own += 1;
                break;
            }
        }
    }
    assert!(had_own >= 8, "{had_own}");
}
