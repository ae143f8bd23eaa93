//! Loops that merge rows load what their next turn may read in the turn before: results and faults
//! are those of the loop as it is written.

use strew::{ArrayElement, Compiler, Kernel};

/// Counts what two rows have in common, from each of `n` places of the first on, in steps of
/// `$STEP` there, while `$GOES_ON` holds.
const SOURCE: &str = "
void common(int n, int na, int nb, int end_a, int end_b, const int from[n], const $ELEMENT a[na], const $ELEMENT b[nb],
            int64_t out[n]) {
  for (int r = 0; r < n; r++) {
    $INDEX i = from[r], j = 0;
    int moves = 0;
    while ($GOES_ON) {
      $ELEMENT x = a[i], y = b[j];
      out[r] += x == y;
      if (x <= y) { i += $STEP; moves += 3; }
      if (y <= x) j++;
    }
    out[r] += 100 * j + 10000 * moves;
  }
}";

/// When the loops go on. All but the first and the last keep both subscripts below ends that stay
/// as they are.
const GOES_ON: [&str; 4] = [
    "i != end_a && j < end_b",
    "i < end_a && j < end_b",
    "(int64_t)end_a > i && (int64_t)j < end_b",
    "i < end_a - 0 * moves && j < end_b",
];

struct Case {
    from: Vec<i32>,
    ends: [i32; 2],
    rows: [Vec<u8>; 2],
}

/// What the loop leaves, which goes on until `i` is at its end, or not below; nothing if it fails.
fn expected(case: &Case, step: i64, is_until: bool) -> Option<Vec<i64>> {
    let [end_a, end_b] = case.ends.map(i64::from);
    let read = |row: usize, at: i64| case.rows[row].get(usize::try_from(at).ok()?).copied();
    let count = |from: &i32| {
        let (mut i, mut j, mut common, mut moves) = (i64::from(*from), 0, 0, 0);
        let goes_on = |i: i64| if is_until { i != end_a } else { i < end_a };
        while goes_on(i) && j < end_b {
            let (x, y) = (read(0, i)?, read(1, j)?);
            common += i64::from(x == y);
            if x <= y {
                i += step;
                moves += 3;
            }
            j += i64::from(y <= x);
        }
        Some(common + 100 * j + 10_000 * moves)
    };
    case.from.iter().map(count).collect()
}

/// Runs `kernel` on `case` and compares; whether it fails, as it should.
fn check<T: ArrayElement + From<u8>>(
    kernel: &Kernel,
    case: &Case,
    (step, is_until): (i64, bool),
) -> bool {
    let told = format!("{:?} {:?} {:?} by {step}", case.from, case.ends, case.rows);
    let [a, b] = &case.rows;
    let [a, b] = [a, b].map(|row| row.iter().copied().map(T::from).collect::<Vec<T>>());
    let mut out = vec![0_i64; case.from.len()];
    let bind = kernel
        .bind()
        .array("from", &case.from)
        .array("a", &a)
        .array("b", &b);
    let bind = bind
        .scalar("end_a", case.ends[0])
        .scalar("end_b", case.ends[1]);
    let outcome = bind.array_mut("out", &mut out).run();
    let wanted = expected(case, step, is_until);
    match &wanted {
        Some(wanted) => {
            assert!(outcome.is_ok(), "{told} {outcome:?}");
            assert_eq!(out, *wanted, "{told}");
        }
        None => {
            assert!(outcome.is_err(), "{told}");
            assert!(out.iter().all(|it| *it == 0), "{told}");
        }
    }
    wanted.is_none()
}

/// Rows in order, and ends in them, at them and behind them.
fn cases(step: i64) -> Vec<Case> {
    let rising = |seed: u32, length: u32| -> Vec<u8> {
        let number = |at: u32| (at.wrapping_mul(seed) >> 13) as u8 % 4;
        let steps = (0..length).map(number);
        let row = steps.scan(0_u8, |sum, step| {
            *sum = sum.saturating_add(step);
            Some(*sum)
        });
        row.collect()
    };
    let mut cases = Vec::new();
    for (length_a, length_b) in [(0, 3), (1, 1), (2, 5), (7, 4), (40, 40)] {
        for seed in [0x9E37_79B9, 0x85EB_CA6B, 0xC2B2_AE35] {
            let mut rows = [rising(seed, length_a), rising(seed ^ 0x5555, length_b)];
            if step < 0 {
                rows[1].reverse();
                rows[1].iter_mut().for_each(|it| *it = 0xFF - *it);
                rows[0].iter_mut().for_each(|it| *it = 0xFF - *it);
            }
            for (beyond_a, beyond_b) in [
                (0, 0),
                (1, 0),
                (0, 1),
                (-1, 2),
                (3, 3),
                (-1, -1),
                (-2, -1),
                (-3, -3),
                (-2, 0),
            ] {
                let first = if step < 0 { length_a as i32 - 1 } else { 0 };
                let end_a = if step < 0 {
                    -1 - beyond_a
                } else {
                    length_a as i32 + beyond_a
                };
                cases.push(Case {
                    from: vec![first, first, first + step as i32, first],
                    ends: [end_a, length_b as i32 + beyond_b],
                    rows: rows.clone(),
                });
            }
        }
    }
    cases
}

fn check_all<T: ArrayElement + From<u8>>(element: &str) {
    let (mut failed, mut ran) = (0, 0);
    for (index, step) in [
        ("int", 1),
        ("int64_t", 1),
        ("int", 2),
        ("int64_t", -1),
        ("uint32_t", 1),
        ("int8_t", 1),
        ("int16_t", 1),
    ] {
        for goes_on in GOES_ON {
            let is_until = goes_on.contains("!=");
            if step < 0 && !is_until {
                continue;
            }
            let source = SOURCE.replace("$ELEMENT", element);
            let source = source.replace("$INDEX", index).replace("$GOES_ON", goes_on);
            let source = source.replace("$STEP", &step.to_string());
            for strategy in ["serial", "dense"] {
                let compiler = Compiler::new().threads(2);
                let compiler = compiler.strategy(strategy.parse().expect("a strategy"));
                let program = compiler
                    .compile("merges.c", source.as_str())
                    .expect("a program");
                let kernel = program.kernel("common").expect("a kernel");
                // Below zero there are no ends for subscripts without a sign.
                let is_right =
                    |it: &Case| index != "uint32_t" || it.ends.iter().all(|end| *end >= 0);
                for case in cases(step).into_iter().filter(is_right) {
                    match check::<T>(&kernel, &case, (step, is_until)) {
                        true => failed += 1,
                        false => ran += 1,
                    }
                }
            }
        }
    }
    assert!(failed > 100 && ran > 100, "{failed} {ran}");
}

#[test]
fn rows_of_any_integers_are_merged_as_the_loop_says() {
    check_all::<i32>("int");
    check_all::<i64>("int64_t");
    check_all::<u8>("uint8_t");
    check_all::<u64>("uint64_t");
}
