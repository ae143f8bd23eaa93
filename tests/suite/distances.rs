//! Random loops over elements that lie at a distance, such as the colours of pixels and arrays from their end to their beginning, in lanes: the
//! interpreter and machine code have the same bits.
//!
//! `STREW_DISTANCES=20000` in the environment runs that many kernels, and `STREW_RANDOM_SEED=7` begins elsewhere.

use crate::data::{Data, is_same};
use crate::engines::{agree, compiled, interpreted};
use crate::random::{Random, each_seed};
use std::fmt::Write as _;
use strew::ir::interpret::ForallOrder;
use strew::ir::{Type, Value};
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
}

impl Text {
    fn below(&mut self, end: u64) -> u64 {
        self.random.next() % end
    }

    /// An element of `a` or `b`, `c`, of which whole rows are in range, or of the others.
    fn element(&mut self) -> String {
        let (row, number) = (self.row, self.below(self.row));
        let further = self.below(3);
        match self.below(9) {
            0..=2 => format!("a[i, {number}]"),
            8 => format!("a[i + {further} - 1, {number}]"),
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
        };
        text.ty = TYPES[text.below(TYPES.len() as u64) as usize];
        text.row = 2 + text.below(7);
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
                _ => format!("{written}[i, {number}]"),
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
        format!(
            "kernel @k(n: i64, a: {ty}[n + 2, {row}], b: {ty}[n, {row}], c: {ty}[{row} * n + 12], d: {ty}[n + 2, {row}], e: {ty}[n], f: {ty}[n, {row}], g: {ty}[{row} * n], h: {ty}[n + 1]) {{\naffine.for i in 1..n {{\n{body}}} }}"
        )
    }
}

fn data(kernel: &strew::ir::Kernel, random: &mut Random, n: i64) -> Data {
    let mut data = Data::default().scalar("n", n);
    for passed in crate::data::passed(kernel) {
        if let crate::data::Passed::Array(name, ty) = passed {
            let mut arrays = kernel.array_params().map(|it| &kernel.arrays[it]);
            let declared = arrays.find(|it| it.name == name).expect("an array");
            let extents = declared.extents.iter().map(|it| it.evaluate(&|_| n));
            let all: i64 = extents.map(|it| it.expect("an extent")).product();
            let cells: Vec<Value> = (0..all).map(|_| random.value(ty, 0, 100)).collect();
            data.arrays.insert(name, cells);
        }
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
