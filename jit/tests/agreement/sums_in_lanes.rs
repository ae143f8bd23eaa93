//! Loops in lanes whose turns all update one element, or a scalar where a condition holds.

use crate::common::{Cells, Given, array, check_with, executed, interpreted, kernel, scalar};
use crate::lanes::{TYPES, compiled};
use strew_affine::interpret::ForallOrder;
use strew_affine::verify::verify;
use strew_affine::{Combiner, Type, Value, text};
use strew_jit::{Options, compile};
use strew_runtime::{Body, Choice, Mode, STRATEGIES, Settings, Strategy};

const COUNTS: [usize; 3] = [0, 17, 100];

/// `count` values of `ty`, some of them zeros of both signs, not a number, or at the end of the
/// range.
fn cells(ty: Type, count: usize, seed: usize) -> Given {
    let special = [0.0, -0.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let value = |at: usize| {
        let number = (at * seed + at / 3) % 23;
        match (ty.integer_range(), special.get(number)) {
            (Some((low, high)), Some(_)) => Value::integer(ty, [low, high][number % 2]),
            (Some(_), None) => Value::integer(ty, (number as i128) - 7),
            (None, Some(special)) => Value::float(ty, *special),
            (None, None) => Value::float(ty, number as f64 / 4.0 - 3.0),
        }
    };
    Given::Array(Cells::of(ty, &(0..count).map(value).collect::<Vec<_>>()))
}

/// `count` values of `ty` around 1.
fn near_one(ty: Type, count: usize) -> Given {
    let value = |at: usize| Value::float(ty, 0.75 + ((at * 37) % 101) as f64 / 202.0);
    Given::Array(Cells::of(ty, &(0..count).map(value).collect::<Vec<_>>()))
}

fn settings(mode: Mode) -> Settings {
    Settings {
        mode,
        ..Settings::default()
    }
}

/// Runs `body` for all elements of `a` and `b`; whether there are lanes for it.
#[track_caller]
fn runs(ty: Type, body: &str) -> bool {
    let source = format!(
        "kernel @k(n: i64, a: {ty}[n], b: {ty}[n], e: {ty}[2], o: {ty}[3]) {{
           affine.for i in 0..2 {{
             var r: {ty} = e[i]
             affine.for j in 0..n lanes 16 {{ {body} }}
             o[2 - i] = r
           }}
         }}"
    );
    let parsed = text::parse(&source).unwrap_or_else(|errors| panic!("{source}\n{errors:?}"));
    if verify(parsed.into_iter().next().expect("a kernel")).is_err() {
        return false;
    }
    for n in COUNTS {
        let given = [
            scalar(n as i64),
            cells(ty, n, 5),
            cells(ty, n, 7),
            cells(ty, 2, 3),
            cells(ty, 3, 11),
        ];
        let outcome = check_with(&source, &given, &settings(Mode::Exact));
        assert!(outcome.is_ok(), "{source}\n{outcome:?}");
    }
    true
}

#[test]
fn all_turns_update_one_element() {
    for ty in TYPES {
        for combiner in Combiner::built_in() {
            let is_one = combiner.parts() == 1 && combiner.bodies(&[ty]).is_some();
            if is_one {
                let update = format!("e[i] reduce({combiner}) a[j]");
                assert!(runs(ty, &update), "{ty} {combiner}");
            }
        }
    }
}

#[test]
fn turns_update_where_a_condition_holds() {
    for ty in TYPES {
        for combiner in Combiner::built_in() {
            let is_one = combiner.parts() == 1 && combiner.bodies(&[ty]).is_some();
            let name = combiner.to_string();
            if !is_one {
                continue;
            }
            for body in [
                format!("scf.if a[j] < b[j] {{ r reduce({name}) a[j] }}"),
                format!("scf.if a[j] < b[j] {{ }} else {{ e[1] reduce({name}) a[j] }}"),
                format!(
                    "scf.if a[j] < b[j] {{ r reduce({name}) 3 }} else {{ e[i] reduce({name}) b[j] }}"
                ),
                format!("scf.if r < b[0] {{ e[i] reduce({name}) a[j] }}"),
            ] {
                let body = match ty.is_float() {
                    true => body.replace(" 3 ", " 3.0 "),
                    false => body,
                };
                let known = runs(ty, &body);
                let is_needed = matches!(name.as_str(), "add" | "xor");
                assert!(known || !is_needed, "{ty} {body}");
            }
        }
    }
}

#[test]
fn conditional_sums_that_round_are_grouped_by_lanes_unless_they_must_be_exact() {
    let sum = |condition: &str| {
        format!(
            "kernel @k(n: i64, a: f64[n], o: f64[1]) {{
               affine.for j in 0..n lanes 8 {{ {condition} {{ o[0] reduce(add) a[j] }} }}
             }}"
        )
    };
    let source = sum("scf.if a[j] > 0.9");
    let kernel = kernel(&source);
    let code = compile(&kernel, &Options::default()).expect("code");
    let given = [
        scalar(1000_i64),
        near_one(Type::F64, 1000),
        near_one(Type::F64, 1),
    ];
    let run = |mode| executed(&code, &given, 1, &settings(mode)).expect("a run");
    let exact = interpreted(&kernel, &given, ForallOrder::Forward).expect("a run");
    assert_eq!(run(Mode::Exact), exact);
    let stable = run(Mode::Stable);
    assert_ne!(stable, exact, "lanes add in another order");
    let of = |cells: &[Vec<Value>]| cells[1][0].as_float().expect("a sum");
    assert!((of(&stable) - of(&exact)).abs() <= 1e-12 * of(&exact));
}

/// Whatever the updates meet in, and on however many threads, a sum has the same bits.
#[test]
fn private_sums_by_every_strategy_and_body() {
    let source = "kernel @k(n: i64, a: f64[n], s: f64[1], least: f64[1], count: i64[1]) {
       scf.forall c in 0..4 private(p: f64[1] = identity(add), q: f64[1] = identity(min), r: i64[1] = identity(add))
           merge(s reduce(add) p, least reduce(min) q, count reduce(add) r) strategy(auto) {
         affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 lanes 4 {
           p[0] reduce(add) a[i] * a[i]
           scf.if a[i] > 1.0 { r[0] reduce(add) 1 }
           q[0] reduce(min) a[i]
         }
       }
     }";
    let kernel = kernel(source);
    let code = compiled(source);
    for n in [0_usize, 3, 40, 1000] {
        let given = [
            scalar(n as i64),
            near_one(Type::F64, n),
            near_one(Type::F64, 1),
            near_one(Type::F64, 1),
            Given::Array(Cells::of(Type::I64, &[Value::integer(Type::I64, 5)])),
        ];
        let exact = interpreted(&kernel, &given, ForallOrder::Forward).expect("a run");
        let takes_any =
            |it: &&&dyn Strategy| ["serial", "dense", "blocked", "binned"].contains(&it.name());
        for strategy in STRATEGIES.iter().filter(takes_any).copied() {
            let mut found = Vec::new();
            for body in [Body::Auto, Body::Direct, Body::RunLength] {
                for threads in [1, 2, 3] {
                    let settings = Settings {
                        strategy: Choice::Named(strategy),
                        body,
                        ..settings(Mode::Stable)
                    };
                    found.push(executed(&code, &given, threads, &settings).expect("a run"));
                }
            }
            for one in &found {
                assert_eq!(Some(one), found.first(), "{}", strategy.name());
                assert_eq!(one[2..], exact[2..], "{}", strategy.name());
                let [sum, expected] = [one, &exact].map(|it| it[1][0].as_float().expect("a sum"));
                assert!(
                    (sum - expected).abs() <= 1e-12 * expected,
                    "{}",
                    strategy.name()
                );
            }
        }
    }
}

/// Which of these strategies runs may depend on memory and threads.
#[test]
fn sums_of_rows_have_the_bits_of_the_loop_by_every_strategy_that_keeps_its_order() {
    let source = "kernel @k(n: i64, m: i64, key: i32[n], a: f64[n, m], h: f64[40]) {
       scf.forall c in 0..4 private(p: f64[40] = identity(add)) merge(h reduce(add) p) strategy(auto) {
         affine.for i in (c * n) floordiv 4..(c * n + n) floordiv 4 {
           affine.for j in 0..m lanes 8 { p[key[i]] reduce(add) a[i, j] }
         }
       }
     }";
    let code = compiled(source);
    let keys: Vec<i32> = (0..90).map(|it| it * 7 % 40).collect();
    for m in [3, 8, 37] {
        let given = [
            scalar(90_i64),
            scalar(m as i64),
            array(&keys),
            near_one(Type::F64, 90 * m),
            near_one(Type::F64, 40),
        ];
        let exact = executed(&code, &given, 1, &settings(Mode::Exact)).expect("a run");
        for strategy in STRATEGIES.iter().copied() {
            if !["serial", "binned", "planned"].contains(&strategy.name()) {
                continue;
            }
            let settings = Settings {
                strategy: Choice::Named(strategy),
                ..settings(Mode::Stable)
            };
            let found = executed(&code, &given, 2, &settings).expect("a run");
            assert_eq!(found, exact, "{} {m}", strategy.name());
        }
    }
}

#[test]
fn loops_of_which_the_turns_are_known_add_up_in_the_same_order() {
    for update in [
        "h[i] reduce(add) a[i, j]",
        "scf.if a[i, j] > 0.9 { h[i] reduce(add) a[i, j] }",
        "scf.if a[i, j] > 0.9 { s reduce(add) a[i, j] }",
    ] {
        let source = |turns: &str| {
            format!(
                "kernel @k(n: i64, m: i64, a: f64[n, m], h: f64[n]) {{
                   affine.for i in 0..n {{
                     var s: f64 = 0.0
                     affine.for j in 0..{turns} lanes 4 {{ {update} }}
                     h[i] = h[i] + s
                   }}
                 }}"
            )
        };
        for m in [2_usize, 5, 8, 11, 31] {
            let given = [
                scalar(20_i64),
                scalar(m as i64),
                near_one(Type::F64, 20 * m),
                near_one(Type::F64, 20),
            ];
            let run = |turns: &str| {
                let code = compiled(&source(turns));
                executed(&code, &given, 1, &settings(Mode::Stable)).expect("a run")
            };
            assert_eq!(run("m"), run(&m.to_string()), "{update} {m}");
        }
    }
}
