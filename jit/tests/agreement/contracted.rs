//! Products that mode `fast` rounds once with the sums they go into, and the modes that do not.

use std::num::NonZeroUsize;
use strew_affine::{text, verify::verify};
use strew_jit::{Argument, ArrayMut, ArrayRef, Options, Target, compile, processor};
use strew_runtime::{Mode, Runtime, Settings};

/// Its square is less than half of what `1.0` is rounded to.
const SMALL: f64 = 1.0 / (1_u64 << 30) as f64;

/// What `statement` makes of `held` with a product that is a bit less than one, in each of some
/// elements.
fn updated(statement: &str, lanes: u32, held: f64, (mode, target): (Mode, Target)) -> Vec<f64> {
    let source = format!(
        "kernel @k(n: i64, a: f64[n], b: f64[n], out: f64[n]) {{
           affine.for i in 0..n lanes {lanes} {{ {statement} }}
         }}"
    );
    let kernel = verify(text::parse(&source).expect(&source).remove(0)).expect(&source);
    let options = Options {
        target,
        ..Options::default()
    };
    let compiled = compile(&kernel, &options).expect("machine code");
    let runtime = Runtime::shared(NonZeroUsize::new(1)).expect("a thread");
    let settings = Settings {
        mode,
        ..Settings::default()
    };
    let (a, b) = ([1.0 + SMALL; 5], [1.0 - SMALL; 5]);
    let mut out = [held; 5];
    let mut arguments = [
        Argument::Scalar(strew_affine::Value::i64(5)),
        Argument::Read(ArrayRef::new(&a)),
        Argument::Read(ArrayRef::new(&b)),
        Argument::Write(ArrayMut::new(&mut out)),
    ];
    let outcome = compiled.call_with_record(runtime, &settings, &mut arguments);
    outcome.expect(&source);
    out.to_vec()
}

fn contracts(target: Target) -> bool {
    let found = processor().expect("a processor");
    let has_fma = found.features.iter().any(|it| it == "fma");
    cfg!(target_arch = "aarch64") || target == Target::Native && has_fma
}

#[test]
fn products_are_rounded_with_their_sums_in_mode_fast_alone() {
    for target in [Target::Native, Target::Baseline] {
        for lanes in [1, 2, 4] {
            for (statement, held, once) in [
                ("out[i] reduce(add) a[i] * b[i]", -1.0, -SMALL * SMALL),
                ("out[i] reduce(add) -(a[i] * b[i])", 1.0, SMALL * SMALL),
                (
                    "let p: f64 = a[i] * b[i] out[i] reduce(add) p",
                    -1.0,
                    -SMALL * SMALL,
                ),
            ] {
                let fast = if contracts(target) { once } else { 0.0 };
                for (mode, expected) in
                    [(Mode::Exact, 0.0), (Mode::Stable, 0.0), (Mode::Fast, fast)]
                {
                    let found = updated(statement, lanes, held, (mode, target));
                    assert_eq!(
                        found, [expected; 5],
                        "{statement} {lanes} {mode:?} {target:?}"
                    );
                }
            }
        }
    }
}

#[test]
fn what_is_no_sum_of_many_is_rounded_as_it_is_written() {
    for statement in [
        "out[i] = a[i] * b[i] + out[i]",
        "out[i] = out[i] + a[i] * b[i]",
    ] {
        for mode in [Mode::Exact, Mode::Stable, Mode::Fast] {
            let found = updated(statement, 2, -1.0, (mode, Target::Native));
            assert_eq!(found, [0.0; 5], "{statement} {mode:?}");
        }
    }
}
