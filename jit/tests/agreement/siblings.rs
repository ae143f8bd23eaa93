//! Values that several conditions are followed by uses of.

use crate::common::{Given, array, check, kernel, scalar};
use strew_jit::{Options, Target, compile};
use strew_runtime::Mode;

/// Turns from below zero on, too: they come by another way.
fn over(begin: i64, body: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i32, x: f32[n + 5], y: f64[n + 5], out: f64[n + 5], c: i32[n + 5]) {{
           affine.for i in {begin}..n {{ {body} }}
         }}"
    )
}

const CORNERS: &str = "
  let u: f32 = f32(i32(i)) + x[i + 5]
  let k: i32 = i32(floor(u))
  let s: f32 = u - f32(k)
  let w: f64 = y[i + 5] * y[i + 5] - f64(k)
  let e: bool = s * 2.0 < 1.0
  scf.if k >= 0 && k < m { out[k] reduce(add) w * f64(s) }
  scf.if k + 1 >= 0 && k + 1 < m { out[k + 1] reduce(add) w * (1.0 - f64(s)) }
  let t: i32 = k * k - i32(w)
  scf.if k + 2 >= 0 && k + 2 < m && e { c[k + 2] reduce(add) t * t } else { c[i + 5] = t }
  scf.if k >= 0 && k < m { c[k] reduce(add) i32(e) + t }";

fn given(n: usize) -> Vec<Given> {
    let cells = n + 5;
    let x: Vec<f32> = (0..cells)
        .map(|it| (it * 7 % 11) as f32 * 0.8 - 3.0)
        .collect();
    let y: Vec<f64> = (0..cells)
        .map(|it| (it * 5 % 13) as f64 * 0.3 - 1.0)
        .collect();
    vec![
        scalar(n as i64),
        scalar(n as i32),
        array(&x),
        array(&y),
        array(&vec![0.5_f64; cells]),
        array(&vec![3_i32; cells]),
    ]
}

#[test]
fn they_are_the_same_behind_every_condition() {
    for begin in [-5, -1, 0, 2] {
        for n in [0, 1, 7, 40] {
            let source = over(begin, CORNERS);
            let outcome = check(&source, &given(n));
            assert!(outcome.is_ok(), "{outcome:?}\n{source}");
        }
    }
}

/// A scalar that is set goes on from condition to condition.
#[test]
fn scalars_that_are_set_are_left_alone() {
    let body = "
      var s: f32 = x[i + 5] * x[i + 5] + x[i + 5] * 3.0 - 1.0
      let r: f32 = s * s + s * 0.5 - f32(i32(s))
      scf.if s > 1.0 { out[i + 5] reduce(add) f64(r + s) s = s - 1.0 }
      scf.if s > 0.5 { out[i + 5] reduce(add) f64(r * s) s = s * r }
      out[i + 5] reduce(add) f64(s)";
    let source = over(-5, body);
    let outcome = check(&source, &given(30));
    assert!(outcome.is_ok(), "{outcome:?}\n{source}");
}

/// Where only places are looked at, nobody makes the values; some of the turns are made in lanes,
/// whose values are no others'.
#[test]
fn what_nobody_makes_is_not_handed_on() {
    let source = "kernel @k(n: i64, m: i32, k: i64, y: f32[n], out: i32[k], c: i64[k], f: f32[k]) {
      affine.for i in -5..n lanes 8 {
        let b: f32 = y[u64(i + 5) % u64(n)] * 3.0 + y[u64(i + 5) % u64(n)] * y[u64(i + 5) % u64(n)]
        scf.if i32(y[u64(i + 5) % u64(n)]) >= 0 && i64(m) < k { out[m] reduce(add) i32(b) - m } else { c[m mod m] = i64(i32(b)) }
        scf.if y[u64(i + 5) % u64(n)] >= 0.0 && i64(m) < k && m > 1 { f[m mod m] = b }
      }
    }";
    for (m, faults) in [(3, false), (2, false), (-4, true)] {
        let y: Vec<f32> = (0..100).map(|it| (it * 7 % 11) as f32 - 3.0).collect();
        let given = [
            scalar(100_i64),
            scalar(m),
            scalar(30_i64),
            array(&y),
            array(&[0_i32; 30]),
            array(&[0_i64; 30]),
            array(&[0.0_f32; 30]),
        ];
        let outcome = check(source, &given);
        assert_eq!(outcome.is_err(), faults, "{outcome:?}");
    }
}

/// To turn the place into a float again takes one conversion, whichever corners there are.
#[test]
fn they_are_made_once() {
    let options = Options {
        target: Target::Baseline,
        ..Options::default()
    };
    let code = compile(&kernel(&over(0, CORNERS)), &options).expect("code");
    let text = code.assembly(Mode::Stable).expect("assembly");
    let conversions = text.matches("cvtsi2ss").count();
    assert_eq!(conversions, 2, "{text}");
}
