//! The greatest and the least of rows, and where they stand, as C spells it: `cc` and all engines
//! agree bit for bit on zeros of both signs, ties, NaN, infinities and rows without elements.

use crate::against_c::outcomes;
use crate::data::Data;
use crate::engines::{Engines, compiled_recording};
use crate::random::Random;
use strew::Source;

const MACROS: &str = "
#include <math.h>
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
";

/// What is done with row `i` of `a`, and with `best` and `place`.
const ROWS: [&str; 20] = [
    "REAL m = -1; for (int j = 0; j < w; j++) m = MAX(m, a[i][j]); best[i] = m;",
    "REAL m = -1; for (int j = 0; j < w; j++) m = MIN(a[i][j], m); best[i] = m;",
    "for (int j = 0; j < w; j++) best[i] = MIN(best[i], a[i][j]);",
    "REAL m = best[i]; for (int j = 0; j < w; j++) if (!(m >= a[i][j])) m = a[i][j]; best[i] = m;",
    "REAL m = best[i], l = m; for (int j = 0; j < w; j++) { m = MAX(m, a[i][j]); l = MIN(l, a[i][j]); } best[i] = m - l;",
    "REAL m = best[i]; for (int j = 0; j < w; j++) m = fmin(m, a[i][j]); best[i] = m;",
    "REAL m = 0; for (int j = 0; j < w; j++) if (j % 3) m = MAX(m, a[i][j]); best[i] = m;",
    "REAL m = best[i]; for (int j = 0; j < w; j++) { m = MAX(m, a[i][j]); other[i][j] = a[i][j] * 2; } best[i] = m;",
    "REAL m = best[i]; int p = place[i]; for (int j = 0; j < w; j++) if (a[i][j] > m) { m = a[i][j]; p = j; } best[i] = m; place[i] = p;",
    "REAL m = best[i]; int p = place[i]; for (int j = 0; j < w; j++) if (a[i][j] <= m) { m = a[i][j]; p = j; } best[i] = m; place[i] = p;",
    "REAL m = best[i]; int p = 0; for (int j = 0; j < w; j++) if (a[i][j] * 2 < m) { m = a[i][j] * 2; p = j * j; } best[i] = m; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (a[i][j] > a[i][p]) p = j; place[i] = p; if (w > 0) best[i] = a[i][p];",
    "int p = 0; for (int j = 0; j < w; j++) if (a[i][p] >= a[i][j]) p = j; place[i] = p;",
    "long p = w - 1; for (long j = 0; j < w; j++) if (a[i][j] < a[i][p]) p = j; place[i] = p;",
    "int p = w / 2; for (int j = 0; j < w; j++) if (a[i][j] >= a[i][p]) p = j; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) { if (a[i][j] > a[i][p]) p = j; other[i][j] = a[i][j]; } place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (fabs(a[i][j]) > fabs(a[i][p])) p = j; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (a[i][j] * a[0][j] < a[i][p] * a[0][p]) p = j; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (a[i][j] - best[i] >= a[i][p] - best[i]) p = j; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (a[place[i] + 1][j] > a[place[i] + 1][p]) p = j; place[i] = p;",
];

/// Loops whose bounds another loop, or data, tell.
const PARTS: [&str; 3] = [
    "int p = i; for (int j = i + 1; j < w; j++) if (a[0][j] > a[0][p]) p = j; place[i] = p;",
    "int p = 0; for (int j = place[i] + 1; j < w - i; j++) if (a[i][j] <= a[i][p]) p = j; place[i] = p;",
    "int p = place[i] + 1; for (int j = p; j < w; j++) if (a[i][p] < a[i][j]) p = j; place[i] = p;",
];

/// The same, but what is kept beside a place would not be what stands there, or more than the place
/// is set.
const OTHERS: [&str; 8] = [
    "int p = 0; for (int j = 1; j < w; j++) { if (other[i][j] > other[i][p]) p = j; other[i][p] = a[i][j]; } place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) { if (a[i][j] > a[i][p]) p = j; place[i] += p; }",
    "int p = 0; for (int j = 1; j < w; j++) if (a[i][j] > a[j % n][p]) p = j; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (a[i][j] > a[i][p]) p = j - 1; place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) if (a[i][j] * j > a[i][p] * j) p = j; place[i] = p;",
    "int p = 0; REAL t = 1; for (int j = 1; j < w; j++) { if (a[i][j] - t > a[i][p] - t) p = j; t = a[i][j]; } place[i] = p;",
    "int p = 0; for (int j = 1; j < w; j++) { if (a[i][j] - best[i] > a[i][p] - best[i]) p = j; best[i] = a[i][j]; } place[i] = p;",
    "unsigned char p = 0; for (int j = 1; j < w; j++) if (a[i][j] > a[i][p]) p = j; place[i] = p;",
];

fn source(body: &str, real: &str) -> String {
    let body = body.replace("REAL", real);
    format!(
        "{MACROS}void k(int n, int w, const {real} a[n][w], {real} other[n][w], {real} best[n], int place[n]) {{ \
         for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
}

/// What rows are made of.
const POOLS: [&[f64]; 5] = [
    &[0.0, -0.0, -1.0],
    &[0.0, -0.0, 1.0, f64::NAN],
    &[f64::NEG_INFINITY, f64::INFINITY, f64::NAN, 3.0],
    &[-5.0, 1.5, 2.5, 3.25, -7.0, 8.0, 9.0],
    &[-0.0],
];

fn case(pool: &[f64], w: i32, real: &str) -> Data {
    let n = 11;
    let mut random = Random(w.unsigned_abs().into());
    let mut floats = |count: i32| -> Vec<f64> {
        let mut next = || pool[random.next() as usize % pool.len()];
        (0..count).map(|_| next()).collect()
    };
    let data = Data::default().scalar("n", n).scalar("w", w);
    let arrays = [("a", n * w), ("other", n * w), ("best", n)];
    let data = arrays.into_iter().fold(data, |data, (name, count)| {
        let values = floats(count);
        match real {
            "double" => data.array(name, &values),
            "int" => {
                let integers: Vec<_> = values.iter().map(|it| *it as i32).collect();
                data.array(name, &integers)
            }
            _ => {
                let narrow: Vec<_> = values.iter().map(|it| *it as f32).collect();
                data.array(name, &narrow)
            }
        }
    });
    data.array("place", &vec![-1; n as usize])
}

fn check(bodies: &[&str], real: &str) {
    for (number, body) in bodies.iter().enumerate() {
        let widths = [0, 1, 2, 15, 16, 17, 40, 300];
        let pools = POOLS.iter().cycle().skip(number);
        let cases = widths.iter().zip(pools);
        let cases = cases.map(|(w, pool)| case(pool, *w, real)).collect();
        for (data, outcome) in outcomes(&source(body, real), cases) {
            let is_empty = data.scalars["w"].as_integer() == Some(0);
            let is_outside = PARTS.contains(body);
            assert!(
                outcome.is_ok() || is_empty || is_outside,
                "{real} {body}: {outcome:?}"
            );
        }
    }
}

#[test]
fn extrema_of_rows_are_those_of_cc() {
    for real in ["float", "double", "int"] {
        check(&ROWS, real);
        check(&PARTS, real);
    }
}

#[test]
fn what_only_looks_like_the_place_of_an_extremum_is_not_taken_for_it() {
    for real in ["float", "int"] {
        check(&OTHERS[..7], real);
    }
    // Beyond 255 the place is another one.
    check(&OTHERS[7..], "int");
}

/// Where they stand in the end is asked by nobody, or another number is.
#[test]
fn a_place_that_nobody_reads_is_kept_apart_from_others() {
    for update in [
        "if (x[j] > h[0]) { h[0] = x[j]; a = j; }",
        "if (x[j] >= h[0]) { h[0] = x[j]; a = j; }",
    ] {
        let text = format!(
            "int k(int m, float h[1], const float x[m], const int l[m]) {{ int a = 0, c = 0; \
             for (int j = 0; j < m; j++) {{ c += l[j]; {update} }} return c; }}"
        );
        let case = |m: i32| {
            let x: Vec<_> = (0..m).map(|it| (it * 7 % 11) as f32).collect();
            let data = Data::default().scalar("m", m).array("h", &[1.0_f32]);
            data.array("x", &x).array("l", &vec![1; m as usize])
        };
        for (_, outcome) in outcomes(&text, vec![case(0), case(1), case(40)]) {
            assert!(outcome.is_ok(), "{update}: {outcome:?}");
        }
    }
}

/// Where lanes are left with zeros of both signs, or have met a NaN, all turns are made again.
#[test]
fn turns_that_are_made_again_are_counted_once() {
    let row = "for (int j = 0; j < w; j++) if (other[i][j] > 0) best[i] = MAX(best[i], a[i][j]);";
    let parsed = Source::new("k.c", source(row, "float")).parse();
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
    let kernel = Engines::new(parsed.kernel(None).expect("one kernel")).scheduled;
    for pool in POOLS {
        let mut data = case(pool, 40, "float");
        data = data.array("other", &[1.0_f32; 11 * 40]);
        let (outcome, record) = compiled_recording(&kernel, &data);
        assert!(outcome.is_ok(), "{pool:?}: {outcome:?}");
        let updates = record.map(|it| it.updates);
        assert_eq!(updates, Some(11 * 40), "{pool:?}");
    }
}

#[test]
fn places_of_extrema_are_reductions() {
    let is_pair = |body: &str| {
        let parsed = Source::new("k.c", source(body, "float")).parse();
        let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
        let text = parsed
            .kernel(None)
            .expect("one kernel")
            .kernel()
            .to_string();
        text.contains("reduce(argm")
    };
    for body in ROWS[8..].iter().chain(&PARTS) {
        assert!(is_pair(body), "{body}");
    }
    for body in &OTHERS {
        assert!(!is_pair(body), "{body}");
    }
}
