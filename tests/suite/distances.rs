//! Random loops over elements that lie at a distance, such as the colours of pixels, fields of
//! records, and arrays from their end to their beginning, in lanes: the interpreter and machine
//! code have the same bits.
//!
//! `STREW_DISTANCES=20000` in the environment runs that many kernels, and `STREW_RANDOM_SEED=7`
//! begins elsewhere.

use crate::data::{Data, is_same};
use crate::engines::{agree, compiled, interpreted};
use crate::random::{Random, each_seed};
use std::fmt::Write as _;
use strew::ir::Type;
use strew::ir::interpret::ForallOrder;
use strew::{Plan, Source, parse_schedule};

/// How many kernels the test runs unless told otherwise.
const COUNT: u64 = 150;
const TYPES: [Type; 8] = [
    Type::U8,
    Type::I16,
    Type::I32,
    Type::U32,
    Type::F32,
    Type::I64,
    Type::F64,
    Type::I8,
];

struct Text {
    random: Random,
    ty: Type,
    /// How many elements a row has.
    row: u64,
    /// How many of them are fields of their own, where the rows of `a` and `f` are records; the
    /// others are one field together.
    fields: Option<u64>,
}

impl Text {
    fn below(&mut self, end: u64) -> u64 {
        self.random.next() % end
    }

    /// An element of the row `index` of `a` or `f`.
    fn in_row(&self, array: &str, index: &str, number: u64) -> String {
        match self.fields {
            None => format!("{array}[{index}, {number}]"),
            Some(fields) if number < fields => format!("{array}.c{number}[{index}]"),
            Some(fields) => format!("{array}.v[{index}, {}]", number - fields),
        }
    }

    /// The type of `rows` rows, where these are records with room in front of what is in them,
    /// behind it, or nowhere.
    fn rows(&mut self, rows: &str) -> String {
        let (ty, row) = (self.ty, self.row);
        let Some(fields) = self.fields else {
            return format!("{ty}[{rows}, {row}]");
        };
        let (before, after) = (self.below(2), self.below(2));
        let bytes = u64::from(ty.bytes());
        let singles = (0..fields).map(|it| format!("c{it}: {ty} @ {}", (before + it) * bytes));
        let mut all: Vec<_> = singles.collect();
        if fields < row {
            let begin = (before + fields) * bytes;
            all.push(format!("v: {ty}[{}] @ {begin}", row - fields));
        }
        if after > 0 {
            all.push(format!("z: u8 @ {}", (before + row) * bytes));
        }
        let size = (before + row + after) * bytes;
        format!("record({size}) {{ {} }}[{rows}]", all.join(", "))
    }

    /// An element of `a` or `b`, `c`, of which whole rows are in range, or of the others.
    fn element(&mut self) -> String {
        let (row, number) = (self.row, self.below(self.row));
        let further = self.below(3);
        match self.below(9) {
            0..=2 => self.in_row("a", "i", number),
            8 => self.in_row("a", &format!("i + {further} - 1"), number),
            3 => format!("b[i, {number}]"),
            4 => format!("c[{row} * i + {}]", number + further),
            5 => format!("c[n - i + {further}]"),
            6 => format!("d[i + {further}, {number}]"),
            _ => "e[i]".to_owned(),
        }
    }

    fn value(&mut self) -> String {
        let (one, other) = (self.element(), self.element());
        match self.below(4) {
            0 => one,
            1 => format!("{one} - {other}"),
            2 => format!("{one} + {other}"),
            _ => format!("({one} < {other} ? {other} : {one})"),
        }
    }

    fn of(random: Random) -> String {
        let mut text = Self {
            random,
            ty: Type::F64,
            row: 2,
            fields: None,
        };
        text.ty = TYPES[text.below(TYPES.len() as u64) as usize];
        text.row = 2 + text.below(7);
        if text.below(2) == 0 {
            text.fields = Some(text.below(text.row + 1));
        }
        let mut body = String::new();
        if text.below(3) == 0 {
            let value = text.value();
            let _ = writeln!(body, "let s: {} = {value}", text.ty);
        }
        let mut numbers: Vec<u64> = (0..text.row).collect();
        let written = ["a", "f", "g"][text.below(3) as usize];
        if text.below(3) == 0 {
            numbers.truncate(1 + text.below(text.row) as usize);
        }
        for _ in 0..text.below(3) {
            let last = numbers.len() as u64;
            let (one, other) = (text.below(last), text.below(last));
            numbers.swap(one as usize, other as usize);
        }
        let row = text.row;
        for number in numbers {
            let value = text.value();
            let place = match written {
                "g" => format!("g[{row} * i + {number}]"),
                _ => text.in_row(written, "i", number),
            };
            let _ = match text.below(4) {
                0 => writeln!(body, "{place} reduce(add) {value}"),
                _ => writeln!(body, "{place} = {value}"),
            };
        }
        if text.below(2) == 0 {
            let _ = writeln!(body, "h[n - i] = {}", text.value());
        }
        let ty = text.ty;
        let [a, f] = ["n + 2", "n"].map(|it| text.rows(it));
        format!(
            "kernel @k(n: i64, a: {a}, b: {ty}[n, {row}], c: {ty}[{row} * n + 12], d: {ty}[n + 2, {row}], e: {ty}[n], f: {f}, g: {ty}[{row} * n], h: {ty}[n + 1]) {{\naffine.for i in 1..n {{\n{body}}} }}"
        )
    }
}

fn data(kernel: &strew::ir::Kernel, random: &mut Random, n: i64) -> Data {
    let mut data = Data::default().scalar("n", n);
    for array in kernel.array_params() {
        let array = &kernel.arrays[array];
        let extents = array.extents.iter().map(|it| it.evaluate(&|_| n));
        let all: i64 = extents.map(|it| it.expect("an extent")).product();
        let cells = (0..all).map(|_| random.value(array.element, 0, 100));
        data.arrays.insert(array.name.clone(), cells.collect());
    }
    data
}

/// Whether the loop ran in lanes.
fn check(seed: u64) -> bool {
    let source = Source::new("k.nest", Text::of(Random(seed)));
    let parsed = source.parse().expect("a kernel");
    let parsed = parsed.kernel(None).expect("one kernel");
    let mut random = Random(!seed);
    let lanes = [16, 32][(random.next() % 2) as usize];
    let steps = parse_schedule("steps", &format!("vectorize(i, {lanes})")).expect("a schedule");
    let Ok(scheduled) = parsed.schedule(&Plan::Explicit(steps), &mut ()) else {
        return false;
    };
    let kernel = strew::Kernel::from(scheduled.compile().expect("machine code"));
    for n in [0, 1, lanes - 1, lanes, 3 * lanes + 7] {
        let data = data(parsed.kernel(), &mut random, n);
        let before = interpreted(parsed.kernel(), &data, ForallOrder::Forward);
        agree("machine code", &compiled(&kernel, &data), &before, is_same);
    }
    true
}

#[test]
#[expect(clippy::print_stderr, reason = "a failure tells what it was about")]
fn elements_at_a_distance_have_the_same_bits_in_lanes() {
    let done = each_seed(("STREW_DISTANCES", COUNT), check, |it| Text::of(Random(it)));
    let count = done.len();
    let in_lanes = done.into_iter().filter(|it| *it).count();
    eprintln!("{in_lanes} of {count} run in lanes");
    assert!(in_lanes * 3 > count, "{in_lanes} of {count}");
}
