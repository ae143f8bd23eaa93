//! Rows of which nobody knows how long they are before they are reached, or where they begin:
//! `y[start[i] + j]`, and all `p` from `row[i]` to `row[i + 1]`.

use crate::against_c;
use crate::data::Data;
use crate::random::Random;
use strew::ir::Value;

const BODIES: [&str; 46] = [
    "for (int p = row[i]; p < row[i + 1]; p++) h[i] += x[p];",
    "int s = 0; for (int p = row[i]; p < row[i + 1]; p++) s += x[p]; h[i] = s;",
    "float s = 0; for (long p = row[i]; p < row[i + 1]; p++) s += f[p]; h[i] = (long)s;",
    "float s = 0; for (int p = row[i]; p < row[i + 1]; p++) if (x[p] > 2) s += f[p]; h[i] = (long)s;",
    "int s = -9; for (int p = row[i]; p < row[i + 1]; p++) s = x[p] > s ? x[p] : s; h[i] = s;",
    "for (int p = row[i]; p < row[i + 1]; p++) y[p] = y[p] * 2 + x[p];",
    "for (int p = row[i]; p < row[i + 1]; p++) y[p] += b[p];",
    "for (int p = row[i]; p < row[i + 1]; p++) { int v = x[p] + i; y[p] += v; z[p] = v; }",
    "for (int p = row[i]; p < row[i + 1]; p++) z[p] = f[p] * (i + 1);",
    "for (int p = row[i]; p < row[i + 1]; p++) for (int j = 0; j < w; j++) g[i][j] += x[p] * g[start[i] & 1][j];",
    "for (int p = row[i]; p < row[i + 1]; p++) for (int j = 0; j < w; j++) t[i][j] += x[p] * g[row[p]][j];",
    "for (int j = 0; j < len[i]; j++) y[start[i] + j] += x[row[i] + j] * len[i];",
    "for (int j = 0; j < len[i]; j++) { int k = start[i] + j; y[k] += 1; z[k] = z[k] + f[k]; }",
    "for (int j = 0; j < len[i]; j++) { long k = (long)start[i] + j; y[k - 1] += j; }",
    "for (int j = 0; j < len[i]; j++) { y[start[i] + j] += 1; y[start[i] + j + 1] += 2; }",
    "for (int j = 0; j < len[i]; j++) y[start[i] - j] += j;",
    "for (int j = 0; j < len[i]; j++) y[start[i] + 2 * j] += j;",
    "for (int j = 0; j < len[i]; j++) y[(unsigned char)(start[i] + j)] += j;",
    "for (int j = 0; j < len[i]; j++) y[(signed char)(start[i] + j) + 128] += j;",
    "for (int j = 0; j < len[i]; j++) y[(unsigned)start[i] + (unsigned)j] += j;",
    "for (int j = 3; j < len[i]; j++) y[start[i] + j] = y[start[i] + j] + x[j - 3];",
    "for (int j = 0; j < w; j++) y[start[i] + j] += x[j];",
    "for (int j = 0; j < 8; j++) y[start[i] + j] += x[j];",
    "for (int j = 0; j < 11; j++) z[start[i] + j] = f[row[i] + j] + 1;",
    "for (int j = 0; j < len[i]; j++) { h[j] += x[start[i] + j]; y[row[i] + j] += 1; }",
    "for (int j = 0; j < len[i]; j++) { y[row[i] + j] += x[len[j]]; }",
    "for (int j = 0; j < w; j++) g[start[i] / 64][j] += x[start[i] + j];",
    "for (int j = 0; j < w; j++) t[j][start[i] + j] += x[j];",
    "for (int p = row[i]; p < row[i + 1]; p++) for (int q = row[p]; q < row[p + 1]; q++) y[q] += x[p];",
    "for (int p = row[i]; p < row[i + 1]; p++) if (f[p] > 1) { y[p] += 1; }",
    "for (int p = row[i]; p < row[i + 1]; p++) z[p] = x[p]; for (int p = row[i]; p < row[i + 1]; p++) z[p] = z[p] * 2 + i;",
    "for (int p = row[i]; p < row[i + 1]; p++) y[p] = x[p]; if (i > 0) for (int p = row[i - 1]; p < row[i]; p++) y[p] += 2;",
    "int s = 0; for (int p = row[i]; p < row[i + 1]; p++) { y[p] = x[p] - s; s += 1; } for (int p = row[i]; p < row[i + 1]; p++) y[p] = y[p] * s;",
    "h[i] += x[row[i]]; for (int p = row[i]; p < row[i + 1]; p++) y[p] = x[p] + 1;",
    "int a = row[i], e = row[i + 1]; h[i] = y[a]; for (int p = a; p < e; p++) y[p] += x[p];",
    "for (int j = 0; j < n - i; j++) { int k = row[0] + j; t[i][0] += g[k][0] * 3 + g[k][0]; }",
    "for (int j = 0; j < n; j++) y[j] = g[row[0] + j][0] * 2 + x[j] * x[j] - 3 * x[j];",
    "for (int p = row[i]; p < row[i + 1]; p++) { int q = y[p]; float v = f[p] * 2 + 1; y[p] = q * 2 + (int)v; z[q & 7] += 1; }",
    "int k = start[i] - 9; for (int j = 0; j < 16; j++) if (k >= 0 && k < n) h[k] += j;",
    "int k = start[i] - 9; for (int j = 0; j < len[i]; j++) if (x[j] > 0) y[k] += j;",
    "float s = 0; for (int p = row[i]; p < row[i + 1]; p++) { int k = b[p]; float d = f[k] - f[p]; s += d * d + d * 3 - f[k] * f[p]; } h[i] = (long)s;",
    "for (int p = row[i]; p < row[i + 1]; p++) { int k = b[p]; z[p] = (f[k] * 2 + f[p]) * (f[k] - 1) + 3; }",
    "for (int p = row[i]; p < row[i + 1]; p++) { int k = b[p], q = x[k] & 7; float v = f[q] + x[q]; z[p] = v * v + v * 3 + f[q + 1] * v; }",
    "for (int p = row[i]; p < row[i + 1]; p++) { float v = 1; if (f[p] > 1) v = f[p] * 2 + 5; z[p] = v * v + f[b[p]] * v - v * 7; }",
    "for (int j = 0; j < w; j++) { int k = x[j] + 3; t[i][j] = (g[i][k] * 5 + j) * 3 - g[i][j] * g[i][k]; }",
    "for (int j = 0; j < len[i]; j++) { int v = x[b[start[i] + j]] * 3; y[row[i] + j] += v * v + 5 * v - x[j] * v; }",
];

fn source(body: &str) -> String {
    format!(
        "void k(int n, int m, int w, const int row[n + 1], const int start[n], const int len[n], const int x[m], \
         const float f[m], const unsigned char b[m], int y[m], float z[m], int g[n][w], int t[n][w], long h[n]) {{ \
           for (int i = 0; i < n; i++) {{ {body} }} }}"
    )
}

/// What goes wrong in the rows of a case.
#[derive(Clone, Copy, PartialEq)]
enum Astray {
    Nothing,
    /// The last row ends behind the last element.
    End,
    /// A row in the middle begins before the first one.
    Begin,
    /// Rows go on beyond the numbers of 32 bits.
    Wrapping,
}

/// Rows of lengths around those of vectors, one behind the other, some of them backwards.
fn case((n, longest, w): (i32, i32, i32), astray: Astray) -> Data {
    let mut random = Random(u64::from((n * longest + w).unsigned_abs()) + 1);
    let mut below = |count: i32| (random.next() % u64::from(count.max(1).unsigned_abs())) as i32;
    let len: Vec<i32> = (0..n).map(|_| below(longest + 1)).collect();
    let mut row = vec![0];
    for length in &len {
        row.push(row.last().expect("a row") + length);
    }
    if n % 2 == 1 && n > 6 {
        row.swap(2, 5);
    }
    let m = row.iter().max().copied().unwrap_or(0) + longest + 8;
    let room = m - longest - 8;
    let mut start: Vec<i32> = (0..n).map(|_| 1 + below(room)).collect();
    let (middle, last) = (n as usize / 2, n as usize);
    match astray {
        Astray::Nothing => {}
        Astray::End => {
            row[last] = m + 1;
            start[last - 1] = m - 1;
        }
        Astray::Begin => {
            row[middle] = -1;
            start[middle] = -3;
        }
        Astray::Wrapping => start[middle] = i32::MAX - 2,
    }
    let numbers = |by: i32| (0..m).map(|it| it * by % 11 - 3).collect::<Vec<_>>();
    let floats = |by: i32| (0..m).map(|it| (it * by % 7) as f32).collect::<Vec<_>>();
    let bytes: Vec<u8> = (0..m).map(|it| (it * 5 % 251) as u8).collect();
    let table: Vec<i32> = (0..n * w).map(|it| it * 13 % 17).collect();
    let data = Data::default().scalar("n", n).scalar("m", m).scalar("w", w);
    let data = data.array("row", &row).array("start", &start);
    let data = data.array("len", &len).array("x", &numbers(7));
    let data = data.array("f", &floats(3)).array("b", &bytes);
    let data = data.array("y", &numbers(3)).array("z", &floats(5));
    let mut data = data.array("g", &table).array("t", &table);
    let h = (0..n).map(|it| Value::i64(it.into()));
    data.arrays.insert("h".to_owned(), h.collect());
    data
}

#[test]
fn rows_are_what_cc_makes_of_them_or_a_fault() {
    let sizes = [(0, 0, 1), (1, 0, 3), (7, 3, 5), (9, 20, 8), (20, 70, 21)];
    let sound = sizes.map(|it| case(it, Astray::Nothing));
    let astray = [Astray::End, Astray::Begin, Astray::Wrapping];
    let astray = astray.map(|it| case((9, 70, 16), it));
    let cases = [sound.as_slice(), astray.as_slice()].concat();
    for body in BODIES {
        let found = against_c::outcomes(&source(body), cases.clone());
        assert!(found.iter().any(|(_, it)| it.is_ok()), "{body}");
    }
}
