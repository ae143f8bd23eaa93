//! Loops that update whole rows, each thread some of the columns, or some of the rows.

use strew::{Compiler, Kernel, Mode};

const SEGMENT_SUM: &str = "
void segment_sum(int64_t n, int32_t m, int32_t d, const int32_t seg[n], const float x[n][d], float out[m][d]) {
  for (int64_t i = 0; i < n; i++)
    for (int32_t j = 0; j < d; j++)
      out[seg[i]][j] += x[i][j];
}";

const EXTREMES: &str = "
void extremes(int n, int m, int d, const int seg[n], const double x[n][d], double low[m][d], double high[m][d]) {
  for (int i = 0; i < n; i++) {
    double scale = x[i][0];
    for (int j = 0; j < d; j++) {
      if (scale * x[i][j] < low[seg[i]][j]) low[seg[i]][j] = scale * x[i][j];
      high[seg[i]][j] += x[i][j];
    }
  }
}";

fn kernel(source: &str, name: &str, strategy: &str, threads: usize) -> Kernel {
    let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
    let program = compiler
        .threads(threads)
        .mode(Mode::Exact)
        .compile("k.c", source);
    program.expect("a program").kernel(name).expect("a kernel")
}

fn segments(count: usize, below: usize) -> Vec<i32> {
    (0..count)
        .map(|it| (it * 7919 % 10_007 % below) as i32)
        .collect()
}

const NAMED_KEYS: &str = "
void segment_sum(int64_t n, int32_t m, int32_t d, const int32_t seg[n], const float x[n][d], float out[m][d]) {
  for (int64_t i = 0; i < n; i++) {
    int32_t s = seg[i];
    for (int32_t j = 0; j < d; j++)
      out[s][j] += x[i][j];
  }
}";

/// Rows that later turns update are asked for ahead, whoever they belong to, and keys that are out
/// of range among them.
#[test]
fn rows_of_outputs_beyond_the_near_caches() {
    let (rows, d, count) = (9000_usize, 64_usize, 20_000_usize);
    let seg = segments(count, rows);
    let x: Vec<f32> = (0..count * d).map(|it| 1.0 / (it + 1) as f32).collect();
    let mut expected = vec![0.1_f32; rows * d];
    for (row, x) in seg.iter().zip(x.chunks(d)) {
        let out = &mut expected[*row as usize * d..][..d];
        out.iter_mut().zip(x).for_each(|(out, x)| *out += x);
    }
    for source in [SEGMENT_SUM, NAMED_KEYS] {
        for (strategy, threads) in [("serial", 1), ("columns", 2), ("rows", 2), ("rows", 3)] {
            let kernel = kernel(source, "segment_sum", strategy, threads);
            let mut out = vec![0.1_f32; rows * d];
            let run = |seg: &[i32], out: &mut Vec<f32>| {
                let bind = kernel.bind().scalar("m", rows as i32).scalar("d", d as i32);
                bind.array("seg", seg)
                    .array("x", &x)
                    .array_mut("out", out)
                    .run()
            };
            run(&seg, &mut out).expect("a call");
            assert!(out == expected, "{strategy} on {threads}");
            let mut wrong = seg.clone();
            wrong[count - 1] = i32::MIN;
            assert!(run(&wrong, &mut out).is_err());
            assert!(out == expected, "{strategy} on {threads} after a fault");
        }
    }
}

#[test]
fn columns_and_rows_have_the_bits_of_the_serial_loop() {
    for d in [0, 1, 15, 16, 31, 33, 64, 100, 257] {
        let seg = segments(500, 13);
        let x: Vec<f32> = (0..500 * d).map(|it| 1.0 / (it + 1) as f32).collect();
        let run = |strategy, threads| {
            let mut out = vec![0.1_f32; 13 * d];
            let kernel = kernel(SEGMENT_SUM, "segment_sum", strategy, threads);
            let bind = kernel.bind().scalar("m", 13).scalar("d", d as i32);
            let bind = bind
                .array("seg", &seg)
                .array("x", &x)
                .array_mut("out", &mut out);
            let report = bind.run_with_report().expect("a call");
            assert_eq!(report.record.strategy, strategy);
            assert_eq!(
                report.record.updates,
                500 * d as u64,
                "{strategy} {d} {threads}"
            );
            out
        };
        let expected = run("serial", 1);
        for threads in [1, 2, 3, 8] {
            for strategy in ["columns", "rows"] {
                let out = run(strategy, threads);
                assert_eq!(out, expected, "{strategy} {d} on {threads}");
            }
        }
    }
}

#[test]
fn several_outputs_have_columns_too() {
    let (n, m, d) = (300, 7, 80);
    let seg = segments(n, m);
    let x: Vec<f64> = (0..n * d).map(|it| (it % 101) as f64 - 50.0).collect();
    let run = |strategy, threads| {
        let (mut low, mut high) = (vec![0.0; m * d], vec![0.5; m * d]);
        let bind = kernel(EXTREMES, "extremes", strategy, threads).bind();
        let bind = bind
            .scalar("n", n as i32)
            .scalar("m", m as i32)
            .array("seg", &seg);
        let bind = bind.array("x", &x).array_mut("low", &mut low);
        bind.array_mut("high", &mut high).run().expect("a call");
        (low, high)
    };
    let expected = run("serial", 1);
    for threads in [1, 2, 4] {
        for strategy in ["columns", "rows"] {
            assert_eq!(run(strategy, threads), expected, "{strategy} {threads}");
        }
    }
}

#[test]
fn a_fault_puts_all_columns_back() {
    let mut seg = segments(5000, 13);
    seg[4321] = 13;
    seg[4323] = -1;
    let x = vec![1.0_f32; 5000 * 64];
    for strategy in ["columns", "rows"] {
        let mut out = vec![0.25_f32; 13 * 64];
        let bind = kernel(SEGMENT_SUM, "segment_sum", strategy, 4).bind();
        let bind = bind
            .scalar("m", 13)
            .scalar("d", 64)
            .array("seg", &seg)
            .array("x", &x);
        let error = bind
            .array_mut("out", &mut out)
            .run()
            .expect_err("13 is out of range");
        assert!(error.to_string().contains("i = 4321"), "{error}");
        assert_eq!(out, [0.25; 13 * 64]);
    }
}

#[test]
fn rows_that_are_found_in_other_loops_have_the_bits_of_the_serial_loop() {
    const MESSAGES: &str = "
void messages(int nodes, int edges, int m, int h, int d, const int row[nodes + 1], const int col[edges], const double w[edges],
              const double x[nodes][h][d], double out[m][h][d], double sent[m][d]) {
  for (int u = 0; u < nodes; u++)
    for (int k = row[u]; k < row[u + 1]; k++) {
      int v = col[k];
      for (int a = 0; a < h; a++)
        for (int j = 0; j < d; j++) {
          out[v][a][j] += w[k] * x[u][a][j];
        }
      if (w[k] > 0)
        for (int j = 0; j < d; j++)
          if (x[u][0][j] > 0.5)
            sent[v][j] += 1.0 / (k + 1);
    }
}";
    let (nodes, m, h, d) = (200_usize, 37, 3, 9);
    let row: Vec<i32> = (0..=nodes as i32).map(|it| it * it / 20).collect();
    let edges = row[nodes] as usize;
    let col = segments(edges, m);
    let w: Vec<f64> = (0..edges).map(|it| (it % 17) as f64 / 7.0 - 1.0).collect();
    let x: Vec<f64> = (0..nodes * h * d)
        .map(|it| 1.0 / (it % 91 + 1) as f64)
        .collect();
    let run = |strategy, threads| {
        let (mut out, mut sent) = (vec![0.1; m * h * d], vec![0.2; m * d]);
        let bind = kernel(MESSAGES, "messages", strategy, threads).bind();
        let sizes = [
            ("nodes", nodes),
            ("edges", edges),
            ("m", m),
            ("h", h),
            ("d", d),
        ];
        let sized = sizes
            .iter()
            .fold(bind, |bind, (name, size)| bind.scalar(name, *size as i32));
        let given = sized.array("row", &row).array("col", &col).array("w", &w);
        let given = given.array("x", &x).array_mut("out", &mut out);
        let report = given.array_mut("sent", &mut sent).run_with_report();
        assert_eq!(report.expect("a call").record.strategy, strategy);
        (out, sent)
    };
    let expected = run("serial", 1);
    for threads in [1, 2, 3, 8] {
        assert_eq!(run("rows", threads), expected, "{threads} threads");
    }
}

#[test]
fn loops_without_columns_are_refused() {
    const HISTOGRAM: &str = "void h(int n, int m, const int key[n], int out[m]) { for (int i = 0; i < n; i++) out[key[i]]++; }";
    let kernel = kernel(HISTOGRAM, "h", "columns", 2);
    let bind = kernel.bind().array("key", &[0, 1]).scalar("m", 2);
    let error = bind
        .array_mut("out", &mut [0, 0])
        .run()
        .expect_err("no columns");
    assert!(
        error.to_string().contains("does not update rows"),
        "{error}"
    );
}

#[test]
fn wide_rows_of_large_outputs_are_divided_unasked() {
    let (n, m, d) = (20_000, 100_000, 64);
    let seg = segments(n, m);
    let x = vec![0.0_f32; n * d];
    let mut out = vec![0.0_f32; m * d];
    // What has no vector form takes time.
    let computed = SEGMENT_SUM.replace("x[i][j]", "expf(x[i][j])");
    let kernel = kernel(&computed, "segment_sum", "auto", 2).mode(Mode::Stable);
    let bind = kernel
        .bind()
        .scalar("m", m as i32)
        .scalar("d", d as i32)
        .array("seg", &seg);
    let bind = bind.array("x", &x).array_mut("out", &mut out);
    let report = bind.run_with_report().expect("a call");
    assert_eq!(report.record.strategy, "columns", "{}", report.why());
    assert_eq!(out.iter().sum::<f32>(), (n * d) as f32);
}

#[test]
fn rows_of_some_lines_in_outputs_beyond_the_caches_have_owners_unasked() {
    let (n, m, d) = (70_000, 270_000, 64);
    let seg: Vec<i32> = (0..n as i64).map(|it| (it * 7919 % m) as i32).collect();
    let x = vec![1.0_f32; n * d];
    let mut out = vec![0.0_f32; m as usize * d];
    let kernel = kernel(SEGMENT_SUM, "segment_sum", "auto", 8).mode(Mode::Stable);
    let bind = kernel.bind().scalar("m", m as i32).scalar("d", d as i32);
    let bind = bind.array("seg", &seg).array("x", &x);
    let report = bind.array_mut("out", &mut out).run_with_report();
    let report = report.expect("a call");
    assert_eq!(report.record.strategy, "rows", "{}", report.why());
    assert_eq!(
        out.iter().map(|it| f64::from(*it)).sum::<f64>(),
        (n * d) as f64
    );
}

#[test]
fn what_is_checked_and_not_copied_finds_faults_in_every_row() {
    let (n, m, d) = (2000, 50_000, 33);
    let x = vec![1.0_f32; n * d];
    for strategy in ["serial", "columns", "rows"] {
        for (at, index) in [(0, -1), (1234, 50_000), (1999, i32::MAX)] {
            let mut seg = segments(n, m);
            seg[at] = index;
            let mut out = vec![0.25_f32; m * d];
            let bind = kernel(SEGMENT_SUM, "segment_sum", strategy, 2).bind();
            let bind = bind.scalar("m", m as i32).scalar("d", d as i32);
            let bind = bind.array("seg", &seg).array("x", &x);
            let outcome = bind.array_mut("out", &mut out).run_with_report();
            let error = outcome.expect_err("a row is out of range");
            assert!(error.to_string().contains(&format!("i = {at}")), "{error}");
            assert!(out.iter().all(|it| *it == 0.25));
        }
        let seg = segments(n, m);
        let mut out = vec![0.0_f32; m * d];
        let bind = kernel(SEGMENT_SUM, "segment_sum", strategy, 2).bind();
        let bind = bind.scalar("m", m as i32).scalar("d", d as i32);
        let bind = bind.array("seg", &seg).array("x", &x);
        let report = bind
            .array_mut("out", &mut out)
            .run_with_report()
            .expect("a call");
        // There is no copy of the output.
        assert!(
            report.record.private_bytes < (m * d) as u64,
            "{}",
            report.record.private_bytes
        );
        assert_eq!(out.iter().sum::<f32>(), (n * d) as f32);
    }
}

#[test]
fn columns_of_the_subscript_are_all_checked() {
    const TWO_LEVELS: &str = "
void two_levels(int n, int m, int d, const int seg[n], const int turn[d], const float x[n][d], float out[m][d]) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < d; j++)
      out[seg[i]][turn[j]] += x[i][j];
}";
    let (n, m, d) = (500, 50_000, 40);
    let (seg, x) = (segments(n, m), vec![1.0_f32; n * d]);
    let mut turn: Vec<i32> = (0..d as i32).rev().collect();
    turn[39] = 40;
    let mut out = vec![0.25_f32; m * d];
    let bind = kernel(TWO_LEVELS, "two_levels", "serial", 2).bind();
    let bind = bind
        .scalar("n", n as i32)
        .scalar("m", m as i32)
        .scalar("d", d as i32);
    let bind = bind.array("seg", &seg).array("turn", &turn).array("x", &x);
    let error = bind
        .array_mut("out", &mut out)
        .run()
        .expect_err("40 is out of range");
    assert!(error.to_string().contains("j = 39"), "{error}");
    assert!(out.iter().all(|it| *it == 0.25));
}

#[test]
fn what_goes_from_turn_to_turn_is_not_divided() {
    const SHARES: &str = "
void shares(int n, int m, int d, const int seg[n], const double x[n][d], double out[m][d], double all[m][d]) {
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int j = 0; j < d; j++) {
      sum += x[i][j];
      out[seg[i]][j] += x[i][j];
    }
    for (int j = 0; j < d; j++)
      all[seg[i]][j] += sum;
  }
}";
    let (n, m, d) = (40, 3, 64);
    let (seg, x) = (segments(n, m), vec![1.0; n * d]);
    let run = |strategy: &str| {
        let (mut out, mut all) = (vec![0.0; m * d], vec![0.0; m * d]);
        let bind = kernel(SHARES, "shares", strategy, 4).bind();
        let bind = bind.scalar("n", n as i32).scalar("m", m as i32);
        let bind = bind.scalar("d", d as i32).array("seg", &seg);
        let bind = bind.array("x", &x).array_mut("out", &mut out);
        let ran = bind.array_mut("all", &mut all).run();
        ran.map(|()| (out, all))
    };
    assert!(run("serial").is_ok());
    let error = run("columns").expect_err("the sum is one of all columns");
    assert!(
        error.to_string().contains("does not update rows"),
        "{error}"
    );
}

#[test]
fn an_index_that_is_counted_up_in_a_row_is_checked_in_every_turn() {
    const STEPS: &str = "
void steps(int n, int m, int d, const int seg[n], const int step[d], const float x[n], float out[m]) {
  for (int i = 0; i < n; i++) {
    int at[1];
    at[0] = seg[i];
    for (int j = 0; j < d; j++) {
      at[0] += step[0];
      out[at[0]] += x[i];
    }
  }
}";
    let (n, m, d) = (50, 100_000, 40);
    let mut seg = segments(n, 1000);
    seg[49] = (m - 30) as i32;
    let (step, x) = (vec![1; d], vec![1.0_f32; n]);
    let mut out = vec![0.25_f32; m];
    let bind = kernel(STEPS, "steps", "serial", 2).bind();
    let bind = bind.scalar("n", n as i32).scalar("m", m as i32);
    let bind = bind.array("seg", &seg).array("step", &step);
    let bind = bind.array("x", &x);
    let error = bind.array_mut("out", &mut out).run();
    let error = error.expect_err("the last row goes past the end");
    assert!(error.to_string().contains("j = 29"), "{error}");
    assert!(out.iter().all(|it| *it == 0.25));
}

/// Keys that begin somewhere else than the loop are only read in it: 16 MB in front of them there
/// is nothing.
#[test]
fn keys_are_read_in_the_loop_alone() {
    const SHIFTED: &str = "
void shifted(int64_t m, int64_t n, const int32_t seg[n], const float v[n], float out[m][32]) {
  for (int64_t k = n; k < 2 * n; k++)
    for (int j = 0; j < 32; j++)
      out[seg[k - n]][j] += v[k - n];
}";
    for (count, rows) in [(0, 10), (2_000_000_usize, 1000)] {
        let (seg, v) = (segments(count, rows), vec![1.0_f32; count]);
        let mut expected = vec![0_f32; rows];
        seg.iter().for_each(|row| expected[*row as usize] += 1.0);
        for (strategy, threads) in [("rows", 2), ("rows", 1), ("columns", 2)] {
            let mut out = vec![0_f32; rows * 32];
            let kernel = kernel(SHIFTED, "shifted", strategy, threads);
            let call = kernel.bind().array("seg", &seg).array("v", &v);
            let call = call
                .shape("out", &[rows as u64, 32])
                .array_mut("out", &mut out);
            call.run().unwrap_or_else(|error| panic!("{error}"));
            let first: Vec<_> = out.chunks(32).map(|it| it[7]).collect();
            assert_eq!(first, expected, "{strategy}");
        }
    }
}

/// A loop over the columns of one output lies in one over those of another.
#[test]
fn loops_over_columns_in_each_other_are_not_divided() {
    const NESTED: &str = "
void nested(int64_t n, int64_t m, const int32_t seg[n], int64_t out[m][16], int64_t all[4][n]) {
  for (int64_t k = 0; k < n; k++) {
    for (int j = 0; j < 16; j++)
      out[seg[k]][j] += 1;
    all[seg[0] % 4][k] += 1;
  }
}";
    let seg = segments(3000, 100);
    for strategy in ["columns", "rows"] {
        let compiler = Compiler::new().strategy(strategy.parse().expect("a strategy"));
        let program = compiler.threads(2).compile("k.c", NESTED);
        let kernel = program
            .expect("a program")
            .kernel("nested")
            .expect("a kernel");
        let (mut out, mut all) = (vec![0_i64; 100 * 16], vec![0_i64; 4 * 3000]);
        let call = kernel.bind().array("seg", &seg);
        let call = call.shape("out", &[100, 16]).array_mut("out", &mut out);
        let call = call.shape("all", &[4, 3000]).array_mut("all", &mut all);
        // A strategy that cannot be had is an error, and nothing else is right.
        if call.run().is_ok() {
            assert_eq!(out.iter().sum::<i64>(), 3000 * 16, "{strategy}");
            assert_eq!(all.iter().sum::<i64>(), 3000, "{strategy}");
        }
    }
}
