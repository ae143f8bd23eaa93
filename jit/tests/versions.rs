//! Code for small sizes does what the code for all sizes does, bit by bit.

use std::num::NonZeroUsize;
use strew_affine::{Value, text, verify::verify};
use strew_jit::{Argument, ArrayMut, ArrayRef, Compiled, Faults, Options, Specialize, compile};
use strew_runtime::{Choice, Mode, Runtime, Settings};

/// Rows that are updated by what is gathered, in the forms that a schedule gives them; sums in lanes, in order, and of small products.
const ROWS: [&str; 4] = [
    "affine.for j in 0..d lanes 8 { y_p[r[i], j] reduce(add) v[i] * x[c[i], j] }",
    "affine.for j in 0..d lanes 4 { let t: f32 = x[c[i], j] y_p[r[i], j] reduce(add) t * t }",
    "affine.for j in 0..d { y_p[r[i], j] reduce(add) v[i] * x[c[i], j] }",
    "var s: f32 = 0.0
     affine.for j in 0..d lanes 8 { s reduce(add) x[c[i], j] * x[r[i], j] }
     affine.for l in 0..d lanes 8 { y_p[r[i], l] reduce(add) s }",
];

const ROW_COUNT: usize = 50;
const ITERATIONS: usize = 3000;

fn source(row: &str) -> String {
    format!(
        "kernel @k(n: i64, m: i32, d: i32, r: i32[n], c: i32[n], v: f32[n], x: f32[m, d], y: f32[m, d]) {{
           scf.forall i_c in 0..8 private(y_p: f32[m, d] = identity(add)) merge(y reduce(add) y_p) strategy(auto) {{
             affine.for i in (i_c * n) floordiv 8..(i_c * n + n) floordiv 8 {{ {row} }}
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

fn keys(seed: u64) -> Vec<i32> {
    let numbers = numbers(ITERATIONS, ROW_COUNT, seed).into_iter();
    numbers.map(|it| it as i32).collect()
}

/// The bits of `y` behind a call, and which sizes its code was made for.
fn run(
    code: &Compiled,
    columns: usize,
    threads: usize,
    settings: &Settings,
) -> (Vec<u32>, Vec<(String, i64)>) {
    let runtime = Runtime::new(NonZeroUsize::new(threads)).expect("a runtime");
    let (r, c, v) = (keys(1), keys(2), floats(ITERATIONS, 3));
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
        Argument::Write(ArrayMut::new(&mut y)),
    ];
    let outcome = code.call_with_record(&runtime, settings, &mut arguments);
    let sizes = outcome.expect("a run").sizes;
    (y.into_iter().map(f32::to_bits).collect(), sizes)
}

fn bits(code: &Compiled, columns: usize, threads: usize, settings: &Settings) -> Vec<u32> {
    run(code, columns, threads, settings).0
}

#[test]
fn results_have_the_same_bits_for_any_number_of_columns() {
    for row in ROWS {
        let source = source(row);
        let [general, special] =
            [Specialize::Never, Specialize::Always].map(|it| code(&source, it));
        for columns in [1, 2, 3, 4, 5, 7, 8, 12, 15, 16, 17, 20, 24, 31, 32, 33] {
            for mode in [Mode::Stable, Mode::Exact] {
                let settings = Settings {
                    mode,
                    ..Settings::default()
                };
                for threads in [1, 2, 4] {
                    let [expected, found] =
                        [&general, &special].map(|it| bits(it, columns, threads, &settings));
                    assert_eq!(
                        expected, found,
                        "{columns} columns, {mode:?}, {threads} threads\n{row}"
                    );
                }
            }
        }
    }
}

#[test]
fn strategies_by_name_give_the_same_bits() {
    let source = source(ROWS[0]);
    let [general, special] = [Specialize::Never, Specialize::Always].map(|it| code(&source, it));
    for name in [
        "serial", "dense", "blocked", "binned", "planned", "columns", "rows", "colored",
    ] {
        let strategy: Choice = name.parse().expect("a strategy");
        let settings = Settings {
            strategy,
            ..Settings::default()
        };
        for columns in [3, 8, 20] {
            let [expected, found] = [&general, &special].map(|it| bits(it, columns, 2, &settings));
            assert_eq!(expected, found, "{columns} columns, {name}");
        }
    }
}

/// Calls of general code and those of code for its sizes follow each other.
#[test]
fn a_kernel_called_again_and_again_gives_the_same_bits() {
    let source = source(ROWS[0]);
    let [never, worth_it] =
        [Specialize::Never, Specialize::WhenWorthIt].map(|it| code(&source, it));
    let settings = Settings::default();
    let expected: Vec<_> = [3, 8, 16].map(|it| bits(&never, it, 2, &settings)).into();
    for _ in 0..300 {
        let found: Vec<_> = [3, 8, 16]
            .map(|it| bits(&worth_it, it, 2, &settings))
            .into();
        assert!(expected == found);
    }
}

#[test]
fn code_is_made_for_small_sizes_alone() {
    let source = source(ROWS[0]);
    let settings = Settings::default();
    let sizes = |specialize, columns| run(&code(&source, specialize), columns, 1, &settings).1;
    assert_eq!(sizes(Specialize::Always, 8), [("d".to_owned(), 8)]);
    assert_eq!(sizes(Specialize::Always, 33), []);
    assert_eq!(sizes(Specialize::Never, 8), []);
    // One call takes less than to make code for it.
    assert_eq!(sizes(Specialize::WhenWorthIt, 8), []);
}
