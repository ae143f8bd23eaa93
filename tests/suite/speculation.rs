//! Loops that read what they update: at once where these are different elements, and else in order,
//! however late they meet.

use crate::data::{Data, Outcome, is_close, is_same};
use crate::engines::{
    agree, compiled, compiled_counting, compiled_recording, interpreted, interpreted_skipping,
};
use crate::random::Random;
use crate::strategies::strategies;
use strew::ir::interpret::ForallOrder;
use strew::ir::{Kernel, Type, Value};
use strew::{Compiler, Error, Failure, Mode, Oob, Record, Source, Why};

/// Elements that are read lie below this one, those that are updated do not, unless they meet.
const READ: i32 = 32;
const OUTPUTS: i32 = 80;
const TURNS: i32 = 3;

/// What the loop over `i` does, with `T` for the type.
const BODIES: [(&str, &str); 8] = [
    (
        "a read outside of the updates",
        "T s = out[from[i]]; for (int j = 0; j < r; j++) out[to[i][j]] += s;",
    ),
    (
        "a read beside them, under a condition",
        "for (int j = 0; j < r; j++) if (x[i] > 1) out[to[i][j]] += out[from[i]];",
    ),
    (
        "the same written out",
        "for (int j = 0; j < r; j++) out[to[i][j]] = out[to[i][j]] + out[from[i]];",
    ),
    (
        "a least value",
        "T s = out[from[i]]; for (int j = 0; j < r; j++) if (s < out[to[i][j]]) out[to[i][j]] = s;",
    ),
    (
        "two targets of which one is read",
        "T s = out[from[i]]; for (int j = 0; j < r; j++) { other[to[i][j]] += x[i]; out[to[i][j]] += s; }",
    ),
    (
        "both are read, and one decides",
        "if (other[from[i]] > 2) for (int j = 0; j < r; j++) { other[to[i][j]] += x[i]; out[to[i][j]] += out[from[i]]; }",
    ),
    (
        "what is read says what else is",
        "int p = (int)out[from[i]] & 31; T s = out[p]; for (int j = 0; j < r; j++) out[to[i][j]] += s;",
    ),
    (
        "an array of its own in between",
        "T t[2]; t[0] = out[from[i]]; t[1] = x[i]; for (int j = 0; j < r; j++) out[to[i][j]] += t[j & 1];",
    ),
];

const TYPES: [(Type, &str); 5] = [
    (Type::F64, "double"),
    (Type::F32, "float"),
    (Type::I32, "int32_t"),
    (Type::I64, "int64_t"),
    (Type::U8, "uint8_t"),
];

fn source(body: &str, ty: &str) -> String {
    let body = body.replace("T ", &format!("{ty} "));
    format!(
        "void k(int32_t n, int32_t r, int32_t m, const int32_t from[n], const int32_t to[n][r], const {ty} x[n], {ty} out[m], \
         {ty} other[m]) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
}

fn data(ty: Type, n: i32, change: impl FnOnce(&mut [i32], &mut [i32])) -> Data {
    let mut random = Random(n as u64 + u64::from(ty.bits()));
    let below = |random: &mut Random, low: i32, high: i32| {
        low + (random.next() % u64::from((high - low) as u32)) as i32
    };
    let from = (0..n).map(|_| below(&mut random, 0, READ));
    let mut from: Vec<_> = from.collect();
    let to = (0..n * TURNS).map(|_| below(&mut random, READ, OUTPUTS));
    let mut to: Vec<_> = to.collect();
    change(&mut from, &mut to);
    let mut values =
        |count: i32| -> Vec<Value> { (0..count).map(|_| random.value(ty, 0, 7)).collect() };
    let (x, out, other) = (values(n), values(OUTPUTS), values(OUTPUTS));
    let mut data = Data::default()
        .scalar("n", n)
        .scalar("r", TURNS)
        .scalar("m", OUTPUTS)
        .array("from", &from)
        .array("to", &to);
    for (name, values) in [("x", x), ("out", out), ("other", other)] {
        data.arrays.insert(name.to_owned(), values);
    }
    data
}

/// What changes the indices of reads and of updates.
type Change = fn(&mut [i32], &mut [i32]);

/// Whether the loop is to come to an element that it both reads and updates, and how the indices
/// get there.
const MEETINGS: [(&str, bool, Change); 4] = [
    ("apart", false, |_, _| {}),
    ("the first update meets the last read", true, |from, to| {
        if let (Some(from), Some(to)) = (from.last_mut(), to.first_mut()) {
            (*from, *to) = (5, 5);
        }
    }),
    ("the last update meets the first read", true, |from, to| {
        if let (Some(from), Some(to)) = (from.first_mut(), to.last_mut()) {
            (*from, *to) = (5, 5);
        }
    }),
    ("everywhere", true, |from, to| {
        from.iter_mut().for_each(|it| *it += READ / 2);
        to.iter_mut().for_each(|it| *it -= READ / 2);
    }),
];

struct Case {
    what: String,
    written: Kernel,
    kernel: strew::Kernel,
    /// Whether its updates round those types that do.
    rounds: bool,
}

fn cases() -> impl Iterator<Item = (Case, Type)> {
    BODIES.into_iter().flat_map(|(what, body)| {
        TYPES.map(|(ty, name)| {
            let text = source(body, name);
            let parsed = Source::new("k.c", text.clone()).parse();
            let parsed = parsed.unwrap_or_else(|error| panic!("{error}"));
            let program = Compiler::new().compile("k.c", text).expect("a program");
            let case = Case {
                rounds: !what.contains("least"),
                what: format!("{what}, {ty}"),
                written: parsed.kernel(None).expect("one kernel").kernel().clone(),
                kernel: program.kernel("k").expect("a kernel"),
            };
            (case, ty)
        })
    })
}

fn serially(written: &Kernel, data: &Data) -> Outcome {
    interpreted(written, data, ForallOrder::Forward)
}

#[test]
fn schedules_say_what_is_read_beside_updates() {
    for (case, _) in cases() {
        let text = case.kernel.compiled().kernel().to_string();
        assert!(text.contains("speculative("), "{}: {text}", case.what);
    }
}

#[test]
fn elements_that_are_read_are_not_updated_or_all_is_in_order() {
    for (case, ty) in cases() {
        for (meeting, meets, change) in MEETINGS {
            let data = data(ty, 700, change);
            let serial = serially(&case.written, &data);
            for mode in [Mode::Fast, Mode::Stable, Mode::Exact] {
                let kernel = case.kernel.clone().mode(mode);
                let what = format!("{}, {meeting}, {mode:?}", case.what);
                let rounds = ty.is_float() && case.rounds;
                check(&what, &kernel, &data, &serial, (rounds, mode, meets));
            }
        }
    }
}

#[track_caller]
fn check(
    what: &str,
    kernel: &strew::Kernel,
    data: &Data,
    serial: &Outcome,
    (rounds, mode, meets): (bool, Mode, bool),
) {
    let dense = kernel
        .clone()
        .strategy("dense".parse().expect("a strategy"));
    let (one, _) = compiled_recording(&dense.clone().threads(1), data);
    let regroups = rounds && mode == Mode::Exact;
    assert_eq!(one.is_err(), regroups, "{what}");
    for threads in [1, 2, 3, 16] {
        let auto = compiled(&kernel.clone().threads(threads), data);
        let alike = if rounds && mode != Mode::Exact && !meets {
            is_close
        } else {
            is_same
        };
        agree(&format!("{what}, {threads} threads"), &auto, serial, alike);
        let sorted = kernel.clone().threads(threads);
        let sorted = sorted.strategy("binned".parse().expect("a strategy"));
        let (found, record) = compiled_recording(&sorted, data);
        agree(&format!("{what}, binned"), &found, serial, is_same);
        ran_as_asked(what, record, "binned", meets);
        if regroups {
            continue;
        }
        let (found, record) = compiled_recording(&dense.clone().threads(threads), data);
        agree(&format!("{what}, dense"), &found, serial, alike);
        if mode == Mode::Stable {
            agree(
                &format!("{what}, dense, {threads} threads"),
                &found,
                &one,
                is_same,
            );
        }
        if ran_as_asked(what, record, "dense", meets) == Why::Meets {
            agree(what, &found, serial, is_same);
        }
    }
}

/// Why it ran as it did: because `strategy` was asked for, or in order, where it `meets`.
/// Conditions may leave out the one update that would meet.
#[track_caller]
fn ran_as_asked(what: &str, record: Option<Record>, strategy: &str, meets: bool) -> Why {
    let record = record.expect("a record");
    if record.why == Why::Meets {
        assert!(meets, "{what}");
    } else {
        let asked = (record.strategy, record.why);
        assert_eq!(asked, (strategy, Why::Asked), "{what}");
    }
    record.why
}

/// Unasked, where it pays.
#[test]
fn long_loops_run_at_once_where_they_do_not_meet() {
    for (case, ty) in cases().filter(|(_, ty)| [Type::F64, Type::I32].contains(ty)) {
        for (meeting, meets, change) in MEETINGS {
            let data = data(ty, 80_000, change);
            let kernel = case.kernel.clone();
            let (one, _) = compiled_recording(&kernel.clone().threads(1), &data);
            let serial = kernel
                .clone()
                .strategy("serial".parse().expect("a strategy"));
            let serial = compiled(&serial, &data);
            let what = format!("{}, {meeting}", case.what);
            for threads in [2, 3, 16] {
                let (found, record) = compiled_recording(&kernel.clone().threads(threads), &data);
                agree(&what, &found, &one, is_same);
                let record = record.expect("a record");
                let is_serial = record.strategy == "serial";
                assert!(
                    is_serial || record.strategy == "dense",
                    "{what}: {record:?}"
                );
                assert!(
                    !is_serial || record.why == Why::Meets && meets,
                    "{what}: {record:?}"
                );
                let alike = if is_serial { is_same } else { is_close };
                agree(&what, &found, &serial, alike);
            }
        }
    }
}

#[test]
fn nothing_is_read_of_nothing() {
    for (case, ty) in cases() {
        let data = data(ty, 0, |_, _| {});
        let serial = serially(&case.written, &data);
        for strategy in ["auto", "dense", "binned", "serial"] {
            let kernel = case.kernel.clone();
            let kernel = kernel.strategy(strategy.parse().expect("a strategy"));
            agree(&case.what, &compiled(&kernel, &data), &serial, is_same);
        }
    }
}

/// A fault is that of the loop in order, whatever meets before it or behind.
#[test]
fn faults_are_those_of_the_loop_in_order() {
    let faults: [Change; 5] = [
        |_, to| to[2000] = OUTPUTS,
        |from, _| from[699] = -1,
        |from, _| from[0] = OUTPUTS,
        |from, to| (from[0], to[100], to[101]) = (5, 5, -1),
        |from, to| (from[600], to[100], to[2050]) = (5, -1, 5),
    ];
    for (case, ty) in cases() {
        for (number, change) in faults.into_iter().enumerate() {
            let data = data(ty, 700, change);
            let what = format!("{}, fault {number}", case.what);
            let serial = serially(&case.written, &data);
            let (skipped, count) = interpreted_skipping(&case.written, &data);
            for threads in [1, 3] {
                for name in ["auto", "dense", "binned"] {
                    let strategy = name.parse().expect("a strategy");
                    let kernel = case.kernel.clone().strategy(strategy).threads(threads);
                    let found = compiled(&kernel, &data);
                    let close = match name {
                        "binned" => is_same,
                        _ => is_close,
                    };
                    let alike = if serial.is_ok() { close } else { is_same };
                    agree(&what, &found, &serial, alike);
                    let (found, skips) = compiled_counting(&kernel.oob(Oob::Skip), &data);
                    agree(&format!("{what}, skipping"), &found, &skipped, close);
                    assert_eq!(skips, count, "{what}");
                }
            }
        }
    }
}

#[test]
fn other_strategies_say_that_they_do_not_look() {
    let (case, ty) = cases().next().expect("a case");
    let data = data(ty, 10, |_, _| {});
    let look = ["auto", "dense", "binned", "serial"];
    for strategy in strategies().filter(|it| !look.contains(&it.as_str())) {
        let kernel = case.kernel.clone();
        let kernel = kernel.strategy(strategy.parse().expect("a strategy"));
        let refused = compiled(&kernel, &data).expect_err("a refusal");
        let says = format!("the strategy `{strategy}` runs no loops that read");
        assert!(refused.contains(&says), "{refused}");
    }
}

/// Marks count as copies do: where any order gives the same bits, the loop runs without both.
#[test]
fn marks_are_part_of_the_budget() {
    const SMALL: u64 = 8;
    // For eight copies of 80 elements, were it not for marks and for where copies begin.
    const ROOM: u64 = 8 * 320;
    for (case, ty) in cases().filter(|(_, ty)| *ty == Type::I32) {
        let data = data(ty, 80_000, |_, _| {});
        let kernel = case.kernel.clone().threads(2).memory(ROOM);
        let serial = case.kernel.clone();
        let serial = serial.strategy("serial".parse().expect("a strategy"));
        let serial = compiled(&serial, &data);
        agree(&case.what, &compiled(&kernel, &data), &serial, is_same);
    }
    let (_, body) = BODIES[0];
    let program = Compiler::new().compile("k.c", source(body, "double"));
    let kernel = program.expect("a program").kernel("k").expect("a kernel");
    let (from, to) = ([0; 1000], [1; 3000]);
    let mut out = [1.0; 80];
    let call = kernel
        .memory(SMALL)
        .strategy("dense".parse().expect("a strategy"));
    let call = call.bind().array("from", &from).array("to", &to);
    let call = call.array("x", &[1.0; 1000]).array_mut("out", &mut out);
    let failed = call.scalar("r", 3).array("other", &[1.0; 80]).run();
    let needed = |error: Error| match error {
        Error::Failure(Failure::OverBudget { needed, .. }) => needed,
        other => panic!("{other}"),
    };
    // A bit for each of 80 elements.
    assert_eq!(needed(failed.expect_err("too much")), 10);
    assert_eq!(out, [1.0; 80]);
}

/// In a loop of the kernel's own, where the first turn meets and the others may not.
#[test]
fn turns_of_a_loop_around_see_what_those_before_left() {
    let text = "void k(int32_t n, int32_t r, int32_t m, const int32_t from[n], const int32_t to[n][r], const double x[n], double out[m],
                       double other[m]) {
      for (int t = 0; t < 4; t++)
        for (int i = 0; i < n; i++) {
          double s = 0.25 * out[from[i]];
          for (int j = 0; j < r; j++) if (j < t) out[to[i][j]] += s;
        }
    }";
    let program = Compiler::new().compile("k.c", text).expect("a program");
    let kernel = program.kernel("k").expect("a kernel");
    assert!(
        kernel
            .compiled()
            .kernel()
            .to_string()
            .contains("speculative(")
    );
    let parsed = Source::new("k.c", text).parse().expect("a kernel");
    let written = parsed.kernel(None).expect("one kernel").kernel();
    for (what, meets, change) in MEETINGS {
        let data = data(Type::F64, 500, change);
        let serial = serially(written, &data);
        let dense = kernel
            .clone()
            .strategy("dense".parse().expect("a strategy"));
        let one = compiled(&dense.clone().threads(1), &data);
        let alike = if meets && what == "everywhere" {
            is_same
        } else {
            is_close
        };
        for threads in [2, 16] {
            let found = compiled(&dense.clone().threads(threads), &data);
            agree(what, &found, &one, is_same);
            agree(what, &found, &serial, alike);
        }
    }
}
