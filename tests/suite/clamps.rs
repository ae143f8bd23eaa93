//! Subscripts that are clamped to their dimension, in all the ways in which people write that, and
//! in some that only look like it: what is in range is what `cc` computes, and what is not is a
//! fault wherever it was one.

use crate::against_c::outcomes;
use crate::data::Data;
use crate::random::Random;
use strew::ir::Value;

const HELPERS: &str = "
static int least(int a, int b) { return a < b ? a : b; }
static int most(int a, int b) { return a > b ? a : b; }
static int within(int v, int end) { if (v < 0) return 0; if (v > end) return end; return v; }
#define CLAMP(v, low, high) ((v) < (low) ? (low) : (v) > (high) ? (high) : (v))
";

/// What reads and updates elements of dimensions of `m` and `w`, or of a number of them.
const CLAMPED: [&str; 18] = [
    "int b = key[i]; if (b < 0) b = 0; if (b >= m) b = m - 1; h[b] += 1;",
    "int b = key[i]; if (b >= m) b = m - 1; else if (b < 0) b = 0; h[b] += i;",
    "int b = (int)(x[i] / 2); b = b < 0 ? 0 : b; b = b > m - 1 ? m - 1 : b; h[b] += 1;",
    "h[least(most(key[i], 0), m - 1)] += 1;",
    "h[most(least(key[i], m - 1), 0)] += 1;",
    "h[within(key[i] + 1, m - 1)] += 1;",
    "h[CLAMP(key[i], 0, m - 1)] += image[CLAMP(i / 7 - 1, 0, m - 1)][CLAMP(i - 3, 0, w - 1)];",
    "unsigned k = bits[i]; h[k < (unsigned)m ? k : (unsigned)m - 1] += 1;",
    "h[(unsigned)key[i] < (unsigned)m ? key[i] : 0] += 1;",
    "h[bits[i] % (unsigned)m] += 1;",
    "h[bits[i] & (unsigned)(m - 1)] += 1;",
    "long k = (long)key[i] * 3 - 5; h[k < 0 ? 0 : k >= m ? m - 1 : k] += 1;",
    "int k = key[i]; if (x[i] > 0) { k = most(k, 0); k = least(k, m - 1); h[k] += 1; }",
    "int k = key[i]; if (k >= 0) { h[k < m ? k : m - 1] += 1; }",
    "int k = within(key[i], m - 1); if (image[k][within(i, w - 1)] > 1) h[m - 1 - k] += k;",
    "for (int y = 0; y < m; y++) h[y] += image[y > 0 ? y - 1 : 0][0] + image[y < m - 1 ? y + 1 : m - 1][w - 1];",
    "for (int y = 0; y < m; y++) for (int x = 0; x < w; x++) for (int d = -2; d < 3; d++) h[y] += image[within(y + d, m - 1)][within(x - d, w - 1)];",
    "int k = 0; for (int j = 0; j < 3; j++) { k = within(k + key[i], m - 1); h[k] += j; }",
];

/// The same where some subscript may be out of range.
const ASTRAY: [&str; 12] = [
    "int b = key[i]; if (b < 0) b = 0; if (b > m) b = m; h[b] += 1;",
    "int b = key[i]; if (b < 0) b = 0; if (b > m) b = m - 1; h[b] += 1;",
    "h[CLAMP(key[i], 0, w - 1)] += 1;",
    "h[CLAMP(key[i], 0, m - 1) + 1] += 1;",
    "h[CLAMP(key[i], -1, m - 1)] += 1;",
    "int k = within(key[i], m - 1); k = key[i]; h[k] += 1;",
    "int k = key[i]; if (x[i] > 0) k = within(k, m - 1); h[k] += 1;",
    "int k = key[i]; if (k < 0) k = -k; if (k >= m) k = m - 1; h[k] += 1;",
    "int k = key[i]; if (k - 1 >= 0) h[k - 1 < m ? k - 1 : m - 1] += 1; h[k < m ? k : m - 1] += 1;",
    "int k = most(key[i], 0); h[k] += 1; h[least(k, m - 1)] += 1;",
    "h[key[i] % m] += 1;",
    "int k = 0; for (int j = 0; j < 3; j++) { h[k] += j; k = least(k + key[i], m - 1); }",
];

fn source(body: &str) -> String {
    format!(
        "{HELPERS}void k(int n, int m, int w, const int key[n], const unsigned bits[n], const float x[n], \
         const short image[m][w], long h[m]) {{ for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
}

/// Keys around all ends, the dimensions that they are clamped to, and none.
fn cases() -> Vec<Data> {
    let sizes = [(0, 0, 0), (20, 1, 1), (20, 2, 5), (90, 37, 9), (20, 0, 3)];
    sizes.into_iter().map(|(n, m, w)| case(n, m, w)).collect()
}

fn case(n: i32, m: i32, w: i32) -> Data {
    let mut random = Random(u64::from(n.unsigned_abs()) + 1);
    let ends = [
        0,
        -1,
        1,
        m,
        m - 1,
        m + 1,
        -m,
        i32::MIN,
        i32::MIN + 1,
        i32::MAX,
    ];
    let mut number = |position: i32| match ends.get(position as usize) {
        Some(end) => *end,
        None => (random.next() % 200) as i32 - 60,
    };
    let key: Vec<_> = (0..n).map(&mut number).collect();
    let bits: Vec<_> = key.iter().map(|it| it.cast_unsigned()).collect();
    let x: Vec<_> = key.iter().rev().map(|it| *it as f32).collect();
    let data = Data::default().scalar("n", n).scalar("m", m).scalar("w", w);
    let image: Vec<_> = (0..m * w).map(|it| (it % 19) as i16 - 4).collect();
    let mut data = data.array("key", &key).array("bits", &bits).array("x", &x);
    data = data.array("image", &image);
    let h = (0..m).map(|it| Value::i64(it.into()));
    data.arrays.insert("h".to_owned(), h.collect());
    data
}

fn size(data: &Data, name: &str) -> i128 {
    data.scalars[name].as_integer().expect("an integer")
}

#[test]
fn clamps_keep_subscripts_in_range() {
    for body in CLAMPED {
        for (data, outcome) in outcomes(&source(body), cases()) {
            let has_elements = size(&data, "m") > 0 && size(&data, "w") > 0;
            assert!(outcome.is_ok() || !has_elements, "{body}: {outcome:?}");
        }
    }
}

#[test]
fn what_is_no_clamp_is_checked() {
    for body in ASTRAY {
        let found = outcomes(&source(body), cases());
        assert!(found.iter().any(|(_, it)| it.is_err()), "{body}");
    }
}

/// What a condition alone keeps in range, in loops whose turns run in lanes: keys that it keeps out
/// lie so far away that no memory is there.
const GUARDED: [&str; 5] = [
    "if (k >= 0 && k < m) h[k] += j;",
    "if (k >= 0) h[k < m ? k : m - 1] += 1;",
    "if (k >= 0) { int q = k < m ? k : m - 1; h[q] += j; }",
    "float s = x[i][j]; if (k >= 0) s *= table[k < m ? k : m - 1]; y[i][j] = s;",
    "float s = x[i][j]; if (k >= 0) s = rows[k < m ? k : m - 1][j]; y[i][j] = s;",
];

fn far(m: i32) -> Data {
    let n = 60;
    let key = |it: i32| match it % 5 {
        0 => i32::MIN + it,
        1 => i32::MAX - it,
        2 => -it,
        _ => it * 97 % m,
    };
    let keys: Vec<_> = (0..n).map(key).collect();
    let floats = |count: i32| -> Vec<_> { (0..count).map(|it| (it % 23) as f32).collect() };
    let data = Data::default().scalar("n", n).scalar("m", m);
    let data = data.array("key", &keys).array("table", &floats(m));
    let data = data
        .array("rows", &floats(m * 16))
        .array("x", &floats(n * 16));
    let mut data = data.array("y", &floats(n * 16));
    let h = (0..m).map(|it| Value::i64(it.into()));
    data.arrays.insert("h".to_owned(), h.collect());
    data
}

#[test]
fn what_a_condition_keeps_out_is_not_touched_in_lanes() {
    for body in GUARDED {
        let text = format!(
            "void k(int n, int m, const int key[n], const float table[m], const float rows[m][16], const float x[n][16], \
             float y[n][16], long h[m]) {{ for (int i = 0; i < n; i++) {{ int k = key[i]; \
             for (int j = 0; j < 16; j++) {{ {body} }} }} }}"
        );
        for (_, outcome) in outcomes(&text, vec![far(1), far(5000)]) {
            assert!(outcome.is_ok(), "{body}: {outcome:?}");
        }
    }
}

/// A table that may be left out.
#[test]
fn what_runs_only_with_a_table_needs_no_element_of_it() {
    let text = "void k(int n, int m, const int key[n], const float table[m], float y[n]) {
        for (int i = 0; i < n; i++) y[i] += 1;
        if (m > 0) for (int i = 0; i < n; i++) y[i] *= table[key[i] < 0 ? 0 : key[i] >= m ? m - 1 : key[i]];
    }";
    let case = |m: i32| {
        let keys: Vec<_> = (-30..30).collect();
        let floats = |count: i32| -> Vec<_> { (0..count).map(|it| it as f32).collect() };
        let data = Data::default().scalar("n", 60).scalar("m", m);
        let data = data.array("key", &keys).array("table", &floats(m));
        data.array("y", &floats(60))
    };
    for (_, outcome) in outcomes(text, vec![case(0), case(1), case(20)]) {
        assert!(outcome.is_ok(), "{outcome:?}");
    }
}
