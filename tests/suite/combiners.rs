//! Every combiner on every element type, from C source to merged results, against a plain fold.

use crate::c::c_type;
use crate::data::{Data, is_same};
use crate::engines::{agree, compiled, everywhere};
use crate::random::Random;
use std::collections::BTreeMap;
use strew::ir::{Type, Value};
use strew::{Compiler, Source};

const OPERATIONS: [(&str, &str); 7] = [
    ("add", "out[key[i]] += x[i];"),
    ("mul", "out[key[i]] *= x[i];"),
    ("and", "out[key[i]] &= x[i];"),
    ("or", "out[key[i]] |= x[i];"),
    ("xor", "out[key[i]] ^= x[i];"),
    ("min", "if (x[i] < out[key[i]]) out[key[i]] = x[i];"),
    ("max", "if (x[i] > out[key[i]]) out[key[i]] = x[i];"),
];

const OUTPUTS: i64 = 5;

pub(crate) fn source(ty: Type, statement: &str) -> String {
    let ty = c_type(ty);
    format!(
        "void k(int64_t n, int64_t m, const int32_t key[n], const {ty} x[n], {ty} out[m]) {{\n\
         for (int64_t i = 0; i < n; i++)\n{statement}\n}}\n"
    )
}

fn data(ty: Type, count: i64) -> Data {
    let mut random = Random(u64::from(ty.bits()));
    let cells = |low, high, ty, count: i64, random: &mut Random| -> Vec<Value> {
        (0..count).map(|_| random.value(ty, low, high)).collect()
    };
    let low = if ty.is_signed() || ty.is_float() {
        -9
    } else {
        0
    };
    Data {
        scalars: BTreeMap::from([
            ("n".to_owned(), Value::i64(count)),
            ("m".to_owned(), Value::i64(OUTPUTS)),
        ]),
        arrays: BTreeMap::from([
            (
                "key".to_owned(),
                cells(0, OUTPUTS, Type::I32, count, &mut random),
            ),
            ("x".to_owned(), cells(low, 100, ty, count, &mut random)),
            ("out".to_owned(), cells(low, 100, ty, OUTPUTS, &mut random)),
        ]),
    }
}

/// The fold, in 128 bits and cut to the type at the end, which for these operations is the same as
/// cutting at every step.
fn folded(operation: &str, data: &Data) -> Vec<Value> {
    let mut out = data.arrays["out"].clone();
    for (key, x) in data.arrays["key"].iter().zip(&data.arrays["x"]) {
        let key = key
            .as_integer()
            .and_then(|it| usize::try_from(it).ok())
            .expect("a key");
        out[key] = match (out[key].as_integer(), x.as_integer()) {
            (Some(held), Some(incoming)) => {
                let value = match operation {
                    "add" => held + incoming,
                    "mul" => held.wrapping_mul(incoming),
                    "and" => held & incoming,
                    "or" => held | incoming,
                    "xor" => held ^ incoming,
                    "min" => held.min(incoming),
                    _ => held.max(incoming),
                };
                Value::integer(x.ty(), value)
            }
            _ => folded_float(operation, out[key], *x),
        };
    }
    out
}

fn folded_float(operation: &str, held: Value, incoming: Value) -> Value {
    let (a, b) = (
        held.as_float().expect("a float"),
        incoming.as_float().expect("a float"),
    );
    // One operation on two `f32` rounds the same in `f64` and back: 53 bits are more than twice 24
    // and two.
    let value = match operation {
        "add" => a + b,
        "mul" => a * b,
        "min" => {
            if b < a {
                b
            } else {
                a
            }
        }
        _ => {
            if b > a {
                b
            } else {
                a
            }
        }
    };
    Value::float(held.ty(), value)
}

pub(crate) fn cases() -> impl Iterator<Item = (&'static str, &'static str, Type)> {
    let pairs = Type::NUMBERS
        .into_iter()
        .flat_map(|ty| OPERATIONS.map(|(name, text)| (name, text, ty)));
    pairs.filter(|(name, _, ty)| !(ty.is_float() && matches!(*name, "and" | "or" | "xor")))
}

#[test]
fn every_combiner_works_on_every_type_everywhere() {
    for (name, statement, ty) in cases() {
        let text = source(ty, statement);
        let parsed = Source::new("k.c", text).parse().expect("a program");
        let parsed = parsed.kernel(None).expect("a kernel");
        let printed = parsed.kernel().to_string();
        assert!(
            printed.contains(&format!("reduce({name})")),
            "{ty} {name}: {printed}"
        );
        let data = data(ty, 203);
        let outcome = everywhere(parsed, &data).expect("no fault");
        let expected = folded(name, &data);
        for (found, expected) in outcome["out"].iter().zip(&expected) {
            assert!(
                is_same(*found, *expected),
                "{ty} {name}: {found:?}, expected {expected:?}"
            );
        }
    }
}

#[test]
fn large_runs_are_chosen_dense_and_agree() {
    for (name, statement, ty) in cases() {
        let program = Compiler::new()
            .compile("k.c", source(ty, statement))
            .expect("a program");
        let kernel = program.kernel("k").expect("a kernel");
        let data = data(ty, 100_000);
        let first = compiled(&kernel.clone().threads(1), &data);
        for threads in [2, 4, 8] {
            let found = compiled(&kernel.clone().threads(threads), &data);
            agree(
                &format!("{ty} {name}, {threads} threads"),
                &found,
                &first,
                is_same,
            );
        }
        if !ty.is_float() || matches!(name, "min" | "max") {
            let expected = folded(name, &data);
            assert_eq!(first.expect("no fault")["out"], expected, "{ty} {name}");
        }
    }
}
