//! Code for small sizes does what the code for all sizes does, bit by bit.

use std::num::NonZeroUsize;
use strew_affine::{Value, text, verify::verify};
use strew_jit::{Argument, ArrayMut, ArrayRef, Compiled, Faults, Options, Specialize, compile};
use strew_runtime::{Body, Mode, Runtime, Settings};

/// Bodies of a loop over `i`: rows that are updated by what is gathered, in the forms that a
/// schedule gives them; sums in lanes, in order, and of small products; statements that lanes make
/// turn by turn, with others behind them; distances and keys that are products.
const BODIES: [&str; 10] = [
    "affine.for j in 0..d lanes 8 { y_p[r[i], j] reduce(add) v[i] * x[c[i], j] }",
    "affine.for j in 0..d lanes 4 { let t: f32 = x[c[i], j] y_p[r[i], j] reduce(add) t * t }",
    "affine.for j in 0..d { y_p[r[i], j] reduce(add) v[i] * x[c[i], j] }",
    "affine.for j in 0..d { y_p[r[i], 0] reduce(add) x[c[i], j] }
     y_p[r[i], 0] reduce(add) v[i]",
    "var s: f32 = 0.0
     affine.for j in 0..d lanes 8 { s reduce(add) x[c[i], j] * x[r[i], j] }
     affine.for l in 0..d lanes 8 { y_p[r[i], l] reduce(add) s }",
    "affine.for j in 0..d lanes 4 {
       let t: f32 = (x[c[i], j] * 2.0 + 1.0) * x[c[i], j]
       y_p[r[i], 0] reduce(add) t
     }
     y_p[r[i], 0] reduce(add) v[i]",
    "var s: f32 = 0.0
     affine.for j in 0..d lanes 4 {
       let t: f32 = (x[c[i], j] * 2.0 + 1.0) * x[c[i], j]
       s reduce(add) t * z[j * d]
     }
     y_p[r[i], 0] reduce(add) s",
    "affine.for j in 0..d { y_p[r[i], j] reduce(add) z[c[i] * d + i32(j)] }",
    "affine.for j in 0..d lanes 8 {
       let b: i32 = i32((x[c[i], j] + 50.0) * 0.3)
       y_p[b, 0] reduce(add) x[c[i], j]
       y_p[b, d - 1] reduce(add) v[i]
     }",
    "affine.for j in 0..d lanes 8 {
       let b: i32 = i32((x[c[i], j] + 50.0) * 0.3)
       y_p[b, 0] reduce(add) x[c[i], j]
     }
     affine.for l in 0..d lanes 8 { y_p[r[i], l] reduce(add) v[i] }",
];

const ROW_COUNT: usize = 50;
const ITERATIONS: usize = 3000;

fn source(body: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i32, d: i32, r: i32[n], c: i32[n], v: f32[n], x: f32[m, d], z: f32[m * d + d * d], y: f32[m, d]) {{
           scf.forall i_c in 0..8 private(y_p: f32[m, d] = identity(add)) merge(y reduce(add) y_p) strategy(auto) {{
             affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {{ {body} }}
           }}
         }}"
    )
}

fn code(source: &str, specialize: Specialize) -> Compiled {
    let kernel = text::parse(source).expect("a kernel").remove(0);
    let kernel = verify(kernel).expect("a kernel that keeps the rules");
    let options = Options {
        // Bodies in other shapes come with such code alone.
        faults: Faults::Bare,
        specialize,
        ..Options::default()
    };
    compile(&kernel, &options).expect("code")
}

/// Numbers below `below`, the same ones each time.
fn numbers(count: usize, below: usize, seed: u64) -> Vec<usize> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005);
        state = state.wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    (0..count).map(|_| next()).collect()
}

fn floats(count: usize, seed: u64) -> Vec<f32> {
    let numbers = numbers(count, 1 << 20, seed).into_iter();
    numbers.map(|it| it as f32 / 1e4 - 50.0).collect()
}

/// The order of keys.
#[derive(Clone, Copy, Debug)]
enum Order {
    Any,
    Sorted,
    /// Most of them are one.
    Skewed,
}

fn keys(order: Order, seed: u64) -> Vec<i32> {
    let numbers = numbers(ITERATIONS, ROW_COUNT, seed).into_iter();
    let mut keys: Vec<_> = numbers.map(|it| it as i32).collect();
    match order {
        Order::Any => {}
        Order::Sorted => keys.sort_unstable(),
        Order::Skewed => keys.iter_mut().step_by(2).for_each(|it| *it = 7),
    }
    keys
}

/// The bits of `y` behind a call, and which sizes its code was made for.
fn run(
    code: &Compiled,
    columns: usize,
    (order, threads): (Order, usize),
    settings: &Settings,
) -> (Vec<u32>, Vec<(String, i64)>) {
    let runtime = Runtime::new(NonZeroUsize::new(threads)).expect("a runtime");
    let (r, c, v) = (keys(order, 1), keys(Order::Any, 2), floats(ITERATIONS, 3));
    let z = floats(ROW_COUNT * columns + columns * columns, 6);
    let (x, mut y) = (
        floats(ROW_COUNT * columns, 4),
        floats(ROW_COUNT * columns, 5),
    );
    let mut arguments = [
        Argument::Scalar(Value::i64(ITERATIONS as i64)),
        Argument::Scalar(Value::integer(strew_affine::Type::I32, ROW_COUNT as i128)),
        Argument::Scalar(Value::integer(strew_affine::Type::I32, columns as i128)),
        Argument::Read(ArrayRef::new(&r)),
        Argument::Read(ArrayRef::new(&c)),
        Argument::Read(ArrayRef::new(&v)),
        Argument::Read(ArrayRef::new(&x)),
        Argument::Read(ArrayRef::new(&z)),
        Argument::Write(ArrayMut::new(&mut y)),
    ];
    let outcome = code.call_with_record(&runtime, settings, &mut arguments);
    let sizes = outcome.expect("a run").sizes;
    (y.into_iter().map(f32::to_bits).collect(), sizes)
}

/// General code, and code for the sizes of each call.
fn both(body: &str) -> [Compiled; 2] {
    [Specialize::Never, Specialize::Always].map(|it| code(&source(body), it))
}

/// Both give the same bits, and the latter is for `columns`.
#[track_caller]
fn check([general, special]: &[Compiled; 2], columns: usize, settings: &Settings, what: &str) {
    for order in [Order::Any, Order::Sorted, Order::Skewed] {
        for threads in [1, 2, 4] {
            let (expected, none) = run(general, columns, (order, threads), settings);
            let (found, sizes) = run(special, columns, (order, threads), settings);
            assert!(none.is_empty() && sizes == [("d".to_owned(), columns as i64)]);
            assert_eq!(
                expected, found,
                "{columns} columns, {order:?}, {threads} threads, {settings:?}\n{what}"
            );
        }
    }
}

#[test]
fn results_have_the_same_bits_for_any_number_of_columns() {
    for body in BODIES {
        // So many versions are made of one kernel.
        for some in [[1, 2, 3, 4, 5, 7, 8, 12], [13, 15, 16, 17, 20, 24, 31, 32]] {
            let codes = both(body);
            for columns in some {
                for mode in [Mode::Stable, Mode::Exact] {
                    let settings = Settings {
                        mode,
                        ..Settings::default()
                    };
                    check(&codes, columns, &settings, body);
                }
            }
        }
    }
}

#[test]
fn updates_are_combined_in_the_same_groups() {
    for body in BODIES {
        let codes = both(body);
        for shape in [Body::Direct, Body::RunLength, Body::Partials, Body::Tables] {
            let settings = Settings {
                body: shape,
                ..Settings::default()
            };
            for columns in [3, 4, 7, 8, 9, 13, 20] {
                check(&codes, columns, &settings, body);
            }
        }
    }
}

#[test]
fn strategies_by_name_give_the_same_bits() {
    let codes = both(BODIES[0]);
    for name in [
        "serial", "dense", "blocked", "binned", "planned", "columns", "rows", "colored",
    ] {
        let settings = Settings {
            strategy: name.parse().expect("a strategy"),
            ..Settings::default()
        };
        for columns in [3, 8, 20] {
            check(&codes, columns, &settings, name);
        }
    }
}

/// Calls of general code and those of code for its sizes follow each other.
#[test]
fn a_kernel_called_again_and_again_gives_the_same_bits() {
    let source = source(BODIES[0]);
    let [never, worth_it] =
        [Specialize::Never, Specialize::WhenWorthIt].map(|it| code(&source, it));
    let settings = Settings::default();
    for columns in [3, 8, 16] {
        let (expected, _) = run(&never, columns, (Order::Any, 2), &settings);
        let mut calls = (0..100_000).map(|_| run(&worth_it, columns, (Order::Any, 2), &settings));
        let last = calls.find(|(found, sizes)| {
            assert_eq!(expected, *found);
            !sizes.is_empty()
        });
        assert!(last.is_some(), "no code was made for {columns} columns");
    }
}

#[test]
fn code_is_made_for_small_sizes_alone_and_for_a_few() {
    let source = source(BODIES[0]);
    let settings = Settings::default();
    let sizes = |code: &Compiled, columns| run(code, columns, (Order::Any, 1), &settings).1;
    let always = code(&source, Specialize::Always);
    assert_eq!(sizes(&always, 33), []);
    let made = (1..=32).filter(|it| !sizes(&always, *it).is_empty());
    assert_eq!(made.collect::<Vec<_>>(), (1..=8).collect::<Vec<_>>());
    assert_eq!(sizes(&always, 8), [("d".to_owned(), 8)]);
    assert_eq!(sizes(&code(&source, Specialize::Never), 8), []);
}
