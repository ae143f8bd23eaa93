//! Quotients and remainders of iterators, which go from turn to turn without a division.

use crate::common::{array, check, kernel, scalar};
use strew_jit::{Options, Target, compile};
use strew_runtime::Mode;

/// `out` has a row for each quotient of numbers below 64.
fn over(bounds: &str, body: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i64, x: f64[n + 64], out: f64[n + 64, m]) {{
           affine.for i in {bounds} {{ {body} }}
         }}"
    )
}

#[track_caller]
fn runs(source: &str) {
    for (n, m) in [
        (0_usize, 3),
        (1, 1),
        (7, 1),
        (20, 2),
        (23, 5),
        (40, 7),
        (9, 50),
    ] {
        let x: Vec<f64> = (0..n + 64).map(|it| it as f64 * 0.75 + 1.0).collect();
        let out = vec![0.5; (n + 64) * m];
        let given = [scalar(n as i64), scalar(m as i64), array(&x), array(&out)];
        let outcome = check(source, &given);
        assert!(outcome.is_ok(), "{outcome:?}\n{source}");
    }
}

#[test]
fn they_are_those_of_every_turn() {
    let at = |added: i64| format!("out[(i + {added}) floordiv m, (i + {added}) mod m]");
    for bounds in [
        "0..n",
        "3..n",
        "0..n step 2",
        "1..n step 3",
        "0..n step 8",
        "max(2, m - 1)..min(n, 30)",
    ] {
        let alone = format!("{} reduce(add) x[i]", at(0));
        let unrolled: String = (0..4)
            .map(|it| format!("{} reduce(add) x[i + {it}]\n", at(it)))
            .collect();
        let far = format!("{} = x[i] {} = {}", at(20), at(0), at(45));
        let inside = format!(
            "affine.for j in 0..i mod m {{ {} reduce(add) x[j] }}",
            at(1)
        );
        let conditions = format!("affine.if (i floordiv m <= 2) {{ {} = x[i] }}", at(0));
        let by_two = format!("{} reduce(add) x[i floordiv n + i mod 3]", at(0));
        for body in [alone, unrolled, far, inside, conditions, by_two] {
            runs(&over(bounds, &body));
        }
    }
}

#[test]
fn numbers_below_zero_are_divided_towards_minus_infinity() {
    runs(&over(
        "-20..n",
        "out[(i + 20) floordiv m, i mod m] = x[i + 20]",
    ));
    runs(&over(
        "-9..n step 2",
        "out[16 + i floordiv m, (i - 3) mod m] reduce(add) x[i + 9]",
    ));
}

/// What is added is the same in all turns, and anything.
#[test]
fn sums_with_what_stays_are_divided_once() {
    for bounds in ["0..n", "1..n step 3", "0..n step 2", "2..min(n, m)"] {
        for added in [
            "n",
            "n floordiv 2",
            "3 * m + 1",
            "m - 1",
            "(n mod m) * 2",
            "n - n",
        ] {
            let number = |more: i64| format!("(i + {added} + {more})");
            let at = |more| format!("out[{0} floordiv m, {0} mod m]", number(more));
            let two = format!(
                "{} = x[i] {} reduce(add) x[{} mod m]",
                at(0),
                at(2),
                number(-1)
            );
            let other = format!(
                "{} = x[i mod m] out[i, (i - ({added})) mod m] = x[i]",
                at(1)
            );
            let condition = format!("affine.if (i + {added} <= 9) {{ {} = x[i] }}", at(0));
            let inside = format!(
                "affine.for j in 0..3 {{ out[(j + i + {added}) floordiv m, (j + i) mod m] reduce(add) x[j] }}"
            );
            for body in [two, other, condition, inside] {
                runs(&over(bounds, &body));
            }
        }
    }
    runs(
        "kernel @k(n: i64, m: i64, x: f64[n + 64], out: f64[n + 64, m]) {
           scf.forall i in 0..n strategy(auto) { affine.for j in 0..m { out[i, j] = x[(i + j) mod m] + x[(j - i) mod n] } }
         }",
    );
}

#[test]
fn loops_in_each_other_and_threads_have_their_own() {
    for source in [
        "kernel @k(n: i64, m: i64, x: f64[n + 64], out: f64[n + 64, m]) {
           scf.forall i in 0..n strategy(auto) { affine.for j in 0..3 { out[i floordiv m, i mod m] = x[i + j floordiv m] } }
         }",
        "kernel @k(n: i64, m: i64, x: f64[n + 64], out: f64[n + 64, m]) {
           affine.for i in 0..n { affine.for j in i floordiv m..i floordiv m + 9 {
             out[i floordiv m, j mod m] reduce(add) x[j floordiv m]
             out[j floordiv m, i mod m] reduce(add) x[j]
           } }
         }",
    ] {
        runs(source);
    }
}

/// Divisions stand in front of the loop alone.
#[test]
fn a_turn_divides_nothing() {
    for (bounds, body) in [
        ("0..n", "out[i floordiv m, 0] reduce(add) x[i mod m]"),
        ("0..n step 3", "out[i floordiv m, 0] reduce(add) x[i mod m]"),
        (
            "0..n step 2",
            "out[i floordiv m, 0] reduce(add) x[(i + 9) mod m]",
        ),
        ("0..n", "out[i floordiv m, 0] reduce(add) x[(i + 4) mod m]"),
        (
            "0..n",
            "out[(i + n + 1) floordiv m, 0] reduce(add) x[(i + n) mod m]",
        ),
    ] {
        let source = over(bounds, body);
        let options = Options {
            target: Target::Baseline,
            ..Options::default()
        };
        let code = compile(&kernel(&source), &options).expect("code");
        let text = code.clif(Mode::Stable).expect("its text");
        let turns = text.split("\nblock").filter(|it| it.contains("fadd"));
        let turns: Vec<_> = turns.collect();
        assert!(!turns.is_empty(), "{text}");
        assert!(turns.iter().all(|it| !it.contains("sdiv")), "{text}");
    }
}
