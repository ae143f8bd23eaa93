//! Every spelling of a reduction, and what only looks like one: all engines and `cc` agree bit for
//! bit on NaN, zeros of both signs, ties, infinities, the ends of the integer types, and elements
//! that no update reaches.

use crate::c::{Program, c_type};
use crate::data::{Data, is_same};
use crate::engines::{Engines, agree, compiled};
use crate::random::Random;
use std::collections::BTreeMap;
use strew::Source;
use strew::ir::{Type, Value};

/// What becomes of a spelling.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Expected {
    /// A reduction whose private buffers give the bits of the serial order.
    Exact(&'static str),
    /// A reduction that private buffers round in another order.
    Rounded(&'static str),
    /// A reduction that has no identity, so that there are no private buffers.
    Shared(&'static str),
    /// No reduction, but the last assignment counts.
    Overwritten,
    /// No reduction.
    InOrder,
}

use Expected::{Exact, InOrder, Overwritten, Rounded, Shared};

/// The type of what is updated and of what it is updated with, the statement, and what becomes of
/// it.
struct Spelling(Type, Type, &'static str, Expected);

const F32: Type = Type::F32;
const F64: Type = Type::F64;
const I8: Type = Type::I8;
const I32: Type = Type::I32;
const I64: Type = Type::I64;
const U8: Type = Type::U8;
const U32: Type = Type::U32;

const SUMS: &[Spelling] = &[
    Spelling(F64, F64, "h[k] = h[k] + x[i];", Rounded("add")),
    Spelling(F64, F64, "h[k] = x[i] + h[k];", Rounded("add")),
    Spelling(F32, F32, "h[k] += x[i];", Rounded("add")),
    Spelling(F64, F32, "h[k] -= x[i];", Rounded("add")),
    Spelling(F32, F32, "h[k]++;", Rounded("add")),
    Spelling(I32, I32, "h[k]++;", Exact("add")),
    Spelling(I8, I8, "--h[k];", Exact("add")),
    Spelling(U8, I32, "h[k] += x[i];", Exact("add")),
    Spelling(I64, I8, "h[k] = x[i] + h[k];", Exact("add")),
    Spelling(U32, I8, "h[k] -= x[i];", Exact("add")),
    Spelling(I32, U32, "h[k] += x[i] * x[i];", Exact("add")),
    Spelling(I8, I8, "h[k] *= x[i];", Exact("mul")),
    Spelling(U8, U8, "h[k] &= x[i] | 3;", Exact("and")),
    Spelling(I64, I32, "h[k] |= x[i];", Exact("or")),
    Spelling(I32, I32, "h[k] ^= x[i];", Exact("xor")),
    Spelling(
        I32,
        I32,
        "h[k] += x[i]; if (x[i] > 0) h[key[n - 1 - i]] -= i;",
        Exact("add"),
    ),
    Spelling(I32, I32, "if (x[i] & 1) h[k] += x[i];", Exact("add")),
    Spelling(
        F64,
        F64,
        "if (x[i] > 0) { h[k] += x[i]; } else h[k] -= 1;",
        Rounded("add"),
    ),
];

const EXTREMA: &[Spelling] = &[
    Spelling(F64, F64, "if (x[i] > h[k]) h[k] = x[i];", Exact("max")),
    Spelling(F32, F32, "if (h[k] < x[i]) h[k] = x[i];", Exact("max")),
    Spelling(F32, F32, "if (x[i] < h[k]) h[k] = x[i];", Exact("min")),
    Spelling(F64, F32, "if (h[k] > x[i]) h[k] = x[i];", Exact("min")),
    Spelling(
        F64,
        F64,
        "if (x[i] >= h[k]) h[k] = x[i];",
        Shared("max_last"),
    ),
    Spelling(
        F32,
        F32,
        "if (x[i] <= h[k]) h[k] = x[i];",
        Shared("min_last"),
    ),
    Spelling(I32, I32, "if (x[i] >= h[k]) h[k] = x[i];", Exact("max")),
    Spelling(U8, U8, "if (x[i] <= h[k]) h[k] = x[i];", Exact("min")),
    Spelling(F64, F64, "h[k] = x[i] > h[k] ? x[i] : h[k];", Exact("max")),
    Spelling(F64, F64, "h[k] = h[k] > x[i] ? x[i] : h[k];", Exact("min")),
    Spelling(I32, I8, "h[k] = h[k] > x[i] ? h[k] : x[i];", Exact("max")),
    Spelling(I8, I8, "h[k] = MAX(h[k], x[i]);", Exact("max")),
    Spelling(I64, I64, "h[k] = MIN(h[k], x[i]);", Exact("min")),
    Spelling(F64, F64, "h[k] = MAX(x[i], h[k]);", Exact("max")),
    Spelling(F64, F64, "h[k] = MAX(h[k], x[i]);", Shared("max_kept")),
    Spelling(F32, F32, "h[k] = MIN(h[k], x[i]);", Shared("min_kept")),
    Spelling(F64, F32, "h[k] = MIN(h[k], x[i]);", Shared("min_kept")),
    Spelling(
        F32,
        F32,
        "if (!(h[k] >= x[i])) h[k] = x[i];",
        Shared("max_kept_first"),
    ),
    Spelling(
        F64,
        F64,
        "h[k] = x[i] >= h[k] ? h[k] : x[i];",
        Shared("min_kept_first"),
    ),
    Spelling(I32, I32, "h[k] = larger(h[k], x[i]);", Exact("max")),
    Spelling(F64, F64, "h[k] = fmax(h[k], x[i]);", Exact("fmax")),
    Spelling(F64, F32, "h[k] = fmax(x[i], h[k]);", Exact("fmax_first")),
    Spelling(F64, F64, "h[k] = fmin(h[k], x[i]);", Exact("fmin")),
    Spelling(F64, F64, "h[k] = fmin(x[i], h[k]);", Exact("fmin_first")),
    Spelling(F32, F32, "h[k] = fmaxf(h[k], x[i]);", Exact("fmax")),
    Spelling(F32, F32, "h[k] = fminf(x[i], h[k]);", Exact("fmin_first")),
    Spelling(F32, F32, "h[k] = fmax(h[k], x[i]);", Exact("fmax")),
    Spelling(
        F64,
        F64,
        "if (i % 3 && x[i] > h[k]) h[k] = x[i];",
        Exact("max"),
    ),
];

const COUNTS: &[Spelling] = &[
    Spelling(U8, I32, "if (h[k] < 255) h[k]++;", Exact("add_sat(255)")),
    Spelling(
        U8,
        I32,
        "if (h[k] <= 254) h[k] += 1;",
        Exact("add_sat(255)"),
    ),
    Spelling(I8, I32, "if (h[k] < 127) ++h[k];", Exact("add_sat(127)")),
    Spelling(I8, I32, "h[k] += h[k] < -5;", Exact("add_sat(-5)")),
    Spelling(I32, I32, "if (7 > h[k]) h[k]++;", Exact("add_sat(7)")),
    Spelling(
        I64,
        I32,
        "h[k] = h[k] < 9 ? h[k] + 1 : h[k];",
        Exact("add_sat(9)"),
    ),
    Spelling(
        U32,
        I32,
        "if (x[i] > 0 && h[k] < 20) h[k]++;",
        Exact("add_sat(20)"),
    ),
    Spelling(
        U32,
        U8,
        "h[k] = (uint64_t)h[k] + x[i] < UINT32_MAX ? (uint64_t)h[k] + x[i] : UINT32_MAX;",
        Exact("add_sat(4294967295)"),
    ),
];

const PAIRS: &[Spelling] = &[
    Spelling(
        F64,
        F64,
        "if (x[i] > h[k]) { h[k] = x[i]; arg[k] = i; }",
        Exact("argmax"),
    ),
    Spelling(
        F32,
        F32,
        "if (h[k] > x[i]) { arg[k] = i; h[k] = x[i]; }",
        Exact("argmin"),
    ),
    Spelling(
        I8,
        I8,
        "if (x[i] > h[k]) { h[k] = x[i]; arg[k] = i; }",
        Exact("argmax"),
    ),
    Spelling(
        U32,
        U32,
        "if (x[i] < h[k]) { h[k] = x[i]; arg[k] = i; }",
        Exact("argmin"),
    ),
    Spelling(
        F64,
        F64,
        "if (x[i] >= h[k]) { h[k] = x[i]; arg[k] = i; }",
        Shared("argmax_last"),
    ),
    Spelling(
        I32,
        I32,
        "if (x[i] <= h[k]) { h[k] = x[i]; arg[k] = i; }",
        Shared("argmin_last"),
    ),
    Spelling(
        F64,
        F32,
        "float v = x[i]; if (i % 5 && v > h[k]) { h[k] = v; arg[k] = i; }",
        Exact("argmax"),
    ),
];

/// Scalar accumulators, in a loop of their own.
const SCALARS: &[Spelling] = &[
    Spelling(F64, F64, "SCAN(h[0], s += x[i])", Rounded("add")),
    Spelling(I32, I32, "SCAN(h[0], if (x[i] > s) s = x[i])", Exact("max")),
    Spelling(F32, F32, "SCAN(h[0], if (x[i] < s) s = x[i])", Exact("min")),
    Spelling(
        F64,
        F64,
        "SCAN(h[0], if (x[i] > s) { s = x[i]; at = i; })",
        Exact("argmax"),
    ),
    Spelling(
        I64,
        I64,
        "SCAN(h[0], if (x[i] < s) { at = i; s = x[i]; })",
        Exact("argmin"),
    ),
];

/// Updates that mean something in the order of the loop alone.
const LAST: &[Spelling] = &[
    Spelling(F64, F64, "h[k] = x[i];", Overwritten),
    Spelling(F32, F64, "if (x[i] > 0) h[k] = x[i];", Overwritten),
    Spelling(U8, I32, "if (x[i]) h[k] = 1;", Overwritten),
    Spelling(I32, I32, "int v = x[i]; h[k] = h[k] && v;", Shared("land")),
    Spelling(I64, F64, "h[k] = x[i] > 3 && h[k];", Shared("land")),
    Spelling(
        U8,
        I32,
        "int v = x[i]; h[k] = h[k] || v < 2;",
        Shared("lor"),
    ),
    Spelling(I32, F32, "h[k] = x[i] || h[k];", Shared("lor")),
];

const IN_ORDER: &[Spelling] = &[
    // Rounded or cut at every step.
    Spelling(
        I32,
        I32,
        "if (h[k] > -1000 && h[k] < 1000) h[k] += 0.5 * (i % 9);",
        InOrder,
    ),
    Spelling(F32, F64, "h[k] += x[i];", InOrder),
    Spelling(I32, I8, "h[k] = (int8_t)(h[k] + x[i]);", InOrder),
    // The sum has wrapped before it is compared.
    Spelling(
        U32,
        U8,
        "h[k] = (uint64_t)(h[k] + x[i]) < UINT32_MAX ? (uint64_t)(h[k] + x[i]) : UINT32_MAX;",
        InOrder,
    ),
    Spelling(U8, I32, "h[k] = h[k] < 7 ? h[k] + 1 : 7;", InOrder),
    Spelling(F64, F64, "h[k] = h[k] / 2 + x[i];", InOrder),
    Spelling(I32, I32, "if (h[k] < 0) h[k] = i;", InOrder),
];

const HEAD: &str = "#include <stdint.h>\n#include <math.h>\n\
    #define MAX(a, b) ((a) > (b) ? (a) : (b))\n#define MIN(a, b) ((a) < (b) ? (a) : (b))\n\
    static int larger(int a, int b) { return a > b ? a : b; }\n";

impl Spelling {
    /// The function called `name`.
    fn function(&self, name: &str) -> String {
        let Self(held, incoming, statement, _) = self;
        let (held, incoming) = (c_type(*held), c_type(*incoming));
        let body = match statement.strip_prefix("SCAN(h[0], ") {
            Some(scan) => format!(
                "{held} s = h[0]; int at = arg[0];\nfor (int i = 0; i < n; i++) {{ {}; }}\nh[0] = s; arg[0] = at;",
                scan.strip_suffix(')').unwrap_or(scan)
            ),
            None => {
                format!("for (int i = 0; i < n; i++) {{ int k = key[i]; {statement} }}")
            }
        };
        format!(
            "void {name}(int n, int m, const int key[n], const {incoming} x[n], {held} h[m], int arg[m]) {{\n{body}\n}}\n"
        )
    }
}

/// Values of `ty` where comparisons and sums are delicate.
fn delicate(random: &mut Random, ty: Type, count: usize) -> Vec<Value> {
    let (low, high) = ty.integer_range().unwrap_or_default();
    let floats = [
        0.0,
        -0.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1.5,
        1.5,
        -2.25,
    ];
    let integers = [low, low + 1, high - 1, high, 0, 1, 5, 5];
    let value = |random: &mut Random| {
        let choice = random.below(12) as usize;
        match (floats.get(choice), integers.get(choice)) {
            (Some(float), _) if ty.is_float() => Value::float(ty, *float),
            (_, Some(integer)) if !ty.is_float() => Value::integer(ty, *integer),
            _ => random.value(ty, 0, 9),
        }
    };
    (0..count).map(|_| value(random)).collect()
}

/// One value over and over: no update wins a strict comparison, or every update does something.
fn uniform(ty: Type, float: f64, is_low: bool, count: usize) -> Vec<Value> {
    let value = match ty.integer_range() {
        Some((low, high)) => Value::integer(ty, if is_low { low } else { high }),
        None => Value::float(ty, float),
    };
    vec![value; count]
}

fn cases(spelling: &Spelling) -> Vec<Data> {
    let Spelling(held, incoming, ..) = *spelling;
    let mut random = Random(u64::from(held.bits() + incoming.bits()));
    let mut cases = Vec::new();
    for (n, m) in [(0, 3), (1, 1), (40, 1), (300, 7), (700, 90), (60, 200)] {
        let key: Vec<i32> = (0..n).map(|_| random.below(m)).collect();
        let (updates, places) = (n as usize, m as usize);
        let arg: Vec<i32> = (0..m).map(|it| -1 - it).collect();
        let mut case = |x, h| {
            let mut data = Data::default().scalar("n", n).scalar("m", m);
            data = data.array("key", &key).array("arg", &arg);
            data.arrays
                .extend([("x".to_owned(), x), ("h".to_owned(), h)]);
            cases.push(data);
        };
        let x = delicate(&mut random, incoming, updates);
        case(x.clone(), delicate(&mut random, held, places));
        // What is held loses against everything, or wins.
        case(x.clone(), uniform(held, f64::NEG_INFINITY, true, places));
        case(x, uniform(held, f64::INFINITY, false, places));
        case(
            uniform(incoming, f64::NEG_INFINITY, true, updates),
            uniform(held, f64::NEG_INFINITY, true, places),
        );
        case(
            uniform(incoming, f64::NAN, false, updates),
            delicate(&mut random, held, places),
        );
        case(
            uniform(incoming, -0.0, true, updates),
            uniform(held, 0.0, true, places),
        );
    }
    cases
}

/// What `engines` make of `data`, when all agree.
fn agreed(engines: &Engines, data: &Data, expected: Expected) -> BTreeMap<String, Vec<Value>> {
    let outcome = engines.exactly(data);
    let serially = engines
        .scheduled
        .clone()
        .strategy("serial".parse().expect("a strategy"));
    for threads in [1, 2] {
        let found = compiled(&serially.clone().threads(threads), data);
        agree("serial strategy", &found, &outcome, is_same);
    }
    engines.privately(data, &outcome, !matches!(expected, Rounded(_)));
    outcome.expect("no fault")
}

fn assert_recognised(spelling: &Spelling, text: &str, engines: &Engines) {
    let Spelling(.., statement, expected) = spelling;
    let shows = |combiner: &str| text.contains(&format!("reduce({combiner})"));
    let is_scalar = statement.starts_with("SCAN");
    match expected {
        Exact(name) | Rounded(name) => {
            assert!(shows(name), "{statement}\n{text}");
            assert!(is_scalar || engines.has_forall(), "{statement}\n{text}");
        }
        Shared(name) => {
            assert!(shows(name), "{statement}\n{text}");
        }
        Overwritten => {
            assert!(!text.contains("reduce("), "{statement}\n{text}");
            assert!(engines.has_forall(), "{statement}\n{text}");
        }
        InOrder => {
            assert!(!text.contains("reduce("), "{statement}\n{text}");
            assert!(!engines.has_forall(), "{statement}\n{text}");
        }
    }
}

#[expect(
    clippy::print_stderr,
    reason = "a failure tells where it was, and what was not tested must be seen"
)]
fn check(spellings: &[Spelling]) {
    let functions = spellings.iter().enumerate();
    let functions = functions.map(|(number, it)| it.function(&format!("k{number}")));
    let text: String = std::iter::once(HEAD.to_owned()).chain(functions).collect();
    let parsed = Source::new("reductions.c", text.clone()).parse();
    let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
    let kernels: Vec<_> = (0..spellings.len())
        .map(|number| {
            parsed
                .kernel(Some(&format!("k{number}")))
                .expect("a kernel")
        })
        .collect();
    let program = Program::compile(&text, kernels.iter().map(|it| it.kernel()));
    if program.is_none() {
        eprintln!("skipped: there is no cc to compare reductions with");
    }
    for (number, (spelling, kernel)) in spellings.iter().zip(kernels).enumerate() {
        eprintln!("{} {} {}", spelling.0, spelling.1, spelling.2);
        let engines = Engines::new(kernel);
        assert_recognised(spelling, &kernel.kernel().to_string(), &engines);
        let cases = cases(spelling);
        let calls: Vec<_> = cases.iter().map(|data| (number, data)).collect();
        let expected = program.as_ref().map(|it| it.run(&calls));
        for (position, data) in cases.iter().enumerate() {
            let found = agreed(&engines, data, spelling.3);
            if let Some(expected) = &expected {
                agree("cc", &Ok(found), &expected[position], is_same);
            }
        }
    }
}

#[test]
fn sums_products_and_bits() {
    check(SUMS);
}

#[test]
fn extrema() {
    check(EXTREMA);
}

#[test]
fn counts_up_to_a_limit() {
    check(COUNTS);
}

#[test]
fn extrema_and_where_they_are() {
    check(PAIRS);
}

#[test]
fn scalar_accumulators() {
    check(SCALARS);
}

#[test]
fn what_only_looks_like_a_reduction() {
    check(IN_ORDER);
}

#[test]
fn what_means_something_in_its_order_alone() {
    check(LAST);
}
