//! Keys that are looked at in all lanes before the first of them goes by its own.

use crate::common::{Given, array, check, scalar};

/// `body` for each of `x` and `y`, in `lanes`, for outputs whose extents are numbers or are given.
fn kernel(body: &str, lanes: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i64, l: i64, x: f32[n], y: f64[n], z: i32[n], w: f32[n + 2], g: f32[6, 5], h: f32[m, l], c: i32[m]) {{
           affine.for i in 0..n {lanes} {{ {body} }}
         }}"
    )
}

fn given(x: &[f32]) -> Vec<Given> {
    let n = x.len();
    let y: Vec<f64> = x.iter().rev().map(|it| f64::from(*it)).collect();
    let z: Vec<i32> = (0..n).map(|it| (it * it % 4) as i32).collect();
    let w: Vec<f32> = (0..n + 2).map(|it| it as f32 * 0.5).collect();
    let (m, l) = (6, 5);
    vec![
        scalar(n as i64),
        scalar(m as i64),
        scalar(l as i64),
        array(x),
        array(&y),
        array(&z),
        array(&w),
        array(&[0.5_f32; 30]),
        array(&vec![0.25_f32; m * l]),
        array(&vec![1_i32; m]),
    ]
}

const BODIES: [&str; 8] = [
    "let a: i32 = i32(x[i]) g[a, z[i]] reduce(add) w[i + 2] - w[i]",
    "let a: i32 = i32(x[i]) let b: i32 = i32(y[i] * 0.9) g[a, b] reduce(add) w[i] h[a, b] reduce(max) w[i + 1]",
    "let a: i32 = i32(x[i]) let b: i32 = z[i] - 1
     let p: f32 = x[i] - f32(a)
     h[a, b + 1] reduce(add) p h[a + 1, b + 1] reduce(add) 1.0 - p h[a + 1, b + 2] reduce(add) p * p h[a, b + 2] reduce(add) w[i]",
    "let a: i32 = i32(x[i]) + 2 h[a - 2, 0] reduce(add) w[i] c[a - 1] reduce(add) 1",
    "let a: i32 = i32(x[i]) - 3 c[a + 3] reduce(add) 2 g[a + 4, 4 - z[i]] reduce(min) w[i]",
    "let a: i32 = i32(x[i]) scf.if w[i] > 3.0 { c[a + 1] reduce(add) 1 } c[a] reduce(add) 2",
    "let a: i32 = i32(x[i]) let k: i64 = i64(a) * 2 - i64(a) c[k] reduce(add) a g[a, 1] reduce(add) w[i]",
    "let a: i32 = i32(x[i]) let b: i32 = i32(f32(z[i]) * 0.9) h[a, b] reduce(add) w[i + 1] h[a + 1, b] reduce(add) w[i + 2] c[a] = a + b",
];

/// What is looked at around an inner body says nothing of what is added inside: too much, or too
/// little.
#[test]
fn an_inner_body_looks_at_what_it_adds_itself() {
    let add = |by: &str| format!("c[a {by}] reduce(add) 1 ");
    for (outer, inner) in [
        (["+ 0", "+ 0"], ["+ 5", "+ 6"]),
        (["+ 0", "+ 1"], ["+ 5", "+ 6"]),
        (["+ 0", "+ 0"], ["- 5", "- 4"]),
        (["- 1", "+ 0"], ["- 6", "- 5"]),
        (["+ 0", "+ 0"], ["- 1", "+ 1"]),
        (["+ 0", "+ 2"], ["+ 1", "+ 2"]),
    ] {
        let outer: String = outer.map(add).concat();
        let inner: String = inner.map(add).concat();
        let in_condition = format!("scf.if w[i] > 3.0 {{ {inner} }}");
        let in_loop = format!("affine.for t in 0..2 {{ {inner} }}");
        for (inside, lanes) in [
            (&in_condition, "lanes 4"),
            (&in_condition, "lanes 8"),
            (&in_condition, ""),
            (&in_loop, ""),
        ] {
            for key in ["i32(x[i])", "z[i] + 1"] {
                for number in -1..8 {
                    let mut x = vec![3.0; 13];
                    x[9] = number as f32;
                    let mut given = given(&x);
                    given[5] = array(&x.iter().map(|it| *it as i32 - 1).collect::<Vec<_>>());
                    let body = format!("let a: i32 = {key} {outer} {inside}");
                    let source = kernel(&body, lanes);
                    check(&source, &given).ok();
                }
            }
        }
    }
}

fn inside(count: usize) -> Vec<f32> {
    let each = (0..count).map(|it| (it * it % 47) as f32 / 9.5);
    each.collect()
}

#[test]
fn keys_in_range_go_where_they_should() {
    for body in BODIES {
        for lanes in [4, 8, 16] {
            for n in [0, 1, 4, 7, 16, 37] {
                let source = kernel(body, &format!("lanes {lanes}"));
                let outcome = check(&source, &given(&inside(n)));
                assert!(outcome.is_ok(), "{source}\n{outcome:?}");
            }
        }
    }
}

#[test]
fn a_key_out_of_range_fails_in_any_lane_and_what_is_no_number_is_zero() {
    let numbers = [
        (f32::NAN, true),
        (-0.75, true),
        (-1.0, false),
        (6.0, false),
        (3e9, false),
        (2_147_483_648.0, false),
        (-2_147_483_648.0, false),
        (f32::INFINITY, false),
        (f32::NEG_INFINITY, false),
    ];
    for body in BODIES {
        for (number, is_inside) in numbers {
            for at in 16..24 {
                let mut x = inside(37);
                x[at] = number;
                let source = kernel(body, "lanes 8");
                let outcome = check(&source, &given(&x));
                assert_eq!(
                    outcome.is_ok(),
                    is_inside,
                    "{source}\n{number}\n{outcome:?}"
                );
            }
        }
    }
}
