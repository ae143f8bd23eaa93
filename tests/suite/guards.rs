//! Loops that read what they update, where conditions around the updates say that these are other
//! elements.

use crate::data::{Data, is_same};
use crate::engines::{
    agree, compiled, compiled_counting, compiled_recording, interpreted, interpreted_skipping,
};
use crate::random::Random;
use strew::ir::interpret::ForallOrder;
use strew::ir::{Type, Value};
use strew::{Compiler, Oob, Source, Why};

const OUTPUTS: i32 = 80;
const ITERATIONS: i32 = 700;

/// Elements below this one have level 0, the others levels 1 and 2 in turn.
const READ: i32 = 32;

/// What a turn of the inner one of two loops does. None of them updates an element of level 0.
const GUARDED: [(&str, &str); 8] = [
    (
        "a condition on the level",
        "if (level[to[i][j]] == 1) out[to[i][j]] += out[from[i]];",
    ),
    (
        "besides others",
        "int w = to[i][j]; if (x[i] > 1 && level[w] > 0 && x[i] < 5) out[w] += out[from[i]];",
    ),
    (
        "in one of two branches each",
        "int w = to[i][j]; if (level[w] == 1) out[w] += out[from[i]]; else if (level[w] == 2) out[w] += 2 * out[from[i]];",
    ),
    (
        "around others and a loop",
        "if (level[to[i][j]] >= least) for (int k = 0; k < 3; k++) if (x[i] > k) out[to[i][j]] += out[from[i]];",
    ),
    (
        "of elements of elements",
        "if (level[to[to[i][j] & 63][j]] + 1 > least) out[to[to[i][j] & 63][j]] += out[from[i]];",
    ),
    (
        "one way or the other",
        "if (level[to[i][j]] == 2 || level[to[i][j]] == least) out[to[i][j]] += out[from[i]];",
    ),
    (
        "read next to each other",
        "if (level[to[i][j]] == 1) out[to[i][j]] += out[from[i]] + out[from[i] ^ 1];",
    ),
    (
        "beside what is not read",
        "other[to[i][j]] += 1; if (level[to[i][j]] == 1) out[to[i][j]] += out[from[i]];",
    ),
];

/// Conditions that tell nothing of all elements that are updated.
const UNGUARDED: [(&str, &str); 8] = [
    (
        "a condition that changes with the iteration",
        "if (level[to[i][j]] == x[i] % 3) out[to[i][j]] += out[from[i]];",
    ),
    (
        "a second update",
        "if (level[to[i][j]] == 1) out[to[i][j]] += out[from[i]]; out[to[i][j] ^ 1] += x[i];",
    ),
    (
        "another element than that of the condition",
        "if (level[to[i][j]] == 1) out[(to[i][j] + 39) % m] += out[from[i]];",
    ),
    (
        "a subscript that changes below the condition",
        "int w = to[i][j]; if (level[w] == 1) { w = to[w][j]; out[w] += out[from[i]]; }",
    ),
    (
        "the other branch",
        "if (level[to[i][j]] == 1) other[to[i][j]] += 1; else out[to[i][j]] += out[from[i]];",
    ),
    (
        "an alternative",
        "if (level[to[i][j]] == 1 || x[i] > 3) out[to[i][j]] += out[from[i]];",
    ),
    (
        "a bound that a scalar of the loop has",
        "int b = x[i] & 1; if (level[to[i][j]] >= b) out[to[i][j]] += out[from[i]];",
    ),
    (
        "a table of the loop's own",
        "int t[2]; t[0] = x[i] & 1; t[1] = 0; if (level[to[i][j]] >= t[0]) out[to[i][j]] += out[from[i]];",
    ),
];

fn source(body: &str) -> String {
    format!(
        "void k(int n, int m, int least, const int from[n], const int to[n][3], const int x[n], const int level[m], long out[m], \
         long other[m]) {{ for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) {{ {body} }} }}"
    )
}

fn data(read_too: Option<i32>) -> Data {
    let mut random = Random(7);
    let mut below = |most: i32| (random.next() % most as u64) as i32;
    let mut from: Vec<_> = (0..ITERATIONS).map(|_| below(READ)).collect();
    let to: Vec<_> = (0..ITERATIONS * 3).map(|_| below(OUTPUTS)).collect();
    let x: Vec<_> = (0..ITERATIONS).map(|_| below(7)).collect();
    // Some of these iterations update something, too, so that they come to read.
    from[300..350]
        .iter_mut()
        .for_each(|it| *it = read_too.unwrap_or(*it));
    let level = |element: i32| if element < READ { 0 } else { 1 + element % 2 };
    let level: Vec<_> = (0..OUTPUTS).map(level).collect();
    let data = Data::default().scalar("n", ITERATIONS).scalar("m", OUTPUTS);
    let data = data.scalar("least", 1).array("from", &from);
    let mut data = data.array("to", &to).array("x", &x).array("level", &level);
    for name in ["out", "other"] {
        let values = (0..OUTPUTS).map(|it| Value::i64(i64::from(it) + 3));
        data.arrays.insert(name.to_owned(), values.collect());
    }
    data
}

/// The kernel as it is written, and as it is to run by `dense`.
fn kernels(what: &str, body: &str) -> (strew::ir::Kernel, strew::Kernel) {
    kernels_of(what, &source(body))
}

fn kernels_of(what: &str, text: &str) -> (strew::ir::Kernel, strew::Kernel) {
    kernels_by(&Compiler::new(), what, text)
}

fn kernels_by(compiler: &Compiler, what: &str, text: &str) -> (strew::ir::Kernel, strew::Kernel) {
    let parsed = Source::new("k.c", text).parse().expect(what);
    let written = parsed.kernel(None).expect("one kernel").kernel().clone();
    let program = compiler.compile("k.c", text).expect(what);
    let kernel = program.kernel("k").expect("a kernel");
    let dense = kernel.strategy("dense".parse().expect("a strategy"));
    (written, dense)
}

/// Why the loop ran as it did; it has the bits of the loop in order.
fn reasons(what: &str, body: &str, data: &Data) -> Vec<Why> {
    let (written, kernel) = kernels(what, body);
    let serial = interpreted(&written, data, ForallOrder::Forward);
    let of_threads = [1, 3, 8].map(|threads| {
        let (found, record) = compiled_recording(&kernel.clone().threads(threads), data);
        agree(what, &found, &serial, is_same);
        record.expect("a record").why
    });
    of_threads.to_vec()
}

#[test]
fn elements_that_conditions_leave_out_may_be_read() {
    for (what, body) in GUARDED {
        for why in reasons(what, body, &data(None)) {
            assert_eq!(why, Why::Asked, "{what}");
        }
    }
}

/// One of level 1, which some iteration updates.
#[test]
fn others_may_not() {
    for (what, body) in GUARDED {
        for why in reasons(what, body, &data(Some(40))) {
            assert_eq!(why, Why::Meets, "{what}");
        }
    }
}

#[test]
fn conditions_that_do_not_tell_are_not_believed() {
    for (what, body) in UNGUARDED {
        for data in [data(None), data(Some(40)), data(Some(41))] {
            for why in reasons(what, body, &data) {
                assert_eq!(why, Why::Meets, "{what}");
            }
        }
    }
}

/// Neither what is read, nor what is updated, nor its level is there.
#[test]
fn indices_out_of_range_are_those_of_the_loop_in_order() {
    for (what, body) in GUARDED.into_iter().chain(UNGUARDED) {
        let (written, kernel) = kernels(what, body);
        for (array, index) in [("from", -1), ("from", OUTPUTS), ("to", -1), ("to", OUTPUTS)] {
            let mut data = data(None);
            let values = data.arrays.get_mut(array).expect("an array");
            values[321] = Value::integer(Type::I32, i128::from(index));
            let serial = interpreted(&written, &data, ForallOrder::Forward);
            let (skipped, count) = interpreted_skipping(&written, &data);
            for threads in [1, 3] {
                let kernel = kernel.clone().threads(threads);
                agree(what, &compiled(&kernel, &data), &serial, is_same);
                let (found, skips) = compiled_counting(&kernel.oob(Oob::Skip), &data);
                agree(what, &found, &skipped, is_same);
                assert_eq!(skips, count, "{what}");
            }
        }
    }
}

/// Of two conditions, one is asked of an array that does not have the element that is read, the
/// other holds of it.
#[test]
fn each_condition_is_asked_for_itself() {
    let text = "void k(int n, int m, int least, int p, const int from[n], const int to[n][3], const int x[n], const int low[p], const int level[m],
                       long out[m]) {
      for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++) {
        int w = to[i][j];
        if (w < p) { if (low[w] == 1) out[w] += out[from[i]]; }
        else if (level[w] == 1) out[w] += x[i];
      }
    }";
    let (written, kernel) = kernels_of("two conditions", text);
    let data = data(None).scalar("p", READ);
    let data = data.array("from", &[40; ITERATIONS as usize]);
    let data = data.array("low", &[1; READ as usize]);
    let serial = interpreted(&written, &data, ForallOrder::Forward);
    let (skipped, _) = interpreted_skipping(&written, &data);
    for threads in [1, 3] {
        let kernel = kernel.clone().threads(threads);
        let (found, record) = compiled_recording(&kernel, &data);
        agree("two conditions", &found, &serial, is_same);
        assert_eq!(record.map(|it| it.why), Some(Why::Meets));
        agree(
            "skipping",
            &compiled(&kernel.oob(Oob::Skip), &data),
            &skipped,
            is_same,
        );
    }
}

/// What the look needs of what is around the loop is not all that the loop needs.
#[test]
fn scalars_around_the_loop_are_handed_on() {
    let text = "void k(int n, int m, int least, int turns, const int from[n], const int to[n][3], const int x[n], const long scale[turns],
                       const int off[turns], const int level[m], const int levels[turns], long out[m]) {
      for (int t = 0; t < turns; t++) {
        long s = scale[t];
        int o = off[t];
        int l = levels[t];
        for (int i = 0; i < n; i++) for (int j = 0; j < 3; j++)
          if (level[to[i][j]] == l) out[to[i][j]] += s * out[from[i] + o];
      }
    }";
    let schedule = "tile_indirection_using_forall(i, chunks = 8)";
    let compiler = Compiler::new().schedule(schedule.parse().expect("a schedule"));
    let (written, kernel) = kernels_by(&compiler, "scalars around", text);
    for (off, meets) in [([0, 1, 0], false), ([0, 8, 40], true)] {
        let data = data(Some(30)).scalar("turns", 3).array("off", &off);
        let data = data.array("levels", &[1, 2, 2]);
        let data = data.array("scale", &[0x0100_0000_0100_i64, 256, 1]);
        let serial = interpreted(&written, &data, ForallOrder::Forward);
        for oob in [Oob::Error, Oob::Skip] {
            for threads in [1, 3] {
                let kernel = kernel.clone().threads(threads).oob(oob);
                let (found, record) = compiled_recording(&kernel, &data);
                agree("scalars around", &found, &serial, is_same);
                if !meets {
                    assert_eq!(record.map(|it| it.why), Some(Why::Asked));
                }
            }
        }
    }
}
