//! Random nests under random schedules: what is accepted computes the same bits in the interpreter
//! and in machine code, and every refusal that says illegal is replayed.
//!
//! The tests run the same few schedules each time; `STREW_SCHEDULES=20000` in the environment runs
//! that many, and `STREW_RANDOM_SEED=7` begins elsewhere.

use crate::data::{Data, is_same};
use crate::engines::{agree, breaks_assumption, compiled, interpreted};
use crate::mutations::arguments;
use crate::random::{Random, each_seed};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use strew::ir::Value;
use strew::ir::interpret::ForallOrder;
use strew::{Error, ParsedKernel, Plan, Schedule, Source, Verdict, parse_schedule};

/// How many schedules the test runs unless told otherwise.
const COUNT: u64 = 100;
/// Subscripts are moved by this, so that they are in range.
const MIDDLE: i64 = 20;
const EXTENT: i64 = 2 * MIDDLE;
/// A schedule tries so many steps; those that are refused are left out.
const TRIED: u64 = 8;
/// No more steps are taken.
const MOST_TAKEN: usize = 4;

/// A number below `end`, which is not zero.
fn below(random: &mut Random, end: usize) -> usize {
    (random.next() % end as u64) as usize
}

fn percent(random: &mut Random, often: u64) -> bool {
    random.next() % 100 < often
}

fn pick<'t>(random: &mut Random, texts: &[&'t str]) -> &'t str {
    texts[below(random, texts.len())]
}

struct Nest {
    random: Random,
    text: String,
    /// The iterators around.
    around: Vec<String>,
    count: usize,
}

impl Nest {
    /// The text of a kernel whose numbers stay small, so that floats are exact.
    fn text(random: Random) -> String {
        let mut nest = Self {
            random,
            text: format!(
                "kernel @k(n: i64, m: i64, key: i32[{EXTENT}], a: i64[{EXTENT}], b: i64[{EXTENT}, {EXTENT}], f: f64[{EXTENT}], flat: i64[n * m]) {{\nvar s: i64 = 0\nalloc t: i64[{EXTENT}]\n"
            ),
            around: Vec::new(),
            count: 0,
        };
        let depth = 1 + below(&mut nest.random, 3);
        nest.loops(depth);
        if percent(&mut nest.random, 40) {
            let depth = 1 + below(&mut nest.random, 2);
            nest.loops(depth);
        }
        nest.text += match below(&mut nest.random, 4) {
            0 => "a[0] = s\n}",
            1 => "a[1] = t[MIDDLE]\n}",
            _ => "}",
        };
        nest.text.replace("MIDDLE", &MIDDLE.to_string())
    }

    fn loops(&mut self, depth: usize) {
        let name = format!("v{}", self.count);
        self.count += 1;
        let outer = self.around.last().cloned();
        let (mut lower, mut upper) = (
            pick(&mut self.random, &["0", "0", "1", "n - 3", "max(0, m - 2)"]).to_owned(),
            pick(
                &mut self.random,
                &["n", "n", "m", "4", "min(n, m)", "n + 1"],
            )
            .to_owned(),
        );
        if let Some(outer) = outer.filter(|_| percent(&mut self.random, 50)) {
            match below(&mut self.random, 5) {
                0 => lower = outer,
                1 => upper = format!("{outer} + 1"),
                2 => (lower, upper) = (format!("{outer} - 1"), format!("{outer} + 2")),
                3 => upper = format!("min(n, {outer} + 2)"),
                _ => (lower, upper) = (format!("max(0, {outer} - 2)"), "n".to_owned()),
            }
        }
        let step = if percent(&mut self.random, 15) {
            " step 2"
        } else {
            ""
        };
        let _ = writeln!(self.text, "affine.for {name} in {lower}..{upper}{step} {{");
        self.around.push(name);
        let mut is_any = false;
        if depth > 1 {
            if percent(&mut self.random, 25) {
                self.statement();
            }
            self.loops(depth - 1);
            is_any = percent(&mut self.random, 80);
        }
        if !is_any {
            for _ in 0..1 + below(&mut self.random, 3) {
                self.statement();
            }
        }
        self.around.pop();
        self.text += "}\n";
    }

    fn iterator(&mut self) -> String {
        let position = below(&mut self.random, self.around.len());
        // Mostly the inner ones.
        let last = self.around.len() - 1;
        self.around[position.max(last.saturating_sub(below(&mut self.random, 3)))].clone()
    }

    fn subscript(&mut self) -> String {
        let (one, other) = (self.iterator(), self.iterator());
        let offset = MIDDLE + below(&mut self.random, 3) as i64 - 1;
        match below(&mut self.random, 6) {
            0 => format!("{one} + {other} + {}", MIDDLE - 4),
            1 => format!("{one} - {other} + {offset}"),
            2 => format!("2 * {one} + {}", MIDDLE - 6),
            3 => format!("{offset} - {one}"),
            _ => format!("{one} + {offset}"),
        }
    }

    fn place(&mut self) -> String {
        let (one, other) = (self.subscript(), self.subscript());
        match below(&mut self.random, 6) {
            0 | 1 => format!("b[{one}, {other}]"),
            2 => format!("t[{one}]"),
            3 => "s".to_owned(),
            _ => format!("a[{one}]"),
        }
    }

    fn value(&mut self) -> String {
        let (place, iter) = (self.place(), self.iterator());
        match below(&mut self.random, 4) {
            0 => format!("{iter} + 1"),
            1 => format!("{place} - {iter}"),
            _ => place,
        }
    }

    fn statement(&mut self) {
        if percent(&mut self.random, 30) {
            let (one, other) = (self.iterator(), self.iterator());
            let condition = match below(&mut self.random, 4) {
                0 => format!("{one} <= {other}"),
                1 => format!("{one} < m"),
                2 => format!("1 <= {one}, {other} < n - 1"),
                _ => format!("{one} mod 2 == 0"),
            };
            let _ = writeln!(self.text, "affine.if ({condition}) {{");
            self.update();
            if percent(&mut self.random, 30) {
                self.text += "} else {\n";
                self.update();
            }
            self.text += "}\n";
            return;
        }
        self.update();
    }

    fn update(&mut self) {
        let (place, value, subscript) = (self.place(), self.value(), self.subscript());
        let (one, other) = (self.iterator(), self.iterator());
        let text = match below(&mut self.random, 12) {
            0..=3 => format!("{place} = {value}"),
            4 | 5 => format!("{place} reduce(add) {value}"),
            6 => format!("{place} reduce(max) {value}"),
            7 => format!("a[key[{subscript}]] reduce(add) {value}"),
            8 => format!("f[{subscript}] reduce(add) f64({value})"),
            9 => format!("f[{subscript}] = f64({value})"),
            10 => {
                let name = format!("c{}", self.count);
                self.count += 1;
                format!("let {name}: i64 = {value}\n{place} = {name} + 1")
            }
            _ => format!(
                "affine.if (0 <= {one}, {one} < n, 0 <= {other}, {other} < m) {{ flat[{one} * m + {other}] = {value} }}"
            ),
        };
        let _ = writeln!(self.text, "{text}");
    }
}

/// The iterators of the loops in a text, in its order.
fn loops(text: &str) -> Vec<&str> {
    let words: Vec<_> = text.split_whitespace().collect();
    let pairs = words.windows(2).filter(|it| it[0] == "affine.for");
    pairs.map(|it| it[1]).collect()
}

fn step(random: &mut Random, text: &str) -> Option<String> {
    let loops = loops(text);
    let first = below(random, loops.len().max(1));
    let at = |offset: usize| loops.get(first + offset).copied();
    let (one, next) = (at(0)?, at(1).unwrap_or("none"));
    let last = at(2).unwrap_or("none");
    let size = 1 + below(random, 4);
    let symbol = pick(random, &["n", "m", "m + 1", "n / 2 + 1"]);
    let variable = pick(random, &["s", "t"]);
    let array = pick(random, &["a", "b", "t", "f"]);
    let statement = 1 + below(random, 3);
    let factor = [-1, 1, 2][below(random, 3)];
    Some(match below(random, 43) {
        0 => format!("tile({one} = {size})"),
        1 | 2 => format!("tile({one} = {size}, {next} = 2)"),
        3 => format!("tile({one} = 2, {next} = {size}, {last} = 2)"),
        4 => format!("tile({one} = {symbol}, {next} = {size})"),
        5 => format!("strip_mine({one} = {size})"),
        6 | 7 => format!("interchange({one}, {next})"),
        8 => format!("permute({last}, {one}, {next})"),
        9 => format!("normalize({one})"),
        10 | 11 => format!("skew({next} by {one}, {factor})"),
        12 => format!("reverse({one})"),
        13 | 14 => format!("fuse({one}, {next})"),
        15 | 16 => format!("distribute({one})"),
        17 => format!("coalesce({one}, {next})"),
        18 => format!("peel({one}, first = {size})"),
        19 => format!("peel({one}, last = {size})"),
        20 => format!("split({one}, at = {symbol})"),
        21 => format!("shift(S{statement}, {one}, {factor})"),
        22 => format!("separate({one})"),
        23 => format!("unroll({one}, {})", size + 1),
        24 => format!("unroll_and_jam({one}, 2)"),
        25 => format!("hoist(S{statement}, {one})"),
        26 => format!("scalar_replace({array})"),
        27 => format!("expand({variable}, {one})"),
        28 => format!("privatize({variable}, {one})"),
        29 => "delinearize(flat, [n, m])".to_owned(),
        30 => format!("pack({array}, {one})"),
        31 => format!("vectorize({one}, 2)"),
        32 | 33 => format!("sink({one})"),
        36 => format!("narrow({one})"),
        40 | 41 => format!("precompute({one})"),
        37 => format!("rematerialize({variable}, {one}, tile = {size})"),
        38 => format!("flag({variable}, {one})"),
        39 => format!("prefix({variable}, {one}, tile = {size})"),
        35 => format!("count_ahead({one}, least = 0)"),
        34 => format!("tile_reduction_using_forall({one}, chunks = 3)"),
        _ => match percent(random, 70) {
            true => format!("parallelize({one})"),
            false => format!("tile_indirection_using_forall({one}, chunks = 3)"),
        },
    })
}

#[test]
fn every_step_is_tried() {
    let text = "affine.for i affine.for j affine.for k";
    let mut random = Random(1);
    let scripts = (0..5000).filter_map(|_| step(&mut random, text));
    let tried: BTreeSet<String> = scripts
        .filter_map(|it| Some(it.split_once('(')?.0.to_owned()))
        .collect();
    let all = strew::Step::NAMES.iter().map(|it| (*it).to_owned());
    assert_eq!(tried, all.collect());
}

/// A schedule of random steps that are accepted one after the other. What is refused as illegal is
/// shown to be.
fn schedule(random: &mut Random, kernel: &ParsedKernel) -> Schedule {
    let mut taken: Vec<String> = Vec::new();
    let mut found = Schedule::new();
    let mut text = kernel.kernel().to_string();
    for _ in 0..TRIED {
        let Some(step) = step(random, &text).filter(|_| taken.len() < MOST_TAKEN) else {
            break;
        };
        taken.push(step);
        let tried = parse_schedule("steps", &taken.join("\n")).expect("a schedule");
        match kernel.schedule(&Plan::Explicit(tried.clone()), &mut ()) {
            Ok(scheduled) => {
                found = tried;
                text = scheduled.kernel().to_string();
            }
            Err(Error::Refused(refusal)) => {
                let refused = &refusal.refused;
                let is_illegal = refused.reason.verdict() == Verdict::Illegal;
                assert_eq!(is_illegal, refused.reason.witness().is_some(), "{refused}");
                assert!(refused.is_replayed(), "{refused}\n{}", *refused.last_good);
                taken.pop();
            }
            Err(other) => panic!("{other}"),
        }
    }
    found
}

/// Sums of floats that are whole are exact.
fn make_whole(data: &mut Data) {
    for value in data.arrays.values_mut().flatten() {
        if let Some(float) = value.as_float() {
            *value = Value::float(value.ty(), float.floor());
        }
    }
}

/// Whether the schedule that was found did something.
fn check(seed: u64) -> bool {
    let mut random = Random(seed);
    let text = Nest::text(Random(seed ^ 0x5eed));
    let parsed = Source::new("k.nest", text).parse().expect("a kernel");
    let parsed = parsed.kernel(None).expect("one kernel");
    let schedule = schedule(&mut random, parsed);
    if schedule.is_empty() {
        return false;
    }
    let plan = Plan::Explicit(schedule);
    let scheduled = parsed.schedule(&plan, &mut ()).expect("a schedule");
    let kernel = strew::Kernel::from(scheduled.compile().expect("machine code"));
    for _ in 0..2 {
        let mut data = arguments(&kernel, &mut random).expect("arguments");
        make_whole(&mut data);
        let after = interpreted(kernel.compiled().kernel(), &data, ForallOrder::Backward);
        if breaks_assumption(&after) {
            continue;
        }
        let before = interpreted(parsed.kernel(), &data, ForallOrder::Forward);
        let found = compiled(&kernel.clone().threads(2), &data);
        // Another order of iterations may fail elsewhere first.
        if [&before, &after, &found].iter().all(|it| it.is_err()) {
            continue;
        }
        agree("interpreter", &after, &before, is_same);
        agree("machine code", &found, &before, is_same);
    }
    true
}

#[test]
#[expect(
    clippy::print_stderr,
    reason = "a failure tells what it was about, and how much was done is to be seen"
)]
fn what_is_accepted_computes_the_same_bits() {
    let text = |seed| Nest::text(Random(seed ^ 0x5eed));
    let done = each_seed(("STREW_SCHEDULES", COUNT), check, text);
    let count = done.len();
    let scheduled = done.into_iter().filter(|it| *it).count();
    eprintln!("{scheduled} of {count} schedules do something");
    assert!(scheduled * 2 >= count, "{scheduled} of {count}");
}
