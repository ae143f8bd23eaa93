//! Random arithmetic on narrow integers, computed in narrower types and in lanes: the same numbers
//! come out of the interpreter and of machine code, whatever the elements are.
//!
//! `STREW_NARROW=20000` in the environment runs that many kernels, and `STREW_RANDOM_SEED=7` begins
//! elsewhere.

use crate::data::{Data, is_same, passed};
use crate::engines::{agree, compiled, interpreted};
use crate::random::{Random, each_seed};
use std::fmt::Write as _;
use strew::ir::interpret::ForallOrder;
use strew::ir::{Kernel, Type, Value};
use strew::{ParsedKernel, Plan, Source, parse_schedule};

/// How many kernels the test runs unless told otherwise.
const COUNT: u64 = 150;
const N: i64 = 37;
const LOADS: [&str; 5] = ["a", "b", "c", "d", "e"];

/// The text of a random kernel.
struct Text {
    random: Random,
    text: String,
    /// In which it computes, as C does in `int`.
    wide: &'static str,
    scalars: Vec<String>,
}

impl Text {
    fn of(random: Random) -> String {
        let mut text = Self {
            random,
            text: String::new(),
            wide: "i32",
            scalars: Vec::new(),
        };
        text.wide = text.pick(&["i32", "i32", "i32", "u32", "i64"]);
        for number in 0..text.below(4) {
            text.scalar(number);
        }
        for (array, ty) in [("o8", "u8"), ("o16", "i16"), ("o32", "i32")] {
            if text.below(3) > 0 {
                let value = text.value(3);
                let _ = writeln!(text.text, "{array}[i] = {ty}({value})");
            }
        }
        if text.below(3) == 0 {
            let (value, condition) = (text.value(2), text.condition(1));
            let _ = match text.below(2) {
                0 => writeln!(text.text, "sum[0] reduce(add) i32({value})"),
                _ => writeln!(text.text, "scf.if {condition} {{ sum[0] reduce(add) 1 }}"),
            };
        }
        format!(
            "kernel @k(n: i64, p: i32, q: i16, a: u8[n], b: i8[n], c: i16[n], d: u16[n], e: i32[n], o8: u8[n], o16: i16[n], o32: i32[n], sum: i32[1]) {{\naffine.for i in 0..n {{\n{}}} }}",
            text.text
        )
    }

    fn below(&mut self, end: u64) -> u64 {
        self.random.next() % end
    }

    fn pick<'t>(&mut self, texts: &[&'t str]) -> &'t str {
        let position = self.below(texts.len() as u64);
        texts[position as usize]
    }

    /// A scalar that is set once, or again and again.
    fn scalar(&mut self, number: u64) {
        let (name, wide, value) = (format!("s{number}"), self.wide, self.value(2));
        if self.below(2) == 0 {
            let _ = writeln!(self.text, "let {name}: {wide} = {value}");
            self.scalars.push(name);
            return;
        }
        let _ = writeln!(self.text, "var {name}: {wide} = {value}");
        self.scalars.push(name.clone());
        for _ in 0..self.below(3) {
            let (value, condition) = (self.value(1), self.condition(1));
            let combiner = self.pick(&["min", "max", "add", "mul", "and", "xor"]);
            let _ = match self.below(4) {
                0 => writeln!(self.text, "{name} = {value}"),
                1 => writeln!(
                    self.text,
                    "scf.if {condition} {{ {name} = {value} }} else {{ {name} = {name} }}"
                ),
                2 => writeln!(self.text, "scf.if {condition} {{ {name} = {value} }}"),
                _ => writeln!(self.text, "{name} reduce({combiner}) {value}"),
            };
        }
    }

    fn leaf(&mut self) -> String {
        let wide = self.wide;
        match self.below(10) {
            0 => format!("{wide}({})", self.pick(&["p", "q", "i", "e[i]"])),
            1 => self.pick(&["0", "1", "7", "255", "77"]).to_owned(),
            2 | 3 if !self.scalars.is_empty() => {
                let position = self.below(self.scalars.len() as u64);
                self.scalars[position as usize].clone()
            }
            _ => format!("{wide}({}[i])", self.pick(&LOADS[..4])),
        }
    }

    fn value(&mut self, depth: u32) -> String {
        let wide = self.wide;
        if depth == 0 {
            return format!("{wide}({})", self.leaf());
        }
        let (one, other) = (self.value(depth - 1), self.value(depth - 1));
        let count = self.pick(&["0", "1", "3", "8", "15"]);
        match self.below(16) {
            0..=2 => format!("({one} + {other})"),
            3 | 4 => format!("({one} - {other})"),
            5 | 6 => format!("({one} * {other})"),
            7 => format!("({one} {} {other})", self.pick(&["&", "|", "^"])),
            8 => format!("({one} << {wide}({count}))"),
            9 | 10 => format!("({one} >> {wide}({count}))"),
            11 => {
                let op = self.pick(&["/", "%"]);
                let by = self.pick(&["1", "2", "3", "9", "10", "16", "255", "1000"]);
                format!("({one} {op} {wide}({by}))")
            }
            12 => format!("{}({one})", self.pick(&["-", "~", "-", "~", "clz"])),
            13 => {
                let cut = self.pick(&["u8", "i8", "u16", "i16", "i32"]);
                let counted = self.pick(&["", "", "", "popcount", "clz", "ctz"]);
                format!("{wide}({counted}({cut}({one})))")
            }
            _ => format!("({} ? {one} : {other})", self.condition(depth - 1)),
        }
    }

    fn condition(&mut self, depth: u32) -> String {
        let (one, other) = (self.value(depth), self.value(depth));
        let op = self.pick(&["<", "<=", ">", ">=", "==", "!="]);
        format!("{one} {op} {other}")
    }
}

/// Elements of all bits there are, and now and then the least and the greatest.
fn data(kernel: &Kernel, random: &mut Random) -> Data {
    let mut data = Data::default();
    data = data.scalar("n", N);
    let mut any = |ty: Type| {
        let (least, most) = ty.integer_range().expect("an integer");
        match random.next() % 6 {
            0 => Value::integer(ty, least),
            1 => Value::integer(ty, most),
            _ => Value::from_bits(ty, random.next()),
        }
    };
    for passed in passed(kernel) {
        match passed {
            crate::data::Passed::Scalar(name, ty) if name != "n" => {
                data.scalars.insert(name, any(ty));
            }
            crate::data::Passed::Array(name, ty) => {
                let extent = if name == "sum" { 1 } else { N };
                let cells = (0..extent).map(|_| any(ty)).collect();
                data.arrays.insert(name, cells);
            }
            _ => {}
        }
    }
    data
}

fn scheduled(parsed: &ParsedKernel, script: &str) -> Option<(Kernel, strew::Kernel)> {
    let plan = Plan::Explicit(parse_schedule("steps", script).expect("a schedule"));
    let scheduled = parsed.schedule(&plan, &mut ()).ok()?;
    let kernel = scheduled.kernel().clone();
    Some((kernel, scheduled.compile().expect("machine code").into()))
}

/// Whether something was narrow, and in lanes.
fn check(seed: u64) -> (bool, bool) {
    let text = Text::of(Random(seed));
    let source = Source::new("k.nest", text);
    let parsed = source.parse().expect("a kernel");
    let parsed = parsed.kernel(None).expect("one kernel");
    let scripts = ["narrow(i)", "narrow(i) vectorize(i, 16)"];
    let done = scripts.map(|it| scheduled(parsed, &it.replace(") ", ")\n")));
    for (kernel, compiled_kernel) in done.iter().flatten() {
        let mut random = Random(!seed);
        for _ in 0..3 {
            let data = data(kernel, &mut random);
            let before = interpreted(parsed.kernel(), &data, ForallOrder::Forward);
            let after = interpreted(kernel, &data, ForallOrder::Forward);
            agree("interpreter", &after, &before, is_same);
            agree(
                "machine code",
                &compiled(compiled_kernel, &data),
                &before,
                is_same,
            );
        }
    }
    (done[0].is_some(), done[1].is_some())
}

#[test]
#[expect(clippy::print_stderr, reason = "a failure tells what it was about")]
fn narrow_types_give_the_same_numbers() {
    let done = each_seed(("STREW_NARROW", COUNT), check, |it| Text::of(Random(it)));
    let count = done.len();
    let narrow = done.iter().filter(|it| it.0).count();
    let in_lanes = done.iter().filter(|it| it.1).count();
    eprintln!("{narrow} of {count} are narrower, {in_lanes} in lanes");
    assert!(
        narrow * 2 > count && in_lanes * 3 > count,
        "{narrow}, {in_lanes}"
    );
}
