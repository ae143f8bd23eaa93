//! Elements that lanes pick by what they compute, of which all lanes are looked at together before.

use crate::common::{Given, array, check, scalar};

const SIDE: usize = 9;

/// The element of `t` or of `u`, of so many and so many by so many elements, by numbers below eight
/// and above zero.
const BODIES: [&str; 7] = [
    "let k: i32 = i32(x[i]) out[i] = t[k]",
    "let k: i32 = i32(x[i]) out[i] = t[k - 1] + t[k + 1] * t[k]",
    "let k: i32 = i32(x[i]) let l: i32 = i32(y[i]) out[i] = u[k, l] + u[k + 1, l] * u[k, l + 1]",
    "var k: i32 = i32(x[i]) k reduce(min) m - 2 out[i] = t[k] + t[k + 1]",
    "var k: i32 = i32(x[i]) let s: f32 = t[k] k = k + 1 out[i] = s + t[k]",
    "let k: i32 = i32(x[i]) let l: i32 = k + i32(y[i]) - i32(y[i]) out[i] = t[k + 1] + t[l - 1] + u[l, k]",
    "let k: i64 = i64(i32(x[i])) out[i] = t[k] * t[k + 1]",
];

fn over(body: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i32, x: f32[n], y: f32[n], t: f32[m], u: f32[m, m], out: f32[n]) {{
           affine.for i in 0..n lanes 4 {{ {body} }}
         }}"
    )
}

fn given(x: &[f32], y: &[f32]) -> Vec<Given> {
    let cells = |count: usize| -> Vec<f32> { (0..count).map(|it| it as f32 * 0.75).collect() };
    vec![
        scalar(x.len() as i64),
        scalar(SIDE as i32),
        array(x),
        array(y),
        array(&cells(SIDE)),
        array(&cells(SIDE * SIDE)),
        array(&cells(x.len())),
    ]
}

/// From 1 to 7, and what follows a comma.
fn inside(count: usize) -> Vec<f32> {
    (0..count).map(|it| 1.5 + (it * 5 % 7) as f32).collect()
}

#[test]
fn elements_in_range_are_picked() {
    for body in BODIES {
        for n in [0, 3, 4, 13, 32] {
            let (x, y) = (inside(n), inside(n));
            let outcome = check(&over(body), &given(&x, &y));
            assert!(outcome.is_ok(), "{outcome:?}\n{body}");
        }
    }
}

/// In the first group and in a later one, in the first lane and the last, in what is left: below
/// zero, at both ends, and at those of the type.
#[test]
fn any_lane_out_of_range_is_found() {
    let n = 13;
    for body in BODIES {
        let mut faults = 0;
        for lane in [0, 3, 6, 7, 12] {
            for wrong in [-1.0, 0.0, 8.0, 9.0, -3e9, 3e9, f32::NAN] {
                let (mut x, y) = (inside(n), inside(n));
                x[lane] = wrong;
                faults += usize::from(check(&over(body), &given(&x, &y)).is_err());
                let (x, mut y) = (inside(n), inside(n));
                y[lane] = wrong;
                check(&over(body), &given(&x, &y)).ok();
            }
        }
        assert!(faults >= 10, "{faults} {body}");
    }
}

/// A constant that is added where a condition holds is not among those that are looked at together.
#[test]
fn what_is_not_sure_to_be_read_is_checked_for_itself() {
    for body in [
        "let k: i32 = i32(x[i]) out[i] = t[k] + t[k + 1] + (y[i] > 0.0 ? t[k + 5] : 0.0)",
        "let k: i32 = i32(x[i]) let b: bool = y[i] > 0.0 && t[k + 6] < 1.0 out[i] = t[k] * t[k + 1] scf.if b { out[i] = 0.0 }",
    ] {
        for (y, is_ok) in [(-1.0, true), (1.0, false)] {
            let x = inside(21);
            let outcome = check(&over(body), &given(&x, &vec![y; x.len()]));
            assert_eq!(outcome.is_ok(), is_ok, "{outcome:?} {body}");
        }
    }
}
