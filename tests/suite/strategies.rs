//! Every strategy with every body, on every combiner, element type and order of keys: which of them
//! run, and that what they compute is what their order of combination says.

use crate::combiners::{cases, source};
use crate::data::{Data, Outcome, is_close, is_same};
use crate::engines::{agree, compiled};
use crate::random::Random;
use std::collections::{BTreeMap, BTreeSet};
use strew::ir::{Type, Value};
use strew::{Body, Compiler, Kernel, Mode};

const BODIES: [Body; 4] = [Body::Direct, Body::RunLength, Body::Partials, Body::Tables];
const ORDERS: [&str; 5] = ["uniform", "sorted", "constant", "two", "clustered"];
const OUTPUTS: usize = 41;

/// Each by its name.
pub(crate) fn strategies() -> impl Iterator<Item = String> {
    let all = [strew::Strategy::Auto].into_iter();
    all.chain(strew::Strategy::named()).map(|it| it.to_string())
}

/// The intermediate representation has a list of its own, since it does not know the runtime.
#[test]
fn kernels_name_the_strategies_that_there_are() {
    let names: Vec<_> = strategies().collect();
    assert_eq!(names, strew::ir::STRATEGIES);
}

fn keys(order: &str, count: usize, outputs: usize) -> Vec<Value> {
    let mut random = Random(7);
    let mut key = |position: usize| match order {
        "uniform" => random.next() as usize % outputs,
        "sorted" => position * outputs / count,
        "constant" => outputs / 2,
        "clustered" => (position / 64 * 17 + random.next() as usize % 3) % outputs,
        _ => random.next() as usize % 2 * (outputs - 1),
    };
    let keys = (0..count).map(|position| key(position) as i128);
    keys.map(|key| Value::integer(Type::I32, key)).collect()
}

/// Numbers up to `span`, and among the floats, unless that is 1, both zeros, both infinities, NaN,
/// and denormal ones of both types.
fn values(ty: Type, count: usize, span: i64) -> Vec<Value> {
    const ODD: [f64; 7] = [
        -0.0,
        0.0,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
        1e-310,
        -1e-40,
    ];
    let mut random = Random(u64::from(ty.bits()));
    let low = if ty.is_signed() || ty.is_float() {
        -span
    } else {
        0
    };
    let mut value = |position: usize| match ODD.get(position % 97) {
        Some(odd) if ty.is_float() && span > 1 => Value::float(ty, *odd),
        _ => random.value(ty, low, span),
    };
    (0..count).map(&mut value).collect()
}

fn data(ty: Type, span: i64, order: &str, (count, outputs): (usize, usize)) -> Data {
    let size = |count: usize| Value::i64(count as i64);
    let scalars = [("n", size(count)), ("m", size(outputs))];
    let arrays = [
        ("key", keys(order, count, outputs)),
        ("x", values(ty, count, span)),
        ("out", values(ty, outputs, span)),
    ];
    Data {
        scalars: scalars.map(|(name, value)| (name.to_owned(), value)).into(),
        arrays: arrays
            .map(|(name, values)| (name.to_owned(), values))
            .into(),
    }
}

fn kernel(ty: Type, statement: &str) -> Kernel {
    let program = Compiler::new().compile("k.c", source(ty, statement));
    program.expect("a program").kernel("k").expect("a kernel")
}

/// The cells of a strategy in a mode: combiners and types of elements.
#[derive(Default)]
struct Tally {
    ran: BTreeSet<String>,
    /// By the reason.
    refused: BTreeMap<String, BTreeSet<String>>,
}

impl Tally {
    fn add(&mut self, cell: String, outcome: Result<(), String>) {
        match outcome {
            Ok(()) => self.ran.insert(cell),
            Err(reason) => self.refused.entry(reason).or_default().insert(cell),
        };
    }
}

#[expect(clippy::print_stderr, reason = "it is there to be looked at")]
fn show(tallies: &BTreeMap<(String, String), Tally>) {
    let listed = |cells: &BTreeSet<String>| {
        let cells: Vec<_> = cells.iter().map(String::as_str).collect();
        format!("{}: {}", cells.len(), cells.join(", "))
    };
    for ((strategy, mode), Tally { ran, refused }) in tallies {
        eprintln!("{strategy} {mode}");
        eprintln!("  ran {}", listed(ran));
        for (reason, cells) in refused {
            eprintln!("  refused {}", listed(cells));
            eprintln!("    {reason}");
        }
    }
}

#[test]
fn every_strategy_computes_what_its_order_says() {
    let mut tallies = BTreeMap::<_, Tally>::new();
    for (name, statement, ty) in cases() {
        let kernel = kernel(ty, statement);
        // Products of more would leave the range of the type in one order and not in another.
        let span = if name == "mul" { 1 } else { 100 };
        for order in ORDERS {
            let data = data(ty, span, order, (1003, OUTPUTS));
            let serial = compiled(&kernel.clone().strategy(named("serial")), &data);
            for (strategy, body) in strategies().flat_map(|it| BODIES.map(|b| (it.clone(), b))) {
                for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
                    let what = format!("{name} {ty} {order} {strategy} {body} {mode:?}");
                    let kernel = kernel
                        .clone()
                        .strategy(named(&strategy))
                        .body(body)
                        .mode(mode);
                    let tally = tallies
                        .entry((strategy.clone(), format!("{mode:?}")))
                        .or_default();
                    let outcome = cell(&what, &kernel, mode, &data, &serial);
                    tally.add(format!("{name} {ty}"), outcome);
                }
            }
        }
    }
    show(&tallies);
    let refused = tallies
        .iter()
        .filter(|(_, tally)| !tally.refused.is_empty());
    let refused: Vec<_> = refused
        .map(|((strategy, mode), _)| (strategy.as_str(), mode.as_str()))
        .collect();
    let expected = [
        ("atomic", "Exact"),
        ("atomic", "Fast"),
        ("atomic", "Stable"),
        ("blocked", "Exact"),
        ("colored", "Exact"),
        ("colored", "Fast"),
        ("colored", "Stable"),
        ("columns", "Exact"),
        ("columns", "Fast"),
        ("columns", "Stable"),
        ("dense", "Exact"),
        ("rows", "Exact"),
        ("rows", "Fast"),
        ("rows", "Stable"),
    ];
    assert_eq!(refused, expected);
}

/// Combiners that a file declares, with the type of their elements and a statement: sums of
/// logarithms, products of what lies above or below the elements, and sums that are divided by
/// constants.
const DECLARED: [(&str, Type, &str); 6] = [
    (
        "lae",
        Type::F64,
        "static double lae(double a, double b) {
           if (a == -INFINITY || b == -INFINITY)
             return a == -INFINITY ? b : a;
           return fmax(a, b) + log1p(exp(-fabs(a - b)));
         }
         #pragma strew declare reduction(lae : double : lae(a, b)) identity(-INFINITY)",
    ),
    (
        "lae",
        Type::F32,
        "static float lae(float a, float b) {
           if (a == -INFINITY || b == -INFINITY)
             return a == -INFINITY ? b : a;
           return fmaxf(a, b) + log1pf(expf(-fabsf(a - b)));
         }
         #pragma strew declare reduction(lae : float : lae(a, b)) identity(-INFINITY)",
    ),
    (
        "both",
        Type::U32,
        "static unsigned both(unsigned a, unsigned b) { return a + b + a * b; }
         #pragma strew declare reduction(both : uint32_t : both(a, b)) identity(0)",
    ),
    (
        "shifted",
        Type::I64,
        "static int64_t shifted(int64_t a, int64_t b) {
           int64_t both = a * b;
           return both - a - b + 2;
         }
         #pragma strew declare reduction(shifted : int64_t : shifted(a, b)) identity(2)",
    ),
    (
        "packed",
        Type::U32,
        "static uint32_t packed(uint32_t a, uint32_t b) {
           return (a / 1024 + b / 1024) * 1024 + (a % 1024u + b % 1024u) % 1024;
         }
         #pragma strew declare reduction(packed : uint32_t : packed(a, b)) identity(0)",
    ),
    (
        "negative",
        Type::I8,
        "static int8_t negative(int8_t a, int8_t b) { return (int8_t)((a + b) / -1 * -1); }
         #pragma strew declare reduction(negative : int8_t : negative(a, b)) identity(0)",
    ),
];

fn declared(name: &str, ty: Type, declaration: &str) -> Kernel {
    let statement = format!("out[key[i]] = {name}(out[key[i]], x[i]);");
    let text = format!("{declaration}\n{}", source(ty, &statement));
    let program = Compiler::new().compile("k.c", text).expect("a program");
    let warnings = program.warnings().to_string();
    assert!(!warnings.contains("W10"), "{warnings}");
    program.kernel("k").expect("a kernel")
}

#[test]
fn every_strategy_takes_combiners_that_a_file_declares() {
    let mut tallies = BTreeMap::<_, Tally>::new();
    for (name, ty, declaration) in DECLARED {
        let kernel = declared(name, ty, declaration);
        let text = kernel.compiled().kernel().to_string();
        assert!(
            text.contains(&format!("merge(out reduce({name}) out_p)")),
            "{text}"
        );
        for order in ORDERS {
            let data = data(ty, 100, order, (1003, OUTPUTS));
            let serial = compiled(&kernel.clone().strategy(named("serial")), &data);
            for (strategy, mode) in strategies().flat_map(|it| {
                [Mode::Fast, Mode::Stable, Mode::Exact].map(|mode| (it.clone(), mode))
            }) {
                let what = format!("{name} {ty} {order} {strategy} {mode:?}");
                let kernel = kernel.clone().strategy(named(&strategy)).mode(mode);
                let tally = tallies
                    .entry((strategy.clone(), format!("{mode:?}")))
                    .or_default();
                let outcome = cell(&what, &kernel, mode, &data, &serial);
                tally.add(format!("{name} {ty}"), outcome);
            }
        }
    }
    show(&tallies);
    let whole = |strategy: &str, mode: &str| {
        let tally = &tallies[&(strategy.to_owned(), mode.to_owned())];
        (!tally.ran.is_empty(), !tally.refused.is_empty())
    };
    for mode in ["Fast", "Stable", "Exact"] {
        for strategy in ["auto", "serial", "binned"] {
            assert_eq!(whole(strategy, mode), (true, false), "{strategy} {mode}");
        }
    }
    for strategy in ["dense", "blocked"] {
        assert_eq!(whole(strategy, "Stable"), (true, false));
        assert_eq!(whole(strategy, "Exact"), (false, true));
    }
}

fn named(strategy: &str) -> strew::Strategy {
    strategy.parse().expect("a strategy")
}

/// Looks at what it computes.
///
/// # Errors
/// Why it is refused.
#[track_caller]
fn cell(
    what: &str,
    kernel: &Kernel,
    mode: Mode,
    data: &Data,
    serial: &Outcome,
) -> Result<(), String> {
    let one = Ok(compiled(&kernel.clone().threads(1), data)?);
    let three = compiled(&kernel.clone().threads(3), data);
    match mode {
        Mode::Fast => {
            agree(what, &one, serial, is_close);
            agree(what, &three, serial, is_close);
        }
        Mode::Stable => {
            agree(what, &one, serial, is_close);
            agree(what, &three, &one, is_same);
            let sixteen = compiled(&kernel.clone().threads(16), data);
            agree(what, &sixteen, &one, is_same);
        }
        Mode::Exact => {
            agree(what, &one, serial, is_same);
            agree(what, &three, serial, is_same);
        }
    }
    Ok(())
}

#[test]
fn long_loops_have_the_same_bits_at_any_number_of_threads_and_in_every_run() {
    for (ty, outputs) in [(Type::F64, 900), (Type::F32, 50_000), (Type::I32, 50_000)] {
        let kernel = kernel(ty, "out[key[i]] += x[i];");
        for order in ORDERS {
            let data = data(ty, 100, order, (1 << 20, outputs));
            let first = compiled(&kernel.clone().threads(1), &data);
            for threads in [2, 3, 16, 2] {
                let again = compiled(&kernel.clone().threads(threads), &data);
                agree(
                    &format!("{ty} {order}, {threads} threads"),
                    &again,
                    &first,
                    is_same,
                );
            }
            let serial = kernel.clone().strategy(named("serial")).body(Body::Direct);
            let serial = compiled(&serial, &data);
            let exact = compiled(&kernel.clone().mode(Mode::Exact).threads(2), &data);
            agree(&format!("{ty} {order}, exact"), &exact, &serial, is_same);
        }
    }
}

/// The sums of `x` by `key`, in `outputs` elements that begin with `-0.0`: of eight parts of the
/// iterations, and in each of them of runs of equal keys, whose sums begin with what is there in
/// the first of four places; the iteration at place `k` of its part adds to place `k % 4`, those
/// behind the last whole turn of four to the first one.
fn by_turns(key: &[usize], x: &[f64], outputs: usize) -> Vec<u64> {
    let part = |number: usize| {
        let (start, end) = (number * key.len() / 8, (number + 1) * key.len() / 8);
        let whole = (end - start) / 4 * 4;
        let mut sums = vec![-0.0; outputs];
        let mut run: Option<(usize, [f64; 4])> = None;
        let join = |sums: &mut Vec<f64>, run: Option<(usize, [f64; 4])>| {
            if let Some((key, [a, b, c, d])) = run {
                sums[key] = (a + b) + (c + d);
            }
        };
        for position in 0..end - start {
            let key = key[start + position];
            if run.is_none_or(|(last, _)| last != key) {
                join(&mut sums, run);
                run = Some((key, [sums[key], -0.0, -0.0, -0.0]));
            }
            let turn = if position < whole { position % 4 } else { 0 };
            if let Some((_, places)) = &mut run {
                places[turn] += x[start + position];
            }
            // The last whole turn ends its loop, and the run goes on.
        }
        join(&mut sums, run);
        sums
    };
    let p: Vec<Vec<f64>> = (0..8).map(part).collect();
    let at = |it: usize| {
        let left = (p[0][it] + p[1][it]) + (p[2][it] + p[3][it]);
        let right = (p[4][it] + p[5][it]) + (p[6][it] + p[7][it]);
        (-0.0 + (left + right)).to_bits()
    };
    (0..outputs).map(at).collect()
}

#[test]
fn partial_sums_are_added_by_turns() {
    const COUNT: usize = 40_013;
    let kernel = kernel(Type::F64, "out[key[i]] += x[i];").body(Body::Partials);
    let with = |kernel: &Kernel| {
        let typed = kernel
            .clone()
            .typed::<(i64, i64, &[i32], &[f64], &mut [f64])>();
        typed.expect("it fits")
    };
    for (order, outputs) in ORDERS
        .into_iter()
        .flat_map(|order| [1, 41, 900].map(|it| (order, it)))
    {
        let key: Vec<i32> = keys(order, COUNT, outputs)
            .into_iter()
            .map(|it| it.as_integer().map_or(0, |it| it as i32))
            .collect();
        let mut random = Random(3);
        let x: Vec<f64> = (0..COUNT)
            .map(|_| (random.next() % 100_003) as f64 / 7.0 - 5000.0)
            .collect();
        let places: Vec<usize> = key.iter().map(|it| *it as usize).collect();
        let expected = by_turns(&places, &x, outputs);
        for strategy in ["dense", "blocked"] {
            for threads in [1, 2, 5] {
                let kernel = kernel.clone().strategy(named(strategy)).threads(threads);
                let mut out = vec![-0.0; outputs];
                let arguments = (COUNT as i64, outputs as i64, &*key, &*x, &mut *out);
                with(&kernel).call(arguments).expect("a call");
                let found: Vec<u64> = out.iter().map(|it| it.to_bits()).collect();
                assert_eq!(
                    found, expected,
                    "{order} {outputs} {strategy} {threads} threads"
                );
            }
        }
    }
}

/// Updates that mean something in the order of the loop alone.
const IN_ORDER: [(&str, &str); 8] = [
    ("last", "out[key[i]] = x[i];"),
    ("last", "if (x[i] > 3) out[key[i]] = x[i];"),
    (
        "last",
        "{ out[key[i]] = x[i]; out[(key[i] + 1) % 41] = 7; }",
    ),
    ("land", "out[key[i]] = out[key[i]] && x[i] > 5;"),
    ("lor", "out[key[i]] = x[i] > 50 || out[key[i]];"),
    ("lor", "out[key[i]] = out[key[i]] || x[i] == 7;"),
    (
        "max_kept",
        "out[key[i]] = out[key[i]] > x[i] ? out[key[i]] : x[i];",
    ),
    (
        "min_kept_first",
        "out[key[i]] = x[i] >= out[key[i]] ? out[key[i]] : x[i];",
    ),
];

#[test]
fn what_has_no_other_order_is_run_in_its_own() {
    for (name, statement) in IN_ORDER {
        for ty in Type::NUMBERS {
            let is_defined = match name {
                "last" => true,
                "land" | "lor" => ty.is_integer(),
                _ => ty.is_float(),
            };
            if !is_defined {
                continue;
            }
            let kernel = kernel(ty, statement);
            let text = kernel.compiled().kernel().to_string();
            assert!(
                text.contains(&format!("merge(out reduce({name}) out_p)")),
                "{statement}\n{text}"
            );
            for order in ORDERS {
                let data = data(ty, 100, order, (1003, OUTPUTS));
                let serial = compiled(&kernel.clone().strategy(named("serial")), &data);
                for strategy in strategies() {
                    for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
                        let what = format!("{name} {ty} {order} {strategy} {mode:?}");
                        let kernel = kernel.clone().strategy(named(&strategy)).mode(mode);
                        let ran = cell(&what, &kernel, Mode::Exact, &data, &serial).is_ok();
                        let keeps_order = matches!(
                            strategy.as_str(),
                            "auto" | "serial" | "apart" | "binned" | "planned"
                        );
                        assert_eq!(ran, keeps_order, "{what}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_strategy_that_does_not_keep_the_order_is_refused_with_the_reason() {
    let kernel = kernel(Type::F64, "out[key[i]] = x[i];").strategy(named("dense"));
    let data = data(Type::F64, 100, "uniform", (1003, OUTPUTS));
    let message = compiled(&kernel, &data).expect_err("a refusal");
    assert!(
        message.contains("the strategy `dense` does not keep the order of the loop"),
        "{message}"
    );
}

#[test]
fn long_loops_of_assignments_are_sorted_and_the_last_counts() {
    for (ty, outputs) in [(Type::F64, 1 << 18), (Type::U8, 1 << 20)] {
        let kernel = kernel(ty, "out[key[i]] = x[i];");
        for order in ORDERS {
            let data = data(ty, 100, order, (1 << 20, outputs));
            let serial = compiled(&kernel.clone().strategy(named("serial")), &data);
            for (strategy, threads) in [("auto", 2), ("binned", 1), ("binned", 2), ("binned", 8)] {
                let kernel = kernel.clone().strategy(named(strategy)).threads(threads);
                let what = format!("{ty} {order} {strategy} {threads}");
                agree(&what, &compiled(&kernel, &data), &serial, is_same);
            }
        }
    }
}

/// The bits of the sums that `run` leaves, any NaN as one.
fn bits<T: strew::Element + Copy>(count: usize, value: T, run: impl FnOnce(&mut [T])) -> Vec<u64> {
    let mut out = vec![value; count];
    run(&mut out);
    let bits = |it: &T| match it.to_value() {
        value if value.as_float().is_some_and(f64::is_nan) => u64::MAX,
        value => value.bits(),
    };
    out.iter().map(bits).collect()
}

#[test]
fn a_hundred_runs_have_the_same_bits_at_one_to_sixteen_threads() {
    const COUNT: usize = 20_000;
    for statement in ["out[key[i]] += x[i];", "out[key[i]] *= x[i];"] {
        let kernel = kernel(Type::F64, statement);
        let with = |kernel: &Kernel| {
            let kernel = kernel.clone();
            let typed = kernel.typed::<(i64, i64, &[i32], &[f64], &mut [f64])>();
            typed.expect("it fits")
        };
        for order in ORDERS {
            let as_key = |it: Value| it.as_integer().map_or(0, |it| it as i32);
            let key: Vec<i32> = keys(order, COUNT, 300).into_iter().map(as_key).collect();
            let x = values(Type::F64, COUNT, 3).into_iter();
            let x: Vec<f64> = x.map(|it| it.as_float().unwrap_or(0.0)).collect();
            let run = |kernel: &Kernel| {
                bits(300, 1.0, |out: &mut [f64]| {
                    let arguments = (COUNT as i64, 300, &*key, &*x, out);
                    with(kernel).call(arguments).expect("a call");
                })
            };
            let serial = run(&kernel.clone().strategy(named("serial")).body(Body::Direct));
            for strategy in [
                "auto", "serial", "dense", "blocked", "apart", "binned", "colored",
            ] {
                let kernel = kernel.clone().strategy(named(strategy));
                let first = run(&kernel.clone().threads(1));
                for number in 0..100 {
                    let kernel = kernel.clone().threads(number % 16 + 1);
                    let what = format!("{statement} {order} {strategy}, run {number}");
                    assert_eq!(run(&kernel), first, "{what}");
                    if ["auto", "serial", "apart", "binned"].contains(&strategy) {
                        assert_eq!(run(&kernel.mode(Mode::Exact)), serial, "exact {what}");
                    }
                }
            }
        }
    }
}
