//! Counters that hand out tickets: parts of loops run at once and give what the loops in C give, to
//! the bit.

use strew::{Compiler, Error, FaultKind, Kernel, Mode, Oob, Schedule};

const SOURCE: &str = "
void sort(int64_t n, int32_t m, int32_t ends[m], const uint8_t key[n], const double x[n], int64_t places, double out[places]) {
  for (int64_t i = n - 1; i >= 0; i--)
    out[--ends[key[i]]] = x[i];
}
void fill(int64_t n, int32_t m, int64_t next[m], const int32_t row[n], const int32_t col[n], const double v[n],
          int32_t cols[n], double values[n]) {
  for (int64_t i = 0; i < n; i++) {
    int64_t p = next[row[i]]++;
    cols[p] = col[i];
    values[p] = v[i];
  }
}
int64_t filter(int64_t n, const double x[n], double least, int64_t kept_most, int64_t kept[kept_most]) {
  int64_t m = 0;
  for (int64_t i = 0; i < n; i++)
    if (x[i] >= least)
      kept[m++] = i;
  return m;
}
void part(int64_t n, const double x[n], double lows[n], double highs[n], uint32_t counts[2]) {
  uint32_t low = 0, high = 0;
  for (int64_t i = 0; i < n; i++)
    if (x[i] < 0.5) lows[low++] = x[i];
    else { highs[high++] = x[i]; highs[high++] = -x[i]; }
  counts[0] = low;
  counts[1] = high;
}
void cells(int64_t n, int32_t m, int32_t count[m], const int32_t cell[n], int64_t in_cell[m][4]) {
  for (int64_t i = 0; i < n; i++) {
    int32_t slot = count[cell[i]]++;
    if (slot < 4)
      in_cell[cell[i]][slot] = i;
  }
}
void crossed(int64_t n, int32_t m, int64_t cap, const int32_t a[n], const int32_t b[n], int32_t count[m], int32_t cell[m][m][cap]) {
  for (int64_t i = 0; i < n; i++)
    if (a[i] > b[i]) { int32_t s = count[a[i]]++; cell[a[i]][b[i]][s] = i; }
    else { int32_t t = count[b[i]]++; cell[a[i]][b[i]][t] = -i; }
}
void transpose(int32_t rows, int32_t cols, int64_t e, const int32_t row[rows + 1], const int32_t col[e], int32_t next[cols],
               int32_t to[e]) {
  for (int32_t r = 0; r < rows; r++)
    for (int32_t k = row[r]; k < row[r + 1]; k++)
      to[next[col[k]]++] = r;
}";

/// Enough for threads to share it.
const COUNT: usize = 50_000;
const KEYS: usize = 200;

fn each_way(name: &str, check: impl Fn(&Kernel)) {
    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
        let compiler = Compiler::new().mode(mode);
        let program = compiler.compile("k.c", SOURCE).expect("a program");
        let kernel = program.kernel(name).expect("a kernel");
        let scheduled = kernel.compiled().kernel().to_string();
        assert!(scheduled.contains("threads()"), "{name}: {scheduled}");
        for threads in [1, 2, 3, 7] {
            check(&kernel.clone().threads(threads));
        }
    }
}

fn keys(count: usize) -> Vec<i32> {
    let mut state = 1_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as usize % KEYS) as i32
    };
    (0..count).map(|_| next()).collect()
}

fn values(count: usize) -> Vec<f64> {
    (0..count).map(|it| (it as f64 * 0.618).fract()).collect()
}

/// Where the places of each key begin, one behind the other, and where the last ones end.
fn begins(keys: &[i32]) -> Vec<i64> {
    let mut begins = vec![0; KEYS + 1];
    for key in keys {
        begins[*key as usize + 1] += 1;
    }
    for key in 0..KEYS {
        begins[key + 1] += begins[key];
    }
    begins
}

#[test]
fn a_counting_sort_from_its_end() {
    let (keys, x) = (keys(COUNT), values(COUNT));
    let narrow: Vec<u8> = keys.iter().map(|it| *it as u8).collect();
    let ends: Vec<i32> = begins(&keys)[1..].iter().map(|it| *it as i32).collect();
    let mut sorted: Vec<usize> = (0..COUNT).collect();
    sorted.sort_by_key(|it| keys[*it]);
    let expected: Vec<f64> = sorted.into_iter().map(|it| x[it]).collect();
    let begins: Vec<i32> = begins(&keys)[..KEYS].iter().map(|it| *it as i32).collect();
    each_way("sort", |kernel| {
        let (mut ends, mut out) = (ends.clone(), vec![0.0; COUNT]);
        let bind = kernel.bind().array_mut("ends", &mut ends);
        let bind = bind.array("key", &narrow).array("x", &x);
        bind.array_mut("out", &mut out).run().expect("a call");
        assert!(out == expected && ends == begins);
    });
}

/// As a loop in Rust does it.
fn filled(rows: &[i32], v: &[f64], next: &mut [i64]) -> (Vec<i32>, Vec<f64>) {
    let (mut cols, mut values) = (vec![-1; rows.len()], vec![-1.0; rows.len()]);
    for (i, row) in rows.iter().enumerate() {
        let place = next[*row as usize] as usize;
        next[*row as usize] += 1;
        (cols[place], values[place]) = (i as i32, v[i]);
    }
    (cols, values)
}

#[test]
fn rows_that_are_filled_also_where_they_run_into_each_other() {
    let (rows, v) = (keys(COUNT), values(COUNT));
    let cols: Vec<i32> = (0..COUNT as i32).collect();
    let apart = begins(&rows)[..KEYS].to_vec();
    let mut meeting = apart.clone();
    meeting[17] -= 3;
    let mut swapped = apart.clone();
    swapped.reverse();
    let together = vec![0; KEYS];
    for next in [&apart, &meeting, &swapped, &together] {
        let lengths = begins(&rows);
        let is_there = next.iter().zip(lengths.windows(2));
        let mut is_there = is_there.map(|(first, ends)| first + ends[1] - ends[0] <= COUNT as i64);
        if !is_there.all(|it| it) {
            continue;
        }
        let mut ends = next.clone();
        let expected = filled(&rows, &v, &mut ends);
        each_way("fill", |kernel| {
            let (mut next, mut got) = (next.clone(), (vec![-1; COUNT], vec![-1.0; COUNT]));
            let bind = kernel.bind().array_mut("next", &mut next).array("v", &v);
            let bind = bind.array("row", &rows).array("col", &cols);
            let bind = bind.array_mut("cols", &mut got.0);
            bind.array_mut("values", &mut got.1).run().expect("a call");
            assert!(got == expected && next == ends);
        });
    }
}

#[test]
fn what_a_filter_keeps_and_how_much() {
    let x = values(COUNT);
    for least in [-1.0, 0.3, 0.999, 2.0] {
        let expected = (0..COUNT).filter(|it| x[*it] >= least);
        let mut expected: Vec<i64> = expected.map(|it| it as i64).collect();
        let count = expected.len();
        expected.resize(COUNT, -1);
        each_way("filter", |kernel| {
            let mut kept = vec![-1_i64; COUNT];
            let bind = kernel.bind().scalar("least", least).array("x", &x);
            let report = bind.array_mut("kept", &mut kept).run_with_report();
            let returned = report.expect("a call").returned.expect("a result");
            assert_eq!(returned.as_integer(), Some(count as i128));
            assert!(kept == expected, "{least}");
        });
    }
}

#[test]
fn two_counters_one_of_which_moves_twice() {
    let x = values(COUNT);
    let (mut lows, mut highs) = (Vec::new(), Vec::new());
    for it in x.iter().map(|it| it / 1.3) {
        match it < 0.5 {
            true => lows.push(it),
            false => highs.extend([it, -it]),
        }
    }
    let counts = [lows.len() as u32, highs.len() as u32];
    lows.resize(COUNT, 7.0);
    highs.resize(COUNT, 7.0);
    assert_eq!(highs.len(), COUNT);
    let x: Vec<f64> = x.iter().map(|it| it / 1.3).collect();
    each_way("part", |kernel| {
        let mut got = (vec![7.0; COUNT], vec![7.0; COUNT], [0_u32; 2]);
        let bind = kernel.bind().array("x", &x).array_mut("lows", &mut got.0);
        let bind = bind.array_mut("highs", &mut got.1);
        bind.array_mut("counts", &mut got.2).run().expect("a call");
        assert!(got.0 == lows && got.1 == highs && got.2 == counts);
    });
}

#[test]
fn cells_that_hold_no_more_than_some() {
    let cells = keys(COUNT);
    let mut count = vec![0_i32; KEYS];
    let mut expected = vec![-1_i64; KEYS * 4];
    for (i, cell) in cells.iter().enumerate() {
        let slot = count[*cell as usize];
        count[*cell as usize] += 1;
        if slot < 4 {
            expected[*cell as usize * 4 + slot as usize] = i as i64;
        }
    }
    each_way("cells", |kernel| {
        let (mut counted, mut got) = (vec![0_i32; KEYS], vec![-1_i64; KEYS * 4]);
        let bind = kernel.bind().array("cell", &cells);
        let bind = bind.array_mut("count", &mut counted);
        bind.array_mut("in_cell", &mut got).run().expect("a call");
        assert!(counted == count && got == expected);
    });
}

#[test]
fn a_sparse_matrix_is_transposed() {
    let cols = keys(COUNT);
    let rows = 1000;
    let row: Vec<i32> = (0..=rows).map(|it| it * it / 20).collect();
    assert_eq!(row[rows as usize], COUNT as i32);
    let mut next: Vec<i32> = begins(&cols)[..KEYS].iter().map(|it| *it as i32).collect();
    let begins = next.clone();
    let mut expected = vec![-1; COUNT];
    for r in 0..rows {
        for k in row[r as usize]..row[r as usize + 1] {
            let next = &mut next[cols[k as usize] as usize];
            expected[*next as usize] = r;
            *next += 1;
        }
    }
    each_way("transpose", |kernel| {
        let (mut counters, mut to) = (begins.clone(), vec![-1; COUNT]);
        let bind = kernel.bind().array("row", &row).array("col", &cols);
        let bind = bind.array_mut("next", &mut counters);
        bind.array_mut("to", &mut to).run().expect("a call");
        assert!(to == expected && counters == next);
    });
}

/// Places that are not there, and counters that are not, are told as in the loop, and nothing was
/// done.
#[test]
fn what_is_out_of_range_is_a_fault() {
    let keys = keys(COUNT);
    let narrow: Vec<u8> = keys.iter().map(|it| *it as u8).collect();
    let x = values(COUNT);
    let ends: Vec<i32> = begins(&keys)[1..].iter().map(|it| *it as i32).collect();
    each_way("sort", |kernel| {
        for (place, from) in [(COUNT - 1, 3), (COUNT, 0)] {
            let (mut counters, mut out) = (ends.clone(), vec![7.0; place]);
            counters[0] -= from;
            let before = counters.clone();
            let bind = kernel.bind().array_mut("ends", &mut counters);
            let bind = bind.array("key", &narrow).array("x", &x);
            let bind = bind.array_mut("out", &mut out);
            let outcome = bind.run();
            if from > 0 || place < COUNT {
                let Err(Error::Fault(fault)) = outcome else {
                    panic!("{outcome:?}");
                };
                assert!(matches!(fault.kind(), FaultKind::OutOfRange { .. }));
                assert_eq!(fault.position().line, 4);
                assert!(counters == before && out.iter().all(|it| *it == 7.0));
            }
        }
        let mut few = ends[..KEYS - 1].to_vec();
        let mut out = vec![7.0; COUNT];
        let bind = kernel.bind().array_mut("ends", &mut few);
        let bind = bind.array("key", &narrow).array("x", &x);
        let outcome = bind.array_mut("out", &mut out).run();
        assert!(matches!(outcome, Err(Error::Fault(_))), "{outcome:?}");
        assert!(few == ends[..KEYS - 1] && out.iter().all(|it| *it == 7.0));
    });
}

#[test]
fn what_is_out_of_range_may_be_skipped() {
    let (rows, v) = (keys(COUNT), values(COUNT));
    let mut rows = rows;
    rows[COUNT / 3] = -1;
    rows[COUNT / 2] = KEYS as i32;
    let cols: Vec<i32> = (0..COUNT as i32).collect();
    let run = |kernel: &Kernel| {
        let mut next = vec![COUNT as i64 - 100; KEYS];
        let mut got = (vec![-1; COUNT], vec![-1.0; COUNT]);
        let bind = kernel.bind().array_mut("next", &mut next).array("v", &v);
        let bind = bind.array("row", &rows).array("col", &cols);
        let bind = bind.array_mut("cols", &mut got.0);
        let report = bind.array_mut("values", &mut got.1).run_with_report();
        (report.expect("a call").record.skipped, next, got)
    };
    each_way("fill", |kernel| {
        let skipping = kernel.clone().oob(Oob::Skip);
        let in_order = skipping.with_schedule(Schedule::new()).expect("no steps");
        let expected = run(&in_order.threads(1));
        assert!(expected.0 > 6, "{}", expected.0);
        assert!(run(&skipping) == expected);
    });
}

/// Rows of counters that do not fit: the loop runs as on one thread.
#[test]
fn where_memory_is_short_nothing_is_counted_ahead() {
    let (count, keys) = (400_000, 40_000);
    let row: Vec<i32> = (0..count).map(|it| (it * 7919 % keys) as i32).collect();
    let (cols, v) = (vec![1_i32; count], vec![1.0; count]);
    let next: Vec<i64> = (0..keys as i64).map(|it| it * 10).collect();
    each_way("fill", |kernel| {
        let mut next = next.clone();
        let mut got = (vec![0_i32; count], vec![0.0; count]);
        let kernel = kernel.clone().memory(6_500_000);
        let bind = kernel.bind().array_mut("next", &mut next).array("v", &v);
        let bind = bind.array("row", &row).array("col", &cols);
        let bind = bind.array_mut("cols", &mut got.0);
        bind.array_mut("values", &mut got.1).run().expect("a call");
        assert!(got.0.iter().all(|it| *it == 1) && next[keys - 1] == count as i64);
    });
}

/// A counter that goes around in fewer bits than it has is none, whatever it says, nor is one that
/// goes around soon.
#[test]
fn what_only_looks_like_tickets_runs_in_order() {
    let around = "
int32_t around(int64_t n, int32_t from, int32_t out[n]) {
  int32_t m = from;
  for (int64_t i = 0; i < n; i++) { out[i] = m; m = (uint8_t)(m + 1); }
  return m;
}
void cut(int64_t n, int32_t m, int64_t cap, const int32_t key[n], int32_t count[m], int32_t cell[m][cap]) {
  for (int64_t i = 0; i < n; i++) {
    int32_t s = count[key[i]];
    if (s >= 0 && s < cap) cell[key[i]][s] = i;
    count[key[i]] = (int8_t)(s + 1);
  }
}
int64_t far(int64_t n, int64_t from, int64_t out[n]) {
  int64_t m = from;
  for (int64_t i = 0; i < n; i++) { out[i] = m; m += 2305843009213693953; }
  return m;
}";
    let program = Compiler::new().compile("k.c", around).expect("a program");
    for kernel in program.kernels().expect("kernels") {
        let scheduled = kernel.compiled().kernel().to_string();
        assert!(!scheduled.contains("threads()"), "{scheduled}");
    }
}

/// What two counters say lies in one row, which is the first's by one subscript and the second's by
/// another.
#[test]
fn counters_of_crossed_rows() {
    let (a, mut b) = (keys(COUNT), keys(COUNT + 1).split_off(1));
    b[COUNT / 2..].fill(3);
    let few: Vec<i32> = a.iter().map(|it| it % 4).collect();
    let other: Vec<i32> = b.iter().map(|it| it % 4).collect();
    let mut count = [0_usize; 4];
    let mut expected = vec![0_i32; 16 * COUNT];
    for (i, (a, b)) in few.iter().zip(&other).enumerate() {
        let key = *a.max(b) as usize;
        let place = (*a as usize * 4 + *b as usize) * COUNT + count[key];
        expected[place] = if a > b { i as i32 } else { -(i as i32) };
        count[key] += 1;
    }
    each_way("crossed", |kernel| {
        let (mut counters, mut cell) = ([0_i32; 4], vec![0_i32; 16 * COUNT]);
        let bind = kernel.bind().array("a", &few).array("b", &other);
        let bind = bind.array_mut("count", &mut counters);
        bind.array_mut("cell", &mut cell).run().expect("a call");
        assert!(cell == expected);
    });
}

/// Keys that are no counters, by little: between the counters of two parts there is room.
#[test]
fn a_key_just_behind_the_last_is_a_fault() {
    let mut rows = keys(COUNT);
    let (cols, v) = (vec![1_i32; COUNT], vec![1.0; COUNT]);
    let next = begins(&rows)[..KEYS].to_vec();
    rows[COUNT / 2] = KEYS as i32 + 3;
    each_way("fill", |kernel| {
        let mut counters = next.clone();
        let mut got = (vec![0_i32; COUNT], vec![0.0; COUNT]);
        let bind = kernel.bind().array_mut("next", &mut counters);
        let bind = bind.array("row", &rows).array("col", &cols).array("v", &v);
        let bind = bind.array_mut("cols", &mut got.0);
        let outcome = bind.array_mut("values", &mut got.1).run();
        assert!(matches!(outcome, Err(Error::Fault(_))), "{outcome:?}");
        assert!(counters == next && got.0.iter().all(|it| *it == 0));
    });
}
