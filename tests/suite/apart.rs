//! Keys that rise or advance, so that threads share the outputs without copies: what they compute,
//! skip and fail of is what the loop does, however many updates meet where the parts do.

use crate::data::{Data, Outcome, is_close, is_same};
use crate::engines::{agree, compiled_recording, interpreted, interpreted_skipping, is_refusal};
use crate::random::Random;
use strew::ir::interpret::ForallOrder;
use strew::{Body, Kernel, Mode, Oob, ParsedKernel, Plan, Source};

/// The arguments of all kernels, each of which uses some.
const HEAD: &str = "struct cell { int32_t count; double sum; };\n\
     void k(int64_t n, int64_t m, const int32_t key[n], const int32_t other[n], \
     const int32_t row[n + 1], const double x[n]";

/// What a kernel writes, and its body.
struct Loop {
    outputs: &'static str,
    body: &'static str,
}

const LOOPS: [Loop; 16] = [
    Loop {
        outputs: "double out[m]",
        body: "out[key[i]] += x[i];",
    },
    Loop {
        outputs: "double out[m]",
        body: "out[key[i]] = x[i];",
    },
    Loop {
        outputs: "double out[m], int32_t few[3]",
        body: "out[key[i]] += x[i]; if (2 * i < n) few[0]++; if (2 * i >= n) few[2] += key[i];",
    },
    Loop {
        outputs: "int32_t count[m], double out[m]",
        body: "out[key[i]] += x[i]; count[key[i]]++;",
    },
    Loop {
        outputs: "int32_t count[m], double out[m]",
        body: "if (x[i] > 40) out[key[i]] += x[i]; else count[other[i]] += i;",
    },
    Loop {
        outputs: "double out[m]",
        body: "out[key[i]] += x[i]; out[key[i]] -= 3; out[key[i]] += x[other[i] % n];",
    },
    Loop {
        outputs: "double out[m]",
        body: "int32_t k = key[i]; out[k] += x[i]; if (k + 1 < m) out[k + 1] += 0.1;",
    },
    Loop {
        outputs: "double out[m]",
        body: "double near[3] = {1, 2, 3}; near[i % 3] += x[i]; out[key[i]] += near[0] * near[i % 3];",
    },
    Loop {
        outputs: "double out[m]",
        body: "double sum = 0; for (int64_t j = row[i]; j < row[i + 1]; j++) sum += x[j]; out[key[i]] += sum;",
    },
    Loop {
        outputs: "double out[m]",
        body: "for (int64_t j = row[i]; j < row[i + 1]; j++) out[key[j]] += x[i];",
    },
    Loop {
        outputs: "double out[m]",
        body: "int32_t left = 3; while (left > 0 && x[i] > 0) { out[key[i]] += x[i] / left; left--; }",
    },
    Loop {
        outputs: "double out[m], int64_t at[m]",
        body: "if (x[i] > out[key[i]]) { out[key[i]] = x[i]; at[key[i]] = i; }",
    },
    Loop {
        outputs: "struct cell cells[m]",
        body: "cells[key[i]].count++; cells[key[i]].sum += x[i];",
    },
    Loop {
        outputs: "float rows[m][3]",
        body: "for (int64_t j = 0; j < 3; j++) rows[key[i]][j] += x[i] * j;",
    },
    Loop {
        outputs: "float rows[m][3]",
        body: "rows[key[i]][1] += x[i];",
    },
    Loop {
        outputs: "uint8_t bytes[m]",
        body: "bytes[key[i]] ^= i; if (other[i] & 1) bytes[key[i]] ^= 3;",
    },
];

/// How far keys may fall back.
#[derive(Clone, Copy)]
struct Window(usize);

/// `count` keys that never fall beyond a window, with about `each` of them to an element; a part of
/// `wild` thousandths at either end is out of range.
fn keys(
    random: &mut Random,
    (count, outputs): (usize, usize),
    Window(window): Window,
    wild: usize,
) -> Vec<i32> {
    let mut keys: Vec<_> = (0..count)
        .map(|_| random.below(outputs.max(1) as i32))
        .collect();
    keys.sort_unstable();
    for near in keys.chunks_mut(window) {
        near.reverse();
    }
    let wild = count * wild / 1000;
    for (position, key) in keys.iter_mut().enumerate() {
        if position < wild / 2 {
            *key = -1 - position as i32;
        } else if position >= count - wild / 2 {
            *key = (outputs + position) as i32;
        }
    }
    keys
}

fn data(outputs: &str, (count, elements): (usize, usize), window: Window, wild: usize) -> Data {
    let mut random = Random(count as u64 ^ elements as u64);
    let key = keys(&mut random, (count, elements), window, wild);
    let other = keys(&mut random, (count, elements), window, 0);
    let row: Vec<_> = (0..=count)
        .map(|it| (it * it / count.max(1)) as i32)
        .collect();
    let x: Vec<_> = (0..count)
        .map(|_| f64::from(random.below(2000)) / 19.0 - 30.0)
        .collect();
    let data = Data::default().scalar("n", count as i64);
    let mut data = data.scalar("m", elements as i64).array("key", &key);
    data = data.array("other", &other).array("row", &row);
    data = data.array("x", &x);
    let sums = vec![0.25_f64; elements];
    let numbers = vec![7_i32; elements];
    for (name, values) in [("double out", "out"), ("cells[", "cells.sum")] {
        if outputs.contains(name) {
            data = data.array(values, &sums);
        }
    }
    for (name, values) in [("count[", "count"), ("cells[", "cells.count")] {
        if outputs.contains(name) {
            data = data.array(values, &numbers);
        }
    }
    if outputs.contains("at[") {
        data = data.array("at", &vec![-1_i64; elements]);
    }
    if outputs.contains("few[") {
        data = data.array("few", &[5_i32, 6, 7]);
    }
    if outputs.contains("rows[") {
        data = data.array("rows", &vec![0.5_f32; 3 * elements]);
    }
    if outputs.contains("bytes[") {
        data = data.array("bytes", &vec![9_u8; elements]);
    }
    data
}

fn source(it: &Loop) -> Source {
    let Loop { outputs, body } = it;
    let text = format!("{HEAD}, {outputs}) {{ for (int64_t i = 0; i < n; i++) {{ {body} }} }}\n");
    Source::new("k.c", text)
}

const SIZES: [(usize, usize); 7] = [
    (0, 3),
    (1, 1),
    (40, 1),
    (1000, 3),
    (1000, 90),
    (1000, 5000),
    (9000, 700),
];

/// A loop in machine code, once where an index out of range is a fault and once where it is
/// skipped.
struct Compiled {
    body: &'static str,
    parsed: ParsedKernel,
    kernel: Kernel,
    skipping: Kernel,
}

fn compiled(it: &Loop) -> Compiled {
    let parsed = source(it).parse().unwrap_or_else(|error| panic!("{error}"));
    let parsed = parsed.kernel(None).expect("one kernel").clone();
    let with_plan = parsed.schedule(&Plan::Source, &mut ()).expect("a schedule");
    let skipping = parsed.schedule(&Plan::Source, &mut ()).expect("a schedule");
    let skipping = skipping.compile_for(Oob::Skip).expect("machine code");
    Compiled {
        body: it.body,
        kernel: with_plan.compile().expect("machine code").into(),
        skipping: skipping.into(),
        parsed,
    }
}

/// Runs `run` for each loop on data of all sizes, with the outcome of the loop in the interpreter
/// and how many updates that skips; returns how many calls were divided.
fn everywhere(window: Window, run: fn(&str, &Kernel, &Data, (&Outcome, u64)) -> usize) -> usize {
    let mut divided = 0;
    for it in &LOOPS {
        let compiled = compiled(it);
        for sizes in SIZES {
            for wild in [0, 300] {
                let data = data(it.outputs, sizes, window, wild);
                let kernel = compiled.parsed.kernel();
                let reference = interpreted(kernel, &data, ForallOrder::Forward);
                divided += run(compiled.body, &compiled.kernel, &data, (&reference, 0));
                let (reference, skipped) = interpreted_skipping(kernel, &data);
                divided += run(
                    compiled.body,
                    &compiled.skipping,
                    &data,
                    (&reference, skipped),
                );
            }
        }
    }
    divided
}

#[test]
fn keys_that_rise_give_the_bits_of_the_loop() {
    let divided = everywhere(Window(1), apart);
    assert!(divided > 1000, "{divided} calls were divided");
}

#[test]
fn keys_that_advance_give_the_bits_of_the_loop() {
    let divided = everywhere(Window(7), apart);
    assert!(divided > 500, "{divided} calls were divided");
}

#[test]
fn keys_that_advance_give_the_same_bits_on_all_threads() {
    let divided = everywhere(Window(7), colored);
    assert!(divided > 300, "{divided} calls were divided");
}

/// The parts of each color at once; returns how many calls were divided.
#[track_caller]
fn colored(
    what: &str,
    kernel: &Kernel,
    data: &Data,
    (reference, skipped): (&Outcome, u64),
) -> usize {
    let mut divided = 0;
    let named = "colored".parse().expect("a strategy");
    for body in [Body::Direct, Body::RunLength, Body::Partials] {
        let mut first: Option<Outcome> = None;
        for threads in [1, 2, 3, 8] {
            let kernel = kernel.clone().strategy(named).body(body);
            let (found, record) = compiled_recording(&kernel.threads(threads), data);
            if found.as_ref().is_err_and(|it| is_refusal(it)) {
                return 0;
            }
            let what = format!("{what} {threads} threads {body} {:?}", data.scalars);
            agree(&what, &found, reference, is_close);
            agree(&what, &found, first.get_or_insert(found.clone()), is_same);
            if let Some(record) = record {
                assert_eq!(record.skipped, skipped, "{what}");
                divided += usize::from(record.chunks > 1);
            }
        }
    }
    divided
}

/// On several numbers of threads, with two bodies; returns how many calls were divided.
#[track_caller]
fn apart(what: &str, kernel: &Kernel, data: &Data, (reference, skipped): (&Outcome, u64)) -> usize {
    let mut divided = 0;
    let named = "apart".parse().expect("a strategy");
    let serial = kernel
        .clone()
        .strategy("serial".parse().expect("a strategy"));
    let (_, serial) = compiled_recording(&serial, data);
    for (mode, body) in [
        (Mode::Stable, Body::Direct),
        (Mode::Fast, Body::RunLength),
        (Mode::Exact, Body::Auto),
    ] {
        for threads in [1, 2, 3, 8] {
            let kernel = kernel.clone().strategy(named).mode(mode).body(body);
            let (found, record) = compiled_recording(&kernel.threads(threads), data);
            let what = format!("{what} {threads} threads {body} {:?}", data.scalars);
            agree(&what, &found, reference, is_same);
            if let (Some(record), Some(serial)) = (record, &serial) {
                let counts = (record.skipped, record.updates);
                assert_eq!(counts, (skipped, serial.updates), "{what}");
                divided += usize::from(record.chunks > 1);
            }
        }
    }
    divided
}
